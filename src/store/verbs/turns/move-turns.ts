// moveTurns and accept: settling turns that were handed over. Every move presents the lane's token; a stale one writes
// nothing.
import {
  type Enqueued,
  type MoveOutcome,
  type NewSend,
  OPEN_TURN_STATES,
  type ReasonCode,
  rowId,
  rowSeq,
  type TurnMove,
  type TurnState,
  turnMayMove,
} from '../../../contract/index.ts'
import {
  firstRow,
  rows,
  runUnheard,
  type Steps,
  sideBySide,
  text,
  textOrNull,
  whole,
} from '../../statement.ts'
import {
  hint,
  type LaneState,
  oneByOne,
  recordMove,
  type Verb,
  type VerbContext,
} from '../../verb-context.ts'
import { enqueueWithEnd, prepareSends } from '../sends/enqueue.ts'
import { enqueuedBefore } from '../sends/outbox-row.ts'
import { delayLane, holds, lockAtOnce, lockLanes } from './lanes.ts'

interface TurnNow {
  readonly seq: number
  readonly session: string | null
  readonly agent: string | null
  readonly integration: string
  state: TurnState
  reason: ReasonCode | null
  repeat: number
  resume: number
  attempts: number
  changed: boolean
}

/** Locks the lanes before the turns, in one round trip. */
function* lockForMoves(
  context: VerbContext,
  moves: readonly TurnMove[],
): Steps<readonly [ReadonlyMap<string, LaneState>, ReadonlyMap<string, TurnNow>]> {
  return yield* sideBySide(
    lockLanes(
      context,
      'turns',
      moves.map((move) => move.lane),
    ),
    loadTurns(context, moves),
  )
}

export interface AcceptCall {
  readonly sends: readonly NewSend[]
  readonly moves: readonly TurnMove[]
}

export interface AcceptResult {
  readonly outcome: 'accepted' | 'stale' | 'ended'
  readonly sends: readonly Enqueued[]
}

type MovesCall = readonly TurnMove[]
type SettleCall = MovesCall | AcceptCall
type SettleResult = readonly MoveOutcome[] | AcceptResult

export const moveTurns: Verb<MovesCall, readonly MoveOutcome[]> = function* (context, calls) {
  return (yield* settleTurns(context, calls)) as readonly (readonly MoveOutcome[])[]
}

/**
 * Each call applies completely or not at all, and valid calls share their statements. A call that fails an ended turn
 * applies nothing: its caller has not heard of the end and would report that the turn was not answered.
 */
export const accept: Verb<AcceptCall, AcceptResult> = function* (context, calls) {
  return (yield* settleTurns(context, calls)) as readonly AcceptResult[]
}

/**
 * Both kinds of calls, in the given order. A turn that is noted as taken and answered at once is read and written
 * once.
 */
export const settleTurns: Verb<SettleCall, SettleResult> = function* (context, calls) {
  const sendsOf = (call: SettleCall) => (isMoves(call) ? [] : call.sends)
  const [[lanes, turns], prepared] = yield* sideBySide(
    lockForMoves(context, calls.flatMap(movesOf)),
    prepareSends(context, calls.flatMap(sendsOf)),
  )
  const ours = (move: TurnMove) => holds(context, lanes.get(move.lane), move.token)
  const delays: Delays = new Map()
  const accepted = (call: AcceptCall): AcceptResult['outcome'] => {
    if (!call.moves.every(ours)) return 'stale'
    if (call.moves.some((move) => move.to === 'failed' && !movable(turns, move))) return 'ended'
    if (call.moves.some((move) => move.sole && turns.get(move.turn)?.state === 'answered')) return 'ended'
    for (const move of call.moves) applyMove(context, turns, move, delays)
    return 'accepted'
  }
  const moved = (move: TurnMove) => (ours(move) ? applyMove(context, turns, move, delays) : 'stale')
  const outcomes = calls.map((call) => (isMoves(call) ? call.map(moved) : accepted(call)))
  yield* writeMoves(context, turns, delays)
  const sent = yield* enqueueWithEnd(
    context,
    calls.flatMap((call, at) => (outcomes[at] === 'accepted' ? sendsOf(call) : [])),
    { ...prepared, unseen: true },
  )
  let from = 0
  const results: SettleResult[] = []
  for (const [at, call] of calls.entries()) {
    const outcome = outcomes[at] ?? 'stale'
    if (typeof outcome !== 'string') results.push(outcome)
    else if (outcome === 'accepted') {
      const { length } = sendsOf(call)
      results.push({ outcome, sends: sent.slice(from, from + length) })
      from += length
    } else results.push({ outcome, sends: yield* answeredBefore(context, sendsOf(call), movesOf(call)) })
  }
  return results
}

function isMoves(call: SettleCall): call is MovesCall {
  return Array.isArray(call)
}

function movesOf(call: SettleCall): MovesCall {
  return isMoves(call) ? call : call.moves
}

/** A caller that got no result for its answer repeats it with the same keys. */
function* answeredBefore(
  context: VerbContext,
  sends: readonly NewSend[],
  moves: readonly Pick<TurnMove, 'sole'>[],
): Steps<readonly Enqueued[]> {
  if (!moves.some(({ sole }) => sole)) return []
  return yield* enqueuedBefore(
    context,
    sends.filter(({ cause }) => cause === 'reply'),
  )
}

export interface AcceptForCall {
  readonly sends: readonly NewSend[]
  readonly move: Pick<TurnMove, 'turn' | 'reason' | 'detail' | 'sole'> & {
    readonly to: 'seen' | 'answered' | 'failed'
    readonly waiting?: true
  }
}

type AcceptForResult = AcceptResult & { readonly outcome: 'accepted' | 'stale' }

/**
 * Settles a turn whose lane another node holds. The lane's row is locked as for its holder, so a lane changes hands
 * before or after this, never in between. The lock is not waited for, because the holder may be waiting for a lane of
 * ours. `busy`: ask again.
 */
export const acceptFor: Verb<AcceptForCall, AcceptForResult | 'busy'> = oneByOne(function* (
  context,
  { sends, move },
) {
  const seq = rowSeq('t', context.tag, move.turn)
  const row = seq === null ? undefined : yield* firstRow('SELECT session FROM turns WHERE seq = $1', [seq])
  const lane = row ? textOrNull(row, 'session') : null
  if (lane === null) return { outcome: 'stale', sends: [] }
  if (!(yield* lockAtOnce('turns', lane))) return 'busy'
  const turns = yield* loadTurns(context, [move])
  const turn = turns.get(move.turn)
  const open =
    turn?.state === 'handed' || turn?.state === 'seen' || (move.waiting && turn?.state === 'queued')
  if (!turn || !open) return { outcome: 'stale', sends: yield* answeredBefore(context, sends, [move]) }
  if (mayMove(turn, move)) moveOne(context, turn, { ...move, lane, token: 0 })
  yield* writeTurns(context, turns.values())
  return {
    outcome: 'accepted',
    sends: yield* enqueueWithEnd(context, sends, yield* prepareSends(context, sends)),
  }
})

/** Lane → the end of its delay. */
type Delays = Map<string, number>

/** Applied in memory, so the next move of the same commit sees it. */
function applyMove(
  context: VerbContext,
  turns: ReadonlyMap<string, TurnNow>,
  move: TurnMove,
  delays: Delays,
): 'moved' | 'noop' {
  const turn = movable(turns, move)
  if (!turn) return 'noop'
  moveOne(context, turn, move)
  if (move.to === 'queued' && move.notBeforeMs !== undefined) {
    delays.set(move.lane, context.now + move.notBeforeMs)
  }
  return 'moved'
}

function movable(turns: ReadonlyMap<string, TurnNow>, move: TurnMove): TurnNow | null {
  const turn = turns.get(move.turn)
  return turn && turn.session === move.lane && mayMove(turn, move) ? turn : null
}

function* writeMoves(context: VerbContext, turns: ReadonlyMap<string, TurnNow>, delays: Delays): Steps<void> {
  yield* writeTurns(context, turns.values())
  for (const [lane, notBefore] of delays) yield* delayLane(context, 'turns', lane, notBefore)
}

/** The agent had taken the turn before it returned to the queue. That is recorded before its answer. */
function isAnsweredFromQueue({ state }: Pick<TurnNow, 'state'>, { to }: Pick<TurnMove, 'to'>): boolean {
  return state === 'queued' && to === 'answered'
}

/** Only open turns move here; failed → queued is for the operator. A second `seen` counts only with a new reason. */
function mayMove({ state, reason }: TurnNow, move: Pick<TurnMove, 'to' | 'reason'>): boolean {
  if (state === 'seen' && move.to === 'seen' && (move.reason ?? reason) === reason) return false
  if (isAnsweredFromQueue({ state }, move)) return true
  return (OPEN_TURN_STATES as readonly TurnState[]).includes(state) && turnMayMove(state, move.to)
}

function moveOne(context: VerbContext, turn: TurnNow, move: TurnMove): void {
  if (isAnsweredFromQueue(turn, move)) {
    const { lane, token } = move
    moveOne(context, turn, { lane, token, turn: move.turn, to: 'handed', reason: 'taken' })
  }
  recordMove(context, {
    kind: 'turn',
    id: move.turn,
    integration: turn.integration,
    from: turn.state,
    fromReason: turn.reason,
    to: move.to,
    reason: move.reason ?? null,
    ...(move.detail === undefined ? {} : { detail: { detail: move.detail } }),
  })
  turn.state = move.to
  turn.reason = move.reason ?? null
  turn.changed = true
  if (move.uncounted === true) turn.attempts = Math.max(0, turn.attempts - 1)
  if (move.to === 'queued') {
    if (move.repeat !== undefined) turn.repeat = move.repeat ? 1 : 0
    if (move.resume !== undefined) turn.resume = move.resume ? 1 : 0
    if (move.notBeforeMs === undefined && turn.agent !== null) {
      hint(context, { kind: 'turns', lane: move.lane, scope: turn.agent })
    }
  }
  hint(context, { kind: 'turn', id: move.turn })
}

function* loadTurns(
  context: VerbContext,
  moves: readonly Pick<TurnMove, 'turn'>[],
): Steps<ReadonlyMap<string, TurnNow>> {
  const seqs = new Set(moves.flatMap(({ turn }) => rowSeq('t', context.tag, turn) ?? []))
  const turns = new Map<string, TurnNow>()
  if (seqs.size === 0) return turns
  const stored = yield* rows(
    `SELECT seq, session, agent, integration, state, reason, repeat, resume, attempts FROM turns
     WHERE seq @any($1) ORDER BY seq @lock`,
    [[...seqs]],
  )
  for (const row of stored) {
    const seq = whole(row, 'seq')
    turns.set(rowId('t', context.tag, seq), {
      seq,
      session: textOrNull(row, 'session'),
      agent: textOrNull(row, 'agent'),
      integration: text(row, 'integration'),
      state: text(row, 'state') as TurnState,
      reason: textOrNull(row, 'reason') as ReasonCode | null,
      repeat: whole(row, 'repeat'),
      resume: whole(row, 'resume'),
      attempts: whole(row, 'attempts'),
      changed: false,
    })
  }
  return turns
}

/** Turns with equal results share one statement. */
function* writeTurns(context: VerbContext, turns: Iterable<TurnNow>): Steps<void> {
  const alike = new Map<string, { first: TurnNow; seqs: number[] }>()
  for (const turn of turns) {
    if (!turn.changed) continue
    const key = `${turn.state} ${turn.reason} ${turn.repeat} ${turn.resume} ${turn.attempts}`
    const group = alike.get(key)
    if (group) group.seqs.push(turn.seq)
    else alike.set(key, { first: turn, seqs: [turn.seq] })
  }
  for (const { first, seqs } of alike.values()) {
    yield* runUnheard(
      `UPDATE turns SET state = $2, reason = $3, repeat = $4, resume = $5, attempts = $6, updated_at = $7
       WHERE seq @any($1)`,
      [seqs, first.state, first.reason, first.repeat, first.resume, first.attempts, context.now],
    )
  }
}
