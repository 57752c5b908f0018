// takeSends: holds a conversation's lane and moves its next due row to `sending`, one at a time so that the order
// holds. The move is written before the platform is called. A row found in `sending` after a crash may have arrived.
import type { SendRow, TakenSend } from '../../../contract/index.ts'
import { SEND_COLUMNS, sendRow } from '../../codec.ts'
import {
  firstRow,
  type Row,
  rows,
  runUnheard,
  type Steps,
  sideBySide,
  text,
  textOrNull,
  whole,
  wholeOrNull,
} from '../../statement.ts'
import { recordMove, type Verb, type VerbContext } from '../../verb-context.ts'
import { type Held, holdLanes, judgeLanes, lookAtLanes } from '../turns/lanes.ts'
import { FEW, openSends } from '../turns/open-in-lanes.ts'
import { bornSend, sendBorn, writePendingInserts } from '../turns/pending-inserts.ts'
import type { TakeCall } from '../turns/take-turns.ts'

export const takeSends: Verb<TakeCall, readonly TakenSend[]> = function* (context, calls) {
  const results: (readonly TakenSend[])[] = []
  for (const { lanes, leaseMs } of calls) {
    // The lanes come first: their open rows are read once they are locked, in the same round trip.
    const [looked, open] = yield* sideBySide(
      lookAtLanes(context, 'sends', lanes),
      openSends(
        context,
        lanes.map(({ lane }) => ({ lane, integration: integrationOf(lane) })),
      ),
    )
    const judged = judgeLanes(context, lanes, looked)
    const seen: View[] = []
    for (const [at, { lane }] of lanes.entries())
      seen.push(yield* look(context, lane, judged[at] as Held, open.get(lane) ?? []))
    // Loads the rows of all lanes at once, because a row costs less than a statement.
    const [held, sends] = yield* sideBySide(
      holdLanes(context, { kind: 'sends', requests: lanes, leaseMs, looked }, judged),
      loadSends(
        context,
        seen.flatMap((view) => (view.next === null ? view.unsettled : [view.next, ...view.unsettled])),
      ),
    )
    const views = seen.map((view, at) =>
      held[at]?.outcome === 'taken' ? asLocked(context, view, sends) : NOTHING,
    )
    results.push(
      lanes.map(({ lane }, at) => taken(context, lane, held[at] as Held, views[at] as View, sends)),
    )
    const next = views.flatMap((view) => (view.next === null ? [] : (sends.get(view.next) ?? [])))
    if (next.length > 0) yield* markSending(context, next)
  }
  return results
}

/** What to take from a lane, by position. */
interface View {
  readonly next: number | null
  readonly unsettled: readonly number[]
  /** When the next of the other rows is due. */
  readonly nextDueAt: number | null
}

const NOTHING: View = { next: null, unsettled: [], nextDueAt: null }

function* look(context: VerbContext, lane: string, held: Held, open: readonly Row[]): Steps<View> {
  if (held.outcome !== 'taken') return NOTHING
  const sending = open.filter((row) => text(row, 'state') === 'sending')
  const flying = sending.filter((row) => !isParked(row)).map((row) => whole(row, 'seq'))
  if (flying.length > 0) return held.fresh ? { ...NOTHING, unsettled: flying.sort((a, b) => a - b) } : NOTHING
  const { now } = context
  const parked = sending.length === 0 ? null : lookAtParked(sending, now)
  if (parked && (parked.due.length > 0 || parked.isFirst))
    return { ...NOTHING, unsettled: parked.due, nextDueAt: parked.nextAt }
  const waiting = open.filter((row) => text(row, 'state') === 'queued')
  const groups = parked?.groups ?? []
  const queued = waiting.filter((row) => !groups.includes(textOrNull(row, 'grp') ?? ''))
  const next = queued.find((row) => whole(row, 'due_at') <= now)
  const others = queued.filter((row) => row !== next).map((row) => whole(row, 'due_at'))
  if (parked) others.push(parked.nextAt)
  const nextDueAt = others.length === 0 ? null : Math.min(...others)
  const told = waiting.length < FEW || (next !== undefined && nextDueAt !== null && nextDueAt <= now)
  if (!told) {
    yield* writePendingInserts(context)
    const view = yield* firstDue(integrationOf(lane), lane, { now, groups })
    return parked ? { ...view, nextDueAt: Math.min(parked.nextAt, view.nextDueAt ?? parked.nextAt) } : view
  }
  return { next: next ? whole(next, 'seq') : null, unsettled: [], nextDueAt }
}

/** The row's outcome is open, with its own time for the next look. */
const isParked = (row: Row): boolean => textOrNull(row, 'reason') === 'outcome_open'

interface Parked {
  /** Rows to look at now. */
  readonly due: readonly number[]
  /** Rows queued behind them wait. */
  readonly isFirst: boolean
  /** When this changes next, or when the next of them is due for a look. */
  readonly nextAt: number
  /** Messages with a parked part. Their later parts wait for it, while other messages go first. */
  readonly groups: readonly string[]
}

function lookAtParked(parked: readonly Row[], now: number): Parked {
  const due: number[] = []
  const times: number[] = []
  const groups: string[] = []
  let isFirst = false
  for (const row of parked) {
    const group = textOrNull(row, 'grp')
    if (group !== null) groups.push(group)
    const lookAt = wholeOrNull(row, 'look_at') ?? 0
    if (lookAt <= now) due.push(whole(row, 'seq'))
    else times.push(lookAt)
    const yieldsAt = wholeOrNull(row, 'yields_at')
    if (yieldsAt !== null && yieldsAt <= now) continue
    isFirst = true
    if (yieldsAt !== null) times.push(yieldsAt)
  }
  const nextAt = times.length === 0 ? now : Math.min(...times)
  return { due: due.sort((a, b) => a - b), isFirst, nextAt, groups }
}

/** An operator may bury the row between the read and the lock. Then it is not sent, and the lane is read again. */
function asLocked(context: VerbContext, view: View, sends: ReadonlyMap<number, SendRow>): View {
  const unsettled = view.unsettled.filter((seq) => sends.get(seq)?.state === 'sending')
  if (view.next === null || sends.get(view.next)?.state === 'queued') return { ...view, unsettled }
  return { next: null, unsettled, nextDueAt: context.now }
}

/** Many rows wait in this lane, and the first ones are not due, or wait for an earlier part. */
function* firstDue(
  integration: string,
  lane: string,
  { now, groups }: { readonly now: number; readonly groups: readonly string[] },
): Steps<View> {
  const row = yield* firstRow(
    `SELECT seq FROM outbox WHERE integration = $1 AND lane = $2 AND state = 'queued'
     AND state IN ('queued','sending') AND due_at <= $3 AND NOT (coalesce(grp, '') @any($4)) ORDER BY seq LIMIT 1`,
    [integration, lane, now, groups],
  )
  const next = row ? whole(row, 'seq') : null
  const waiting = yield* firstRow(
    `SELECT min(due_at) AS due FROM outbox WHERE integration = $1 AND lane = $2 AND state = 'queued'
     AND state IN ('queued','sending') AND seq <> $3 AND NOT (coalesce(grp, '') @any($4))`,
    [integration, lane, next ?? 0, groups],
  )
  return { next, unsettled: [], nextDueAt: waiting ? wholeOrNull(waiting, 'due') : null }
}

function* loadSends(context: VerbContext, seqs: readonly number[]): Steps<ReadonlyMap<number, SendRow>> {
  const sends = new Map<number, SendRow>()
  const stored: number[] = []
  for (const seq of seqs) {
    const send = bornSend(context, seq)
    if (send) sends.set(seq, send)
    else stored.push(seq)
  }
  if (stored.length === 0) return sends
  const found: readonly Row[] = yield* rows(
    `SELECT ${SEND_COLUMNS} FROM outbox WHERE seq @any($1) ORDER BY seq @lock`,
    [stored],
  )
  for (const row of found) {
    const send = sendRow(context.tag, row)
    sends.set(send.seq, send)
  }
  return sends
}

function taken(
  context: VerbContext,
  lane: string,
  held: Held,
  view: View,
  sends: ReadonlyMap<number, SendRow>,
): TakenSend {
  if (held.outcome !== 'taken') return { lane, outcome: held.outcome, retryAt: held.retryAt }
  const next = view.next === null ? undefined : sends.get(view.next)
  const sending = next && {
    ...next,
    state: 'sending' as const,
    reason: null,
    detail: null,
    attempts: next.attempts + 1,
    updatedAt: context.now,
  }
  return {
    lane,
    outcome: 'taken',
    token: held.token,
    sending: sending ?? null,
    unsettled: view.unsettled.flatMap((seq) => sends.get(seq) ?? []),
    nextDueAt: view.nextDueAt,
  }
}

function* markSending(context: VerbContext, sends: readonly SendRow[]): Steps<void> {
  const stored = sendBorn(context, sends)
  if (stored.length > 0)
    yield* runUnheard(
      // The reason of the last failure stays readable until this attempt ends.
      `UPDATE outbox SET state = 'sending', reason = NULL, attempts = attempts + 1, updated_at = $2
       WHERE seq @any($1)`,
      [stored.map((send) => send.seq), context.now],
    )
  for (const { id, integration } of sends) {
    recordMove(context, {
      kind: 'send',
      id,
      integration,
      from: 'queued',
      fromReason: null,
      to: 'sending',
      reason: null,
    })
  }
}

/** A lane's name begins with its integration, percent-encoded. */
function integrationOf(lane: string): string {
  const [integration = ''] = lane.split(':', 1)
  if (!integration.includes('%')) return integration
  try {
    return decodeURIComponent(integration)
  } catch {
    return integration
  }
}
