// `switchboard people`: everything that a person said, written out or erased.
import type { ErasedPerson } from '../../contract/index.ts'
import type { Run } from '../context.ts'
import { usage } from '../failure.ts'
import { renderFields } from '../output/table.ts'
import { oneLine } from '../output/text.ts'

export const exportPerson: Run = (context, [who = '']) =>
  context.reading(async (reader) => {
    for await (const chunk of reader.exportPerson(who)) await context.terminal.out(chunk)
    return 0
  })

export const erasePerson: Run<{ readonly yes?: boolean; readonly revoke?: boolean }> = async (
  context,
  [who = ''],
  options,
) => {
  const daemon = await context.daemon()
  if (options.yes !== true) {
    if (!context.terminal.inputIsTty || context.json)
      throw usage('erasing cannot be undone', 'say --yes; `switchboard people export` writes it out before')
    const answer = await context.terminal.ask(
      `Erase everything that ${oneLine(who)} said? This cannot be undone. Type ERASE: `,
    )
    if (answer?.trim() !== 'ERASE') {
      context.note('nothing was erased')
      return 1
    }
  }
  const erased = await daemon.call<ErasedPerson>('POST', '/api/people/erase', {
    body: { who, revoke: options.revoke === true },
    timeoutMs: 600_000,
  })
  const whole = erased.open === 0 && erased.files_left.length === 0
  if (context.json) await context.printJson({ ok: whole, ...erased })
  else
    await context.print(
      renderFields(
        [
          ['erased', erased.identities.map(oneLine).join(', ')],
          ['messages', `${erased.turns} of theirs, ${erased.sends} sent to them`],
          ['approvals', `${erased.approvals} inputs`],
          ['files', String(erased.files)],
          ['rights', erased.grants_revoked === 0 ? null : `${erased.grants_revoked} taken back`],
          ['open', erased.open === 0 ? null : `${erased.open} are still on their way: run it again`],
          [
            'not seen',
            erased.files_left.length === 0
              ? null
              : `files of ${erased.files_left.map(oneLine).join(', ')}, which does not run: start it and run this again`,
          ],
        ],
        context.paint,
      ),
    )
  return whole ? 0 : 1
}
