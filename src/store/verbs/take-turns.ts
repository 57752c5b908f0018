// takeTurns: hold a lane and move its oldest queued turns to `handed`, as many as the window lets through. The move is
// written before the hand-over, so a crash in between makes a marked repeat and never an unmarked one.
import { defined, type LaneRequest, rowSeq, type TakenTurns, type TurnRow } from '../../contract/index.ts'
import { TURN_COLUMNS, turnRow } from '../codec.ts'
import { IN_FLIGHT } from '../in-flight.ts'
import { rows, run, type Steps, whole } from '../statement.ts'
import { hint, recordMove, type Verb, type VerbContext } from '../verb-context.ts'
import { turnsUnderHold } from './held.ts'
import { type Held, holdLanes } from './lanes.ts'
import { factsOfSession } from './sessions.ts'
import { endTurns } from './takeovers.ts'

export interface TakeCall {
  readonly lanes: readonly LaneRequest[]
  readonly leaseMs: number
}

export const takeTurns: Verb<TakeCall, readonly TakenTurns[]> = function* (context, calls) {
  const results: (readonly TakenTurns[])[] = []
  for (const { lanes, leaseMs } of calls) {
    const held = yield* holdLanes(context, 'turns', lanes, leaseMs)
    const seen: View[] = []
    for (const [at, request] of lanes.entries()) {
      seen.push(yield* look(context, request, held[at] as Held))
    }
    // The rows of all lanes at once: a row costs less than a statement.
    const turns = yield* loadTurns(
      context,
      seen.flatMap((view) => [...view.handed, ...view.leftover]),
    )
    const locked = yield* withoutHeld(
      context,
      seen.map((view) => asLocked(view, turns)),
      turns,
    )
    const views = locked.map((view, at) => untilDenied(view, lanes[at]?.mayHand, turns))
    results.push(
      lanes.map(({ lane }, at) => taken(context, lane, held[at] as Held, views[at] as View, turns)),
    )
    const handed = views.flatMap((view) => view.handed.flatMap((seq) => turns.get(seq) ?? []))
    if (handed.length > 0) yield* markHanded(context, handed)
  }
  return results
}

/** What is to be taken from a lane, by position. */
interface View {
  readonly handed: readonly number[]
  readonly leftover: readonly number[]
  readonly more: boolean
  readonly empty: boolean
  readonly next?: number
}

const NOTHING: View = { handed: [], leftover: [], more: false, empty: true }

function* look(context: VerbContext, request: LaneRequest, held: Held): Steps<View> {
  if (held.outcome !== 'taken') return NOTHING
  const facts = yield* factsOfSession(context, request.lane)
  if (facts === null) return NOTHING
  const window = request.window ?? 1
  const flying = yield* positions(`SELECT seq FROM turns WHERE lane = $1 AND ${IN_FLIGHT} ORDER BY seq`, [
    facts.seq,
  ])
  const left = held.fresh ? flying : unheardOf(context, request, flying)
  const room = left.length > 0 ? 0 : Math.max(0, window - flying.length)
  const queued = yield* positions(
    `SELECT seq FROM turns WHERE lane = $1 AND state = 'queued' ORDER BY seq LIMIT $2`,
    [facts.seq, room + 1],
  )
  return {
    handed: queued.slice(0, room),
    leftover: left,
    more: queued.length > room,
    empty: flying.length === 0 && queued.length === 0,
  }
}

/** Between the look and the lock somebody may have cancelled a turn, or let it expire: it is theirs. */
function asLocked(view: View, turns: ReadonlyMap<number, TurnRow>): View {
  const stateOf = (seq: number) => turns.get(seq)?.state
  return {
    ...view,
    handed: view.handed.filter((seq) => stateOf(seq) === 'queued'),
    leftover: view.leftover.filter((seq) => stateOf(seq) === 'handed' || stateOf(seq) === 'seen'),
  }
}

/** Queued at another node while somebody took the place over: a person hears them. */
function* withoutHeld(
  context: VerbContext,
  views: readonly View[],
  turns: ReadonlyMap<number, TurnRow>,
): Steps<readonly View[]> {
  const next = views.flatMap((view) => view.handed.flatMap((seq) => turns.get(seq) ?? []))
  const held = yield* turnsUnderHold(context, next)
  if (held.size === 0) return views
  for (const turn of next) {
    const by = held.get(turn.seq)
    const { seq, integration, state, reason } = turn
    const to = { state: 'consumed', reason: 'held' } as const
    if (by) yield* endTurns(context, [{ seq, integration, state, reason }], { ...to, takeover: by.id })
  }
  return views.map((view) => {
    const handed = view.handed.filter((seq) => !held.has(seq))
    return handed.length === view.handed.length ? view : { ...view, handed, more: true }
  })
}

/** What may not be handed now stays queued, and what is behind it with it. */
function untilDenied(view: View, mayHand: LaneRequest['mayHand'], turns: ReadonlyMap<number, TurnRow>): View {
  if (!mayHand) return view
  const at = view.handed.findIndex((seq) => {
    const turn = turns.get(seq)
    return turn !== undefined && !mayHand(turn)
  })
  const next = view.handed[at]
  return next === undefined ? view : { ...view, handed: view.handed.slice(0, at), more: true, next }
}

function unheardOf(
  context: VerbContext,
  { known }: LaneRequest,
  flying: readonly number[],
): readonly number[] {
  if (!known) return []
  const heardOf = new Set(known.map((turn) => rowSeq('t', context.tag, turn)))
  return flying.filter((seq) => !heardOf.has(seq))
}

function* positions(sql: string, params: readonly number[]): Steps<readonly number[]> {
  return (yield* rows(sql, params)).map((row) => whole(row, 'seq'))
}

function* loadTurns(context: VerbContext, seqs: readonly number[]): Steps<ReadonlyMap<number, TurnRow>> {
  const turns = new Map<number, TurnRow>()
  if (seqs.length === 0) return turns
  const locked = `SELECT ${TURN_COLUMNS} FROM turns WHERE seq @any($1) ORDER BY seq @lock`
  for (const row of yield* rows(locked, [seqs])) {
    const turn = turnRow(context.tag, row)
    turns.set(turn.seq, turn)
  }
  return turns
}

function taken(
  context: VerbContext,
  lane: string,
  held: Held,
  view: View,
  turns: ReadonlyMap<number, TurnRow>,
): TakenTurns {
  if (held.outcome !== 'taken') return { lane, outcome: held.outcome, retryAt: held.retryAt }
  const rowsOf = (seqs: readonly number[]) => seqs.flatMap((seq) => turns.get(seq) ?? [])
  const next = view.next === undefined ? undefined : turns.get(view.next)
  return {
    lane,
    outcome: 'taken',
    token: held.token,
    handed: rowsOf(view.handed).map((turn) => ({
      ...turn,
      state: 'handed' as const,
      reason: null,
      attempts: turn.attempts + 1,
      updatedAt: context.now,
    })),
    leftover: rowsOf(view.leftover),
    more: view.more,
    ...defined({ next }),
    empty: view.empty,
  }
}

function* markHanded(context: VerbContext, handed: readonly TurnRow[]): Steps<void> {
  yield* run(
    `UPDATE turns SET state = 'handed', reason = NULL, attempts = attempts + 1, updated_at = $2
     WHERE seq @any($1)`,
    [handed.map((turn) => turn.seq), context.now],
  )
  for (const { id, integration } of handed) {
    recordMove(context, {
      kind: 'turn',
      id,
      integration,
      from: 'queued',
      fromReason: null,
      to: 'handed',
      reason: null,
    })
    hint(context, { kind: 'turn', id })
  }
}
