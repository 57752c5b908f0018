// `switchboard access`: who may talk and who may approve, beyond what the configuration itself lists.
import { asSwitchboardError, type Right, SwitchboardError } from '../../../contract/index.ts'
import type { AccessView } from '../../../operations/people/access.ts'
import { wordsIn } from '../../../words/index.ts'
import type { Api } from '../../api.ts'
import type { Context, Run } from '../../context.ts'
import { printList } from '../../list.ts'
import type { Column } from '../../output/table.ts'
import { oneLine } from '../../output/text.ts'
import { relativeTime } from '../../output/time.ts'

export const listAccess: Run = (context) =>
  context.reading(async (api) => {
    const now = context.terminal.now()
    const columns: readonly Column<AccessView>[] = [
      { title: 'INTEGRATION', value: (row) => row.integration, givesWay: 1 },
      { title: 'SENDER', value: (row) => row.sender, givesWay: 2 },
      { title: 'MAY', value: (row) => row.right },
      { title: 'FROM', value: (row) => row.origin, givesWay: 3 },
      { title: 'SINCE', value: (row) => relativeTime(row.at, now) },
    ]
    await printList(context, (await api.ask('GET /api/access')).items, columns, {
      empty: wordsIn().commandLine.empty.access,
    })
    return 0
  })

interface Change {
  readonly integration: string
  readonly sender: string
  readonly right: Right
}

export const allowSender: Run = (context, [integration = '', sender = '']) =>
  grant(context, { integration, sender, right: 'talk' })

export const setApprover: Run<{ readonly remove?: boolean }> = async (
  context,
  [integration = '', sender = ''],
  options,
) => {
  const change = { integration, sender, right: 'approve' } as const
  if (options.remove !== true) return grant(context, change)
  const daemon = await context.daemon()
  const revoked = await revoke(daemon, change)
  await refuseIfStillAllowed(daemon, change, ['approve'], revoked ? ['approve'] : [])
  if (context.json) await context.printJson({ ok: true, ...change, revoked })
  else {
    const { mayNoLongerApprove, wasNoApprover } = wordsIn().commandLine.access
    await context.print((revoked ? mayNoLongerApprove : wasNoApprover)(shownOf({ integration, sender })))
  }
  return 0
}

/** Every right: someone who was removed must not be left with a say. */
export const removeSender: Run = async (context, [integration = '', sender = '']) => {
  const daemon = await context.daemon()
  const removed: Right[] = []
  let unknown: unknown = null
  for (const right of await grantedTo(daemon, integration, sender)) {
    try {
      if (await revoke(daemon, { integration, sender, right })) removed.push(right)
    } catch (problem) {
      if (asSwitchboardError(problem).code !== 'not_found') throw problem
      unknown = problem
    }
  }
  // An integration that is gone may have left one of the two.
  if (unknown !== null && removed.length === 0) throw unknown
  await refuseIfStillAllowed(daemon, { integration, sender }, ['talk', 'approve'], removed)
  if (context.json) await context.printJson({ ok: true, integration, sender, removed })
  else {
    const words = wordsIn().commandLine.access
    const shown = shownOf({ integration, sender })
    const rights = removed.join(', ')
    await context.print(removed.length > 0 ? words.removed({ ...shown, rights }) : words.hadNothing(shown))
  }
  return 0
}

function shownOf({ integration, sender }: Pick<Change, 'integration' | 'sender'>) {
  return { integration: oneLine(integration), sender: oneLine(sender) }
}

/** Talking and approving are taken back without a look: they may be left of an integration that is gone. */
async function grantedTo(daemon: Api, integration: string, sender: string): Promise<readonly Right[]> {
  const rights: Right[] = ['talk', 'approve']
  for (const row of (await daemon.ask('GET /api/access')).items) {
    const isTheirs = row.integration === integration && row.sender === sender && row.at !== null
    if (isTheirs && row.right.startsWith('user:')) rights.push(row.right)
  }
  return rights
}

async function grant(
  context: Context,
  change: Change & { readonly right: 'talk' | 'approve' },
): Promise<number> {
  const daemon = await context.daemon()
  await daemon.ask('POST /api/access/grant', { body: change })
  if (context.json) await context.printJson({ ok: true, ...change })
  else await context.print(wordsIn().commandLine.access.granted[change.right](shownOf(change)))
  return 0
}

async function revoke(daemon: Api, body: Change): Promise<boolean> {
  return (await daemon.ask('POST /api/access/revoke', { body })).revoked
}

/** Only grants are taken back here. A sender in the configuration keeps the right, and that must not read as success. */
async function refuseIfStillAllowed(
  daemon: Api,
  { integration, sender }: Pick<Change, 'integration' | 'sender'>,
  rights: readonly Right[],
  removed: readonly Right[],
): Promise<void> {
  const left: AccessView[] = []
  for (const row of (await daemon.ask('GET /api/access')).items) {
    const theirs = row.sender === sender || row.sender === '*'
    if (row.integration === integration && theirs && rights.some((right) => right === row.right))
      left.push(row)
  }
  if (left.length === 0) return
  const why = left.map((row) => {
    const listed = row.sender === '*' ? 'lists "*"' : `lists ${sender}`
    return `${sender} may still ${row.right} on ${integration}: ${row.origin} ${listed}`
  })
  const { hint } = wordsIn().commandLine.access
  const done = removed.length > 0 ? [`what was granted was taken back (${removed.join(', ')}), but`] : []
  throw new SwitchboardError('conflict', [...done, ...why].join('\n'), {
    hint: left.some((row) => row.origin.includes('embedded default'))
      ? hint.embedded
      : left.some((row) => row.origin.startsWith('default of '))
        ? hint.platformDefault({ integration })
        : hint.configured,
  })
}
