// `switchboard backup`: everything that a data folder holds as one folder or archive, also while its daemon runs.
import { SwitchboardError } from '../../../contract/index.ts'
import { wordsIn } from '../../../words/index.ts'
import type { Context, Run } from '../../context.ts'
import { daemonAnswers } from '../../daemon-client.ts'
import { createProgress } from '../../output/progress.ts'
import { renderFields } from '../../output/table.ts'

export const backup: Run<{ readonly withKeys?: boolean }> = async (context, [to = ''], options) => {
  await refuseLostDatabase(context)
  const { locateStore } = await import('../../../daemon/backup/place.ts')
  const { takeBackup } = await import('../../../daemon/backup/take-backup.ts')
  const progress = createProgress(context)
  const withKeys = options.withKeys === true
  const taken = await takeBackup({
    place: await locateStore({ dataDir: context.folder.path, configFile: context.configFile() }),
    to,
    withKeys,
    now: context.terminal.now(),
    onProgress: progress.tell,
  }).finally(progress.end)
  if (context.json) await context.printJson({ ok: taken.verified, ...taken })
  else {
    const words = wordsIn().daemonCommands.backup
    const fields: [string, string | null][] = [
      [taken.kind, taken.path],
      ['holds', words.holds({ ...taken, files: taken.attachments })],
      ['head', taken.head],
      ['keys', withKeys ? words.keysIncluded : words.keysLeftOut],
      ['missing', taken.with_ledger_key ? null : words.ledgerKeyElsewhere],
      ['problem', taken.problem === null ? null : context.paint.red(taken.problem)],
    ]
    await context.print(renderFields(fields, context.paint))
  }
  return taken.verified ? 0 : 1
}

/** What lies at the path of a lost database is not what the daemon holds. */
async function refuseLostDatabase(context: Context): Promise<void> {
  if (!(await daemonAnswers(context.folder.socket))) return
  const daemon = await context.daemon()
  const { store } = await daemon.ask('GET /api/status')
  if (store.problem === undefined || !/^the database .*(is in|rescued)/.test(store.problem)) return
  throw new SwitchboardError('store_unavailable', store.problem, { hint: 'put that back first' })
}
