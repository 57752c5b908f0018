// takeTurns: hold a lane and move its oldest queued turns to `handed`, as many as the window lets through. The move is
// written before the hand-over, so a crash in between makes a marked repeat and never an unmarked one.
import type { LaneRequest, TakenTurns } from '../../contract/index.ts'
import { TURN_COLUMNS, turnRow } from '../codec.ts'
import { type Row, rows, run, type Steps, whole } from '../statement.ts'
import { hint, recordMove, type Verb, type VerbContext } from '../verb-context.ts'
import { type Held, holdLanes } from './lanes.ts'
import { factsOfSession } from './sessions.ts'

export interface TakeCall {
  readonly lanes: readonly LaneRequest[]
  readonly leaseMs: number
}

export const takeTurns: Verb<TakeCall, readonly TakenTurns[]> = function* (context, calls) {
  const results: (readonly TakenTurns[])[] = []
  for (const { lanes, leaseMs } of calls) {
    const held = yield* holdLanes(context, 'turns', lanes, leaseMs)
    const taken: TakenTurns[] = []
    const handed: Row[] = []
    for (const [at, request] of lanes.entries()) {
      taken.push(yield* takeFromLane(context, request, held[at] as Held, handed))
    }
    if (handed.length > 0) yield* markHanded(context, handed)
    results.push(taken)
  }
  return results
}

function* takeFromLane(
  context: VerbContext,
  request: LaneRequest,
  held: Held,
  handed: Row[],
): Steps<TakenTurns> {
  const { lane } = request
  if (held.outcome !== 'taken') return { lane, outcome: held.outcome, retryAt: held.retryAt }
  const { token } = held
  const nothing = { lane, outcome: 'taken', token, handed: [], leftover: [] } as const
  const facts = yield* factsOfSession(context, lane)
  if (facts === null) return { ...nothing, more: false, empty: true }
  const inFlight = yield* rows(
    `SELECT ${held.fresh ? TURN_COLUMNS : 'seq'} FROM turns WHERE lane = $1
     AND state IN ('handed','seen') ORDER BY seq`,
    [facts.seq],
  )
  const leftBehind = held.fresh && inFlight.length > 0
  const room = leftBehind ? 0 : Math.max(0, (request.window ?? 1) - inFlight.length)
  const queued = yield* rows(
    `SELECT ${TURN_COLUMNS} FROM turns WHERE lane = $1 AND state = 'queued' ORDER BY seq LIMIT $2`,
    [facts.seq, room + 1],
  )
  const next = queued.slice(0, room)
  handed.push(...next)
  return {
    ...nothing,
    handed: next.map((row) => ({
      ...turnRow(context.tag, row),
      state: 'handed' as const,
      reason: null,
      attempts: whole(row, 'attempts') + 1,
      updatedAt: context.now,
    })),
    leftover: leftBehind ? inFlight.map((row) => turnRow(context.tag, row)) : [],
    more: queued.length > room,
    empty: inFlight.length === 0 && queued.length === 0,
  }
}

function* markHanded(context: VerbContext, handed: readonly Row[]): Steps<void> {
  yield* run(
    `UPDATE turns SET state = 'handed', reason = NULL, attempts = attempts + 1, updated_at = $2
     WHERE seq @any($1)`,
    [handed.map((row) => whole(row, 'seq')), context.now],
  )
  for (const row of handed) {
    const turn = turnRow(context.tag, { ...row, body: null })
    recordMove(context, {
      kind: 'turn',
      id: turn.id,
      integration: turn.integration,
      from: 'queued',
      fromReason: null,
      to: 'handed',
      reason: null,
    })
    hint(context, { kind: 'turn', id: turn.id })
  }
}
