// `switchboard restore`: puts a backup, or a database that was rescued, into a data folder that no daemon uses.
import { userInfo } from 'node:os'
import type { Restored } from '../../../daemon/backup/restore-backup.ts'
import { wordsIn } from '../../../words/index.ts'
import type { Context, Run } from '../../context.ts'
import { usage } from '../../failure.ts'
import { createProgress } from '../../output/progress.ts'
import { renderFields } from '../../output/table.ts'

export interface RestoreCommand {
  readonly replace?: boolean
  readonly settle?: boolean
}

export const restore: Run<RestoreCommand> = async (context, [from], options) => {
  const { locateStore } = await import('../../../daemon/backup/place.ts')
  const place = await locateStore({ dataDir: context.folder.path, configFile: context.configFile() })
  const by = `cli:${userInfo().username}`
  if (options.settle === true) {
    if (from !== undefined) throw usage('--settle takes no backup', 'it is for what pg_restore put back')
    const { settleInPlace } = await import('../../../daemon/backup/settle-restored.ts')
    const settled = await settleInPlace({ place, by })
    if (context.json) await context.printJson({ ok: true, ...settled })
    else
      await context.print(
        renderFields(
          [...ledgerFields(settled), ['look at', wordsIn().daemonCommands.restore.look]],
          context.paint,
        ),
      )
    return 0
  }
  if (from === undefined)
    throw usage('name what is to be restored', 'a folder or .tar that `switchboard backup` made')
  const { restoreBackup } = await import('../../../daemon/backup/restore-backup.ts')
  const progress = createProgress(context)
  const { crashPointFrom } = await import('../../../runtime/crash-point.ts')
  const crashPoint = crashPointFrom(place.env.SWITCHBOARD_CRASH_AT)
  const restored = await restoreBackup({
    place,
    from,
    replace: options.replace === true,
    now: context.terminal.now(),
    by,
    onProgress: progress.tell,
    ...(crashPoint ? { crashPoint } : {}),
  }).finally(progress.end)
  if (context.json) await context.printJson({ ok: true, ...restored })
  else await context.print(describe(context, restored))
  return 0
}

function ledgerFields(of: Pick<Restored, 'sends_unknown' | 'head' | 'entries'>): [string, string | null][] {
  const words = wordsIn().daemonCommands.restore
  return [
    ['chain', words.chain(of)],
    ['head', of.head],
    ['sends', words.sends({ count: of.sends_unknown })],
  ]
}

function describe({ paint }: Context, restored: Restored): string {
  return renderFields(
    [
      ['restored', restored.database],
      ['taken at', restored.taken_at],
      ...ledgerFields(restored),
      ['files', String(restored.attachments)],
      ['moved aside', restored.moved_aside.length === 0 ? null : restored.moved_aside.join(', ')],
      ['look at', restored.taken_at === null ? null : wordsIn().daemonCommands.restore.look],
    ],
    paint,
  )
}
