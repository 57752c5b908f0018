// What a takeover blocks, in the commit that would admit it: messages to the agent while a person holds the place, and
// messages of the agent there or for a turn that a takeover ended.
import {
  type Address,
  formatAddress,
  type NewSend,
  type ReceiveItem,
  type ReceiveResult,
  rowSeq,
  type SendCause,
  SwitchboardError,
} from '../../../contract/index.ts'
import { LIVE_TAKEOVER } from '../../reads/takeovers.ts'
import { firstRow, rows, run, type Steps, text } from '../../statement.ts'
import type { VerbContext } from '../../verb-context.ts'

export interface HeldBy {
  readonly id: string
  readonly name: string
  /** The place may have been given back. It is the turn that a person answered. */
  readonly answered?: true
}

const NONE: ReadonlyMap<string, HeldBy> = new Map()

/** Without any takeovers, no message pays for the lookup. */
export function* isHeldless(context: VerbContext): Steps<boolean> {
  if (context.heldless || !context.memory.lanes) return context.heldless
  context.heldless = (yield* firstRow('SELECT 1 AS there FROM takeovers LIMIT 1')) === undefined
  return context.heldless
}

/** Address → its holder, for the addresses that are held. */
function* heldNow(context: VerbContext, addresses: readonly string[]): Steps<ReadonlyMap<string, HeldBy>> {
  if (addresses.length === 0 || (yield* isHeldless(context))) return NONE
  const found = yield* rows(
    `SELECT address, id, holder_name FROM takeovers WHERE address @any($1) AND state = 'held' AND ${LIVE_TAKEOVER}`,
    [[...new Set(addresses)]],
  )
  if (found.length === 0) return NONE
  return new Map(
    found.map((row) => [text(row, 'address'), { id: text(row, 'id'), name: text(row, 'holder_name') }]),
  )
}

/** Returns the items to be queued in a place that a person holds. */
export function* itemsUnderHold(
  context: VerbContext,
  items: readonly ReceiveItem[],
): Steps<ReadonlyMap<ReceiveItem, HeldBy>> {
  const asking = items.filter((item) => item.keepRow && item.state === 'queued')
  const held = yield* heldNow(
    context,
    asking.map(({ turn }) => formatAddress(turn.at)),
  )
  const under = new Map<ReceiveItem, HeldBy>()
  if (held.size === 0) return under
  for (const item of asking) {
    const by = held.get(formatAddress(item.turn.at))
    if (by) under.set(item, by)
  }
  return under
}

/**
 * Returns the item as held: it passed every gate and goes to the person, so it claims nothing and reaches no agent.
 */
export function asHeld(item: ReceiveItem): ReceiveItem {
  const { claims: _route, ...rest } = item
  return { ...rest, state: 'consumed', reason: 'held' }
}

export function* markHeld(
  context: VerbContext,
  held: readonly { readonly by: HeldBy; readonly result: ReceiveResult | undefined }[],
): Steps<void> {
  const byTakeover = new Map<string, number[]>()
  for (const { by, result } of held) {
    if (!result || result.duplicate || result.reason !== 'held' || result.id === null) continue
    const seq = rowSeq('t', context.tag, result.id)
    if (seq !== null) byTakeover.set(by.id, [...(byTakeover.get(by.id) ?? []), seq])
  }
  for (const [id, seqs] of byTakeover)
    yield* run('UPDATE turns SET takeover = $2 WHERE seq @any($1)', [seqs, id])
}

/** Messages of an agent, by itself or through a tool. */
const OF_AGENTS: readonly SendCause[] = ['reply', 'send_message', 'channel_send', 'notify_user']

const isOfAgent = ({ agent, cause }: NewSend) => agent !== null && OF_AGENTS.includes(cause)

/**
 * Returns the agent's messages that a takeover blocks. Their place is held, or a takeover ended the turn they answer.
 * In that case a person has answered it, even if the place was given back since.
 */
export function* sendsUnderHold(
  context: VerbContext,
  sends: readonly NewSend[],
): Steps<ReadonlyMap<NewSend, HeldBy>> {
  const asking = sends.filter(isOfAgent)
  if (asking.length === 0 || (yield* isHeldless(context))) return new Map()
  const turnOf = ({ turn }: NewSend) => (turn === null ? null : rowSeq('t', context.tag, turn))
  const turns = asking.map(turnOf).filter((seq) => seq !== null)
  const found = yield* rows(
    `SELECT address, id, holder_name FROM takeovers WHERE address @any($1) AND state = 'held' AND ${LIVE_TAKEOVER}
     UNION ALL SELECT 't:' || turns.seq AS address, takeovers.id, takeovers.holder_name FROM turns JOIN takeovers
     ON takeovers.id = turns.takeover WHERE turns.seq @any($2) AND turns.state = 'failed'`,
    [asking.map(({ to }) => formatAddress(to)), turns],
  )
  const held = new Map<NewSend, HeldBy>()
  if (found.length === 0) return held
  const byPlace = new Map(
    found.map((row) => [text(row, 'address'), { id: text(row, 'id'), name: text(row, 'holder_name') }]),
  )
  for (const send of asking) {
    const now = byPlace.get(formatAddress(send.to))
    const before = now ? undefined : byPlace.get(`t:${turnOf(send)}`)
    if (now) held.set(send, now)
    else if (before) held.set(send, { ...before, answered: true })
  }
  return held
}

export function heldError(at: Address, { name, answered }: HeldBy): SwitchboardError {
  if (answered)
    return new SwitchboardError(
      'held',
      `Not sent: the message that this answers was held by ${name}, who answered it in your place. To answer a later one, reply again.`,
    )
  return new SwitchboardError(
    'held',
    `Not sent: ${formatAddress(at)} is held by ${name}, who answers there in your place. What was said meanwhile comes with your next message from there.`,
  )
}
