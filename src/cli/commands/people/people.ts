// `switchboard people`: everything that a person said, written out or erased.
import { resolve } from 'node:path'
import type { UserView } from '../../../contract/index.ts'
import { wordsIn } from '../../../words/index.ts'
import type { Context, Run } from '../../context.ts'
import { usage } from '../../failure.ts'
import { printList } from '../../list.ts'
import { type Column, renderFields } from '../../output/table.ts'
import { oneLine } from '../../output/text.ts'

export const listUsers: Run = async (context) => {
  const daemon = await context.daemon()
  const { items } = await daemon.ask('GET /api/users')
  const columns: readonly Column<UserView>[] = [
    { title: 'ID', value: (row) => row.id },
    { title: 'ROLES', value: (row) => row.roles.join(', ') || '-' },
    { title: 'IDENTITIES', value: (row) => row.identities.join(', ') || '-' },
  ]
  await printList(context, items, columns, { empty: wordsIn().commandLine.empty.users })
  return 0
}

export const exportPerson: Run<{ readonly to?: string }> = (context, [who = ''], { to }) =>
  context.reading(async (api) => {
    const route = 'GET /api/people/export'
    if (to !== undefined) return exportFolder(context, to, api.stream(route, { who, files: 'true' }))
    for await (const chunk of api.stream(route, { who })) await context.terminal.out(chunk)
    return 0
  })

async function exportFolder(context: Context, to: string, chunks: AsyncIterable<string>): Promise<number> {
  const { writePersonFolder } = await import('../../person-folder.ts')
  const written = await writePersonFolder(resolve(to), chunks)
  const words = wordsIn().commandLine.people
  const whole = written.files_missing === 0
  if (context.json) await context.printJson({ ok: whole, ...written })
  else
    await context.print(
      renderFields(
        [
          ['written', written.folder],
          ['lines', String(written.lines)],
          ['files', String(written.files)],
          ['missing', whole ? null : words.missingFiles({ count: written.files_missing })],
        ],
        context.paint,
      ),
    )
  return whole ? 0 : 1
}

export const erasePerson: Run<{ readonly yes?: boolean; readonly revoke?: boolean }> = async (
  context,
  [who = ''],
  options,
) => {
  const words = wordsIn().commandLine.people
  const daemon = await context.daemon()
  if (options.yes !== true) {
    if (!context.terminal.inputIsTty || context.json) throw usage('erasing cannot be undone', words.eraseHint)
    const answer = await context.terminal.ask(words.confirmErase({ who: oneLine(who) }))
    if (answer?.trim() !== 'ERASE') {
      context.note(words.notErased)
      return 1
    }
  }
  const erased = await daemon.askSlowly(600_000, 'POST /api/people/erase', {
    body: { who, revoke: options.revoke === true },
  })
  const whole = erased.open === 0 && erased.files_left.length === 0
  if (context.json) await context.printJson({ ok: whole, ...erased })
  else
    await context.print(
      renderFields(
        [
          ['erased', erased.identities.map(oneLine).join(', ')],
          ['messages', words.messages(erased)],
          ['approvals', words.inputs({ count: erased.approvals })],
          ['files', String(erased.files)],
          ['notifications', erased.notifications === 0 ? null : String(erased.notifications)],
          ['rights', erased.grants_revoked === 0 ? null : words.rights({ count: erased.grants_revoked })],
          ['open', erased.open === 0 ? null : words.open({ count: erased.open })],
          [
            'not seen',
            erased.files_left.length === 0
              ? null
              : words.filesLeft({ integrations: erased.files_left.map(oneLine).join(', ') }),
          ],
        ],
        context.paint,
      ),
    )
  return whole ? 0 : 1
}
