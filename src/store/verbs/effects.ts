// The effects of a received item, in the commit of its row: notices, verdicts, /new, /stop, pairing codes.
import {
  type Address,
  type Effect,
  type EffectResult,
  type NewSend,
  type NewTurn,
  type OutboundOp,
  rowId,
  type SendCause,
  sessionKey,
} from '../../contract/index.ts'
import { rows, run, type Steps, text, whole } from '../statement.ts'
import { hint, recordMove, type VerbContext } from '../verb-context.ts'
import { decideApproval } from './approvals.ts'
import { applyTap, endRoute } from './claims.ts'
import { enqueueSends } from './enqueue.ts'
import { breakLane } from './lanes.ts'
import { pairStranger } from './pairing.ts'
import { currentSessions, factsOfSession, raiseGeneration } from './sessions.ts'

export interface Origin {
  readonly turn: NewTurn
  /** Null when the item left no row. */
  readonly id: string | null
  readonly session: string | null
}

/** One result per effect, in order. */
export function* applyEffects(
  context: VerbContext,
  origin: Origin,
  effects: readonly Effect[],
): Steps<readonly EffectResult[]> {
  const results: EffectResult[] = []
  for (const effect of effects) results.push(yield* applyEffect(context, origin, effect))
  return results
}

function* applyEffect(context: VerbContext, origin: Origin, effect: Effect): Steps<EffectResult> {
  switch (effect.kind) {
    case 'send': {
      const [sent] = yield* enqueueSends(context, [answer(origin, effect.to, effect.op, effect.cause)])
      return { kind: 'sent_to_outbox', id: sent?.id ?? '' }
    }
    case 'decide':
      return yield* applyVerdict(context, origin, effect)
    case 'new_session':
      // A fresh start is one in the address's own chat.
      yield* endRoute(context, effect.at, 'back')
      return { kind: 'session', session: yield* raiseGeneration(context, effect.agent, effect.at) }
    case 'cancel_session':
      return { kind: 'cancelled', turns: yield* cancelSession(context, effect) }
    case 'claim':
      return yield* applyTap(context, origin.turn.platform, effect)
    case 'route_back': {
      const route = yield* endRoute(context, effect.at, 'back')
      return { kind: 'routed_back', label: route?.label ?? null }
    }
    case 'pair': {
      const { outcome, replyText } = yield* pairStranger(context, effect)
      if (replyText !== null) {
        const op: OutboundOp = { kind: 'text', text: replyText }
        yield* enqueueSends(context, [answer(origin, effect.reply.to, op, 'pairing')])
      }
      return { kind: 'paired', outcome }
    }
  }
}

function answer(origin: Origin, to: Address, op: OutboundOp, cause: SendCause): NewSend {
  const { turn, session, id } = origin
  return { to, platform: turn.platform, op, cause, agent: turn.agent, session, turn: id }
}

function* applyVerdict(
  context: VerbContext,
  origin: Origin,
  effect: Extract<Effect, { kind: 'decide' }>,
): Steps<EffectResult> {
  const { behavior, by, via } = effect
  const decided = yield* decideApproval(context, { id: effect.approval, behavior, by, via, cause: 'person' })
  if (!decided.won && effect.ifLate) {
    const winner = decided.approval?.decidedBy ?? decided.approval?.state ?? 'nobody'
    // A function, so that a `$&` in a name is only text.
    const op: OutboundOp = { kind: 'text', text: effect.ifLate.text.replaceAll('{by}', () => winner) }
    yield* enqueueSends(context, [answer(origin, effect.ifLate.to, op, 'notice')])
  }
  return { kind: 'decided', ...decided }
}

/** /stop: open turns end as failed: cancelled, and the token grows so that a running hand-over cannot settle. */
function* cancelSession(
  context: VerbContext,
  { agent, at, session: routed }: Extract<Effect, { kind: 'cancel_session' }>,
): Steps<readonly string[]> {
  const key = sessionKey(agent, at)
  const session = routed === undefined ? (yield* currentSessions(context, [key])).get(key) : { id: routed }
  if (!session) return []
  // Lane first, turns second: the order in which every verb locks.
  yield* breakLane(context, 'turns', session.id)
  const lane = (yield* factsOfSession(context, session.id))?.seq ?? 0
  const flying = yield* rows(
    `SELECT seq, integration, state FROM turns WHERE lane = $1 AND state IN ('handed','seen') ORDER BY seq @lock`,
    [lane],
  )
  const waiting = yield* rows(
    `SELECT seq, integration, state FROM turns WHERE lane = $1 AND state = 'queued' ORDER BY seq @lock`,
    [lane],
  )
  const open = [...flying, ...waiting].sort((one, other) => whole(one, 'seq') - whole(other, 'seq'))
  if (open.length === 0) return []
  yield* run(`UPDATE turns SET state = 'failed', reason = 'cancelled', updated_at = $2 WHERE seq @any($1)`, [
    open.map((row) => whole(row, 'seq')),
    context.now,
  ])
  return open.map((row) => {
    const id = rowId('t', context.tag, whole(row, 'seq'))
    const from = text(row, 'state')
    const integration = text(row, 'integration')
    recordMove(context, {
      kind: 'turn',
      id,
      integration,
      from,
      fromReason: null,
      to: 'failed',
      reason: 'cancelled',
    })
    hint(context, { kind: 'turn', id })
    return id
  })
}
