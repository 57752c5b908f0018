// receive: turn row, session, effects, cursor, ledger and counters in one commit. This is the hot path. Plain items of
// all calls in a commit share their statements. Items with effects run one by one, so that the order holds.
import {
  defined,
  type MarkMove,
  type PositionFence,
  type ReceiveItem,
  type ReceiveResult,
} from '../../../contract/index.ts'
import { run, type Steps, sideBySide } from '../../statement.ts'
import { storableTurn } from '../../storable.ts'
import { count, divide, type Verb, type VerbContext } from '../../verb-context.ts'
import { keep, knownTurn, lookAhead } from '../turns/keep-turns.ts'
import { moveMark, rememberDrop } from '../upkeep/history.ts'
import { checkFence } from '../upkeep/leases.ts'
import { applyEffects } from './effects.ts'
import { follow, itemsUnderClaim, switched } from './follow-route.ts'
import { asHeld, itemsUnderHold, markHeld } from './takeover-guard.ts'
import { asWithdrawn, withdrawnBefore } from './withdraw.ts'

export interface ReceiveCall {
  readonly items: readonly ReceiveItem[]
  readonly cursor: {
    readonly integration: string
    readonly value: string
    readonly fence?: PositionFence
  } | null
  readonly mark: MarkMove | null
}

export const receive: Verb<ReceiveCall, readonly ReceiveResult[]> = function* (context, calls) {
  for (const { cursor, mark } of calls) {
    if (cursor?.fence) yield* checkFence(context, cursor.fence)
    if (mark?.fence) yield* checkFence(context, mark.fence)
  }
  const answers: ReceiveResult[] = []
  let plain: ReceiveItem[] = []
  const all = calls.flatMap((call) => call.items).map(storableItem)
  const [claimed, deleted, held, ahead] = yield* sideBySide(
    itemsUnderClaim(context, all),
    withdrawnBefore(all),
    itemsUnderHold(context, all),
    lookAhead(context, all),
  )
  for (const given of all) {
    const item = deleted.has(given) ? asWithdrawn(given) : held.has(given) ? asHeld(given) : given
    const routed = claimed.has(given) && item.claims !== undefined
    if (!routed && item.keepRow && item.effects.length === 0) {
      plain.push(item)
      continue
    }
    if (plain.length > 0) answers.push(...(yield* keep(context, plain)))
    plain = []
    if (routed) answers.push(yield* keepRouted(context, item))
    else answers.push(item.keepRow ? yield* keepWithEffects(context, item) : yield* drop(context, item))
  }
  // Marking held items later changes their rows.
  const known = ahead && held.size > 0 ? { ...ahead, fresh: null } : ahead
  if (plain.length > 0) answers.push(...(yield* keep(context, plain, { ahead: known })))
  if (held.size > 0) {
    const under = all.flatMap((item, at) => {
      const by = held.get(item)
      return by ? [{ by, result: answers[at] }] : []
    })
    yield* markHeld(context, under)
  }
  for (const { cursor, mark } of calls) {
    if (cursor) yield* storeCursor(cursor.integration, cursor.value)
    if (mark) yield* moveMark(mark)
  }
  return divide(
    answers,
    calls.map((call) => call.items),
  )
}

function storableItem(item: ReceiveItem): ReceiveItem {
  const turn = storableTurn(item.turn)
  return turn === item.turn ? item : { ...item, turn }
}

/** Stores an item whose place has a route or a claim. A duplicate takes no claim. */
function* keepRouted(context: VerbContext, item: ReceiveItem): Steps<ReceiveResult> {
  const known = yield* knownTurn(context, item.turn)
  if (known) return known
  const lead = item.claims ? yield* follow(context, item.turn, item.claims) : null
  if (!lead) return yield* keepWithEffects(context, item)
  const result = yield* keepWithEffects(context, { ...item, turn: switched(item.turn, lead) }, lead.session)
  return result.duplicate ? result : { ...result, routed: lead }
}

function* keepWithEffects(context: VerbContext, item: ReceiveItem, leadsTo?: string): Steps<ReceiveResult> {
  const [result] = yield* keep(context, [item], defined({ leadsTo }))
  if (!result || result.duplicate) return result as ReceiveResult
  const origin = { turn: item.turn, id: result.id, session: result.session }
  return { ...result, effects: yield* applyEffects(context, origin, item.effects) }
}

/**
 * Stores no row. It updates counters, and writes one ledger entry per commit for all drops of an integration with the
 * same reason and key. A repeat of a received message stays a duplicate, even if it would be refused now. Only the
 * flood guard skips this lookup.
 */
function* drop(context: VerbContext, item: ReceiveItem): Steps<ReceiveResult> {
  const received = item.reason === 'flood' ? null : yield* knownTurn(context, item.turn)
  if (received) return received
  if (item.keepKey) yield* rememberDrop(context, item.turn)
  const { integration } = item.turn.at
  const reason = item.reason ?? ''
  const key = `${item.state}\n${reason}\n${integration}\n${item.detail?.key ?? ''}`
  const known = context.drops.get(key)
  if (known) known.count += 1
  else {
    const detail = item.detail === undefined ? '' : JSON.stringify(item.detail)
    context.drops.set(key, { integration, state: item.state, reason, count: 1, detail })
  }
  count(context, { integration, name: 'received', reason: '', delta: 1 })
  count(context, { integration, name: item.state, reason, delta: 1 })
  const effects = yield* applyEffects(context, { turn: item.turn, id: null, session: null }, item.effects)
  return { id: null, duplicate: false, state: item.state, reason: item.reason, session: null, effects }
}

function* storeCursor(integration: string, value: string): Steps<void> {
  yield* run(
    `INSERT INTO cursors (integration, value) VALUES ($1, $2)
     ON CONFLICT (integration) DO UPDATE SET value = excluded.value`,
    [integration, value],
  )
}
