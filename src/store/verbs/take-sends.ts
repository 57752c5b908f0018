// takeSends: hold a conversation's lane and move its next due row to `sending`, one at a time so that order holds. The
// move is written before the platform is called: what is found in `sending` after a crash may have arrived.
import type { LaneRequest, TakenSend } from '../../contract/index.ts'
import { SEND_COLUMNS, sendRow } from '../codec.ts'
import { firstRow, rows, run, type Steps, whole, wholeOrNull } from '../statement.ts'
import { recordMove, type Verb, type VerbContext } from '../verb-context.ts'
import { type Held, holdLanes } from './lanes.ts'
import type { TakeCall } from './take-turns.ts'

export const takeSends: Verb<TakeCall, readonly TakenSend[]> = function* (context, calls) {
  const results: (readonly TakenSend[])[] = []
  for (const { lanes, leaseMs } of calls) {
    const held = yield* holdLanes(context, 'sends', lanes, leaseMs)
    const taken: TakenSend[] = []
    for (const [at, request] of lanes.entries()) {
      taken.push(yield* takeFromLane(context, request, held[at] as Held))
    }
    results.push(taken)
  }
  return results
}

function* takeFromLane(context: VerbContext, { lane }: LaneRequest, held: Held): Steps<TakenSend> {
  if (held.outcome !== 'taken') return { lane, outcome: held.outcome, retryAt: held.retryAt }
  const integration = integrationOf(lane)
  const nothing = {
    lane,
    outcome: 'taken',
    token: held.token,
    sending: null,
    leftover: [],
    nextDueAt: null,
  } as const
  const inFlight = yield* rows(
    `SELECT ${SEND_COLUMNS} FROM outbox WHERE integration = $1 AND lane = $2 AND state = 'sending'
     AND state IN ('queued','sending') ORDER BY seq`,
    [integration, lane],
  )
  if (inFlight.length > 0) {
    return held.fresh ? { ...nothing, leftover: inFlight.map((row) => sendRow(context.tag, row)) } : nothing
  }
  const row = yield* firstRow(
    `SELECT ${SEND_COLUMNS} FROM outbox WHERE integration = $1 AND lane = $2 AND state = 'queued'
     AND state IN ('queued','sending') AND due_at <= $3 ORDER BY seq LIMIT 1`,
    [integration, lane, context.now],
  )
  const waiting = yield* firstRow(
    `SELECT min(due_at) AS due FROM outbox WHERE integration = $1 AND lane = $2 AND state = 'queued'
     AND state IN ('queued','sending') AND seq <> $3`,
    [integration, lane, row ? whole(row, 'seq') : 0],
  )
  const nextDueAt = waiting ? wholeOrNull(waiting, 'due') : null
  if (!row) return { ...nothing, nextDueAt }
  const send = sendRow(context.tag, row)
  yield* run(
    `UPDATE outbox SET state = 'sending', reason = NULL, detail = NULL, attempts = attempts + 1, updated_at = $2
     WHERE seq = $1`,
    [send.seq, context.now],
  )
  recordMove(context, {
    kind: 'send',
    id: send.id,
    integration,
    from: 'queued',
    fromReason: null,
    to: 'sending',
    reason: null,
  })
  const sending = {
    ...send,
    state: 'sending' as const,
    reason: null,
    detail: null,
    attempts: send.attempts + 1,
    updatedAt: context.now,
  }
  return { ...nothing, sending, nextDueAt }
}

/** A conversation's lane begins with its integration, percent-encoded. */
export function integrationOf(lane: string): string {
  const [integration = ''] = lane.split(':', 1)
  try {
    return decodeURIComponent(integration)
  } catch {
    return integration
  }
}
