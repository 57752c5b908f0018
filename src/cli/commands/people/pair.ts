// `switchboard pair`: strangers with a code. Approving needs the code: it never picks the only one that waits.
import { defined, type PairingView, SwitchboardError } from '../../../contract/index.ts'
import { wordsIn } from '../../../words/index.ts'
import type { Context, Run } from '../../context.ts'
import { printList } from '../../list.ts'
import type { Column } from '../../output/table.ts'
import { oneLine } from '../../output/text.ts'
import { relativeTime } from '../../output/time.ts'

export const listPairings: Run = (context) =>
  context.reading(async (api) => {
    await printPairings(context, (await api.ask('GET /api/pairings')).items)
    return 0
  })

interface ApproveOptions {
  readonly approver?: boolean
  readonly me?: boolean
  readonly user?: string
}

export const approvePairing: Run<ApproveOptions> = async (context, [code], { approver, me, user }) => {
  if (code === undefined) return refuseToGuess(context, 'approve')
  const daemon = await context.daemon()
  const body = defined({ approver, me, user })
  const paired = await daemon.ask('POST /api/pairings/{code}/approve', { path: { code }, body })
  if (context.json) await context.printJson(paired)
  else
    await context.print(
      wordsIn().commandLine.pair.approved({ name: nameOf(paired), granted: oneLine(paired.granted) }),
    )
  return 0
}

export const denyPairing: Run = async (context, [code]) => {
  if (code === undefined) return refuseToGuess(context, 'deny')
  const daemon = await context.daemon()
  await daemon.ask('POST /api/pairings/{code}/deny', { path: { code } })
  if (context.json) await context.printJson({ ok: true, code })
  else await context.print(wordsIn().commandLine.pair.denied({ code: oneLine(code) }))
  return 0
}

/** Lists the pending codes and fails: the operator must name one. */
async function refuseToGuess(context: Context, verb: string): Promise<number> {
  await listPairings(context, [], {})
  throw new SwitchboardError('input_invalid', `pair ${verb} needs a code`, {
    hint: wordsIn().commandLine.pair.codeHint({ verb }),
  })
}

function printPairings(context: Context, pairings: readonly PairingView[]): Promise<void> {
  const now = context.terminal.now()
  const columns: readonly Column<PairingView>[] = [
    { title: 'CODE', value: (row) => row.code },
    { title: 'INTEGRATION', value: (row) => row.integration, givesWay: 1 },
    { title: 'SENDER', value: (row) => row.sender, givesWay: 2 },
    { title: 'NAME', value: (row) => row.sender_name ?? '', givesWay: 3 },
    { title: 'EXPIRES', value: (row) => relativeTime(row.expires_at, now) },
  ]
  return printList(context, pairings, columns, { empty: wordsIn().commandLine.empty.pairings })
}

function nameOf(pairing: PairingView): string {
  const sender = oneLine(pairing.sender)
  return pairing.sender_name === null ? sender : `${oneLine(pairing.sender_name)} (${sender})`
}
