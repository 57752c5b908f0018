// moveSends and operateSend: settling sends. When a part of a long message fails for good, the later parts fail too. An
// operator's retry resumes at the failed part.
import {
  defined,
  labelled,
  type MoveOutcome,
  type OpenOutcome,
  type ReasonCode,
  rowSeq,
  type SendMove,
  type SendRow,
  type SendState,
  sendMayMove,
  withoutNulls,
} from '../../../contract/index.ts'
import { SEND_COLUMNS, sendRow } from '../../codec.ts'
import { digestOf } from '../../mac.ts'
import {
  firstRow,
  reserve,
  rows,
  run,
  type Steps,
  sideBySide,
  textOrNull,
  type UpdateShape,
  update,
  type Value,
} from '../../statement.ts'
import { hint, oneByOne, recordMove, type Verb, type VerbContext } from '../../verb-context.ts'
import { offerClaim } from '../receive/claims.ts'
import { delayLane, holds, lockLanes } from '../turns/lanes.ts'
import type { OperateCall } from '../turns/operate-turns.ts'
import { isPartial } from './streams.ts'

/** Parts of one message are written together, so their positions are close. */
const GROUP_REACH = 10_000

export const moveSends: Verb<readonly SendMove[], readonly MoveOutcome[]> = function* (context, calls) {
  const all = calls.flat()
  // Locks the lane before the row, in one round trip.
  const [lanes, sends] = yield* sideBySide(
    lockLanes(
      context,
      'sends',
      all.map((move) => move.lane),
    ),
    loadSends(context, all),
  )
  const results: (readonly MoveOutcome[])[] = []
  const settled: Settled[] = []
  for (const moves of calls) {
    const outcomes: MoveOutcome[] = []
    for (const move of moves) {
      const held = holds(context, lanes.get(move.lane), move.token)
      outcomes.push(held ? yield* moveOne(context, move, sends, settled) : 'stale')
    }
    results.push(outcomes)
  }
  yield* writeSettled(settled)
  return results
}

/** A row whose new state is recorded but not yet written. Rows in state `sent` share one statement. */
type Settled = readonly Value[]

const SETTLE: UpdateShape = {
  table: 'outbox',
  columns: ['seq', 'state', 'reason', 'detail', 'platform_ids', 'updated_at'],
  numbers: ['seq', 'updated_at'],
}

function* writeSettled(settled: Settled[]): Steps<void> {
  yield* update(SETTLE, settled.splice(0))
}

function* moveOne(
  context: VerbContext,
  move: SendMove,
  sends: Map<string, SendRow>,
  settled: Settled[],
): Steps<MoveOutcome> {
  const send = sends.get(move.id)
  if (!send || send.lane !== move.lane) return 'noop'
  // failed → queued is for the operator, sent → failed and queued → sent for the platform, queued → unknown for a
  // restored backup.
  if (send.state === 'failed' || send.state === 'sent' || !sendMayMove(send.state, move.to)) return 'noop'
  if (send.state === 'queued' && (move.to === 'sent' || move.to === 'unknown')) return 'noop'
  const op = move.op === undefined ? null : JSON.stringify(move.op)
  const alone = op !== null || move.to !== 'sent'
  // Rows must be written before other code reads them or writes them differently.
  if (alone) yield* writeSettled(settled)
  const isParked = move.to === 'sending' && move.reason === 'outcome_open'
  const change: SendChange = {
    to: move.to === 'sending' && !isParked ? yield* shownAs(send) : move.to,
    reason: move.reason ?? null,
    ...defined({ detail: move.detail, platformIds: move.platformIds }),
    ...withoutNulls({ op }),
  }
  if (alone) sends.set(move.id, yield* writeSend(context, send, change))
  else {
    settled.push(settledRow(context, send, change))
    sends.set(move.id, tellSend(context, send, change))
  }
  if (isParked || move.open !== undefined) yield* noteOpenOutcome(send, move)
  if (move.tell) yield* noteUntold(send, move.tell)
  if (move.to === 'sent' && send.claim) yield* offerClaim(context, send, send.claim, move)
  if ((move.to === 'queued' || move.to === 'sent') && move.notBeforeMs !== undefined) {
    yield* delayLane(context, 'sends', move.lane, context.now + move.notBeforeMs)
  }
  if (move.to === 'failed') {
    for (const later of yield* failRest(context, send, move.reason ?? null, move.detail)) {
      sends.set(later.id, later)
    }
  }
  return 'moved'
}

function* noteOpenOutcome({ seq }: SendRow, { open = null, lookAt, yieldsAt }: SendMove): Steps<void> {
  yield* run('UPDATE outbox SET open_outcome = $2, look_at = $3, yields_at = $4 WHERE seq = $1', [
    seq,
    open === null ? null : JSON.stringify(open),
    lookAt ?? null,
    yieldsAt ?? null,
  ])
}

function* noteUntold({ seq }: SendRow, { agent, person }: NonNullable<SendMove['tell']>): Steps<void> {
  if (!agent && !person) return
  yield* run('UPDATE outbox SET untold = $2, noticed_at = $3 WHERE seq = $1', [
    seq,
    agent ? 1 : null,
    person ? 0 : null,
  ])
}

/** The beginning of an answer is shown. If it was finished meanwhile, the row is queued again to show the whole. */
function* shownAs(send: SendRow): Steps<'sending' | 'queued'> {
  const row = yield* firstRow('SELECT op FROM outbox WHERE seq = $1', [send.seq])
  return row && isPartial(textOrNull(row, 'op')) ? 'sending' : 'queued'
}

function* failRest(
  context: VerbContext,
  send: SendRow,
  reason: ReasonCode | null,
  detail: string | undefined,
): Steps<readonly SendRow[]> {
  const failed: SendRow[] = []
  for (const later of yield* partsBehind(context, send, 'queued')) {
    const change = { to: 'failed', reason, ...defined({ detail }) } as const
    failed.push(yield* writeSend(context, later, change))
  }
  return failed
}

function* partsBehind(context: VerbContext, send: SendRow, state: SendState): Steps<readonly SendRow[]> {
  if (send.group === null) return []
  const found = yield* rows(
    `SELECT ${SEND_COLUMNS} FROM outbox WHERE seq > $1 AND seq <= $2 AND grp = $3 AND part > $4 AND state = $5
     ORDER BY seq`,
    [send.seq, send.seq + GROUP_REACH, send.group, send.part, state],
  )
  return found.map((row) => sendRow(context.tag, row))
}

/** Only the columns that a move needs. */
const MOVED_COLUMNS =
  'seq, lane, integration, conversation, thread, state, reason, detail, platform_ids, grp, part, claim'

function* loadSends(context: VerbContext, moves: readonly SendMove[]): Steps<Map<string, SendRow>> {
  const seqs = new Set<number>()
  for (const { id } of moves) {
    const seq = rowSeq('o', context.tag, id)
    if (seq !== null) seqs.add(seq)
  }
  const sends = new Map<string, SendRow>()
  if (seqs.size === 0) return sends
  const stored = yield* rows(`SELECT ${MOVED_COLUMNS} FROM outbox WHERE seq @any($1) ORDER BY seq @lock`, [
    [...seqs],
  ])
  for (const row of stored) {
    const send = sendRow(context.tag, row)
    sends.set(send.id, send)
  }
  return sends
}

function* loadSend(context: VerbContext, id: string, lock: '@lock' | ''): Steps<SendRow | null> {
  const seq = rowSeq('o', context.tag, id)
  if (seq === null) return null
  const row = yield* firstRow(`SELECT ${SEND_COLUMNS} FROM outbox WHERE seq = $1 ${lock}`, [seq])
  return row ? sendRow(context.tag, row) : null
}

interface SendChange {
  readonly to: SendState
  readonly reason: ReasonCode | null
  readonly detail?: string
  readonly platformIds?: readonly string[]
  /** JSON of the op that replaces the stored one. */
  readonly op?: string
  readonly by?: string
}

export function* writeSend(context: VerbContext, send: SendRow, change: SendChange): Steps<SendRow> {
  const values = settledRow(context, send, change)
  if (change.op === undefined) yield* update(SETTLE, [values])
  else
    yield* run(
      `UPDATE outbox SET state = $2, reason = $3, detail = $4, platform_ids = $5, updated_at = $6, op = $7 WHERE seq = $1`,
      [...values, change.op],
    )
  return tellSend(context, send, change)
}

function settledRow(
  { now }: VerbContext,
  { seq, platformIds: known }: SendRow,
  { to, reason, detail, platformIds = known }: SendChange,
): Settled {
  return [seq, to, reason, detail ?? null, JSON.stringify(platformIds), now]
}

/** Records ledger entry, counters and hint of a row's new state, and returns the new row. */
function tellSend(context: VerbContext, send: SendRow, change: SendChange): SendRow {
  const { to, reason, op, platformIds = send.platformIds } = change
  const detail = change.detail ?? null
  const told = {
    ...defined({ detail: change.detail, by: change.by }),
    ...(change.platformIds === undefined ? {} : { platform_ids: change.platformIds.join(' ') }),
  }
  recordMove(context, {
    kind: 'send',
    id: send.id,
    integration: send.integration,
    from: send.state,
    fromReason: send.reason,
    to,
    reason,
    ...(op === undefined ? {} : { digest: digestOf(op) }),
    ...(Object.keys(told).length === 0 ? {} : { detail: told }),
  })
  const news = { kind: 'sends', lane: send.lane, scope: send.integration } as const
  hint(context, to === 'queued' ? news : { ...news, settled: true })
  const written = { ...send, state: to, reason, detail, platformIds, updatedAt: context.now }
  return op === undefined ? written : { ...written, op: JSON.parse(op) as SendRow['op'] }
}

/**
 * Moves failed or unknown → queued, or → failed (buried). A waiting row, or one with an open outcome, can be buried
 * too. Later parts move along. An unknown send may have arrived, so it is sent again with a label and keeps its doubt.
 * Null: the row may not move.
 */
export const operateSend = oneByOne(function* (
  context: VerbContext,
  { id, verb, by }: OperateCall<'retry' | 'bury'>,
): Steps<SendRow | null> {
  const found = yield* loadSend(context, id, '')
  if (!found) return null
  // The lane before the row: every verb locks in this order.
  yield* lockLanes(context, 'sends', [found.lane])
  const send = (yield* loadSend(context, id, '@lock')) ?? found
  if (verb === 'bury') {
    const failed = send.state === 'failed' && send.reason !== 'buried'
    const isOpen = send.state === 'sending' && send.reason === 'outcome_open'
    if (send.state !== 'unknown' && send.state !== 'queued' && !isOpen && !failed) return null
    const buried = yield* writeSend(context, send, giveUp(send, by))
    yield* failRest(context, send, 'buried', undefined)
    for (const later of yield* partsBehind(context, send, 'failed'))
      if (later.reason !== 'buried') yield* writeSend(context, later, giveUp(later, by))
    return buried
  }
  if ((send.state !== 'failed' && send.state !== 'unknown') || send.op === null) return null
  const retry = { to: 'queued', reason: 'operator_retry', by } as const
  const isUnknown = send.state === 'unknown'
  const again = isUnknown ? JSON.stringify(labelled(send.op) ?? send.op) : undefined
  const requeued = yield* writeSend(context, send, { ...retry, ...defined({ op: again }) })
  const behind = (yield* partsBehind(context, send, 'failed')).filter((later) => later.op !== null)
  for (const later of behind) yield* writeSend(context, later, retry)
  yield* tryAgain(context, [send, ...behind])
  if (isUnknown) yield* stayInDoubt(send)
  return { ...requeued, attempts: 0 }
})

/**
 * A failed row was never shown, and readers of the transcript have passed its position. It gets a new one in the
 * commit that queues it. An unknown row may have been shown, and keeps its position.
 */
function* tryAgain({ now }: VerbContext, sends: readonly SendRow[]): Steps<void> {
  yield* run(
    'UPDATE outbox SET attempts = 0, untold = NULL, noticed_at = NULL, open_outcome = NULL, look_at = NULL, yields_at = NULL, due_at = CASE WHEN due_at < $2 THEN $2 ELSE due_at END WHERE seq @any($1)',
    [sends.map(({ seq }) => seq), now],
  )
  const failed = sends.filter(({ state }) => state === 'failed')
  const places = yield* reserve('outbox', failed.length)
  for (const [at, { seq }] of failed.entries())
    yield* run('UPDATE outbox SET place = $2 WHERE seq = $1', [seq, places[at] as number])
}

/** The count of resends starts again. An earlier attempt may still have arrived, whatever happens to this one. */
function* stayInDoubt({ seq, open, updatedAt }: SendRow): Steps<void> {
  const since = open?.since ?? updatedAt
  const doubt: OpenOutcome = { since, endedAt: open?.endedAt ?? updatedAt, resends: 0, looks: 0 }
  yield* run('UPDATE outbox SET open_outcome = $2 WHERE seq = $1', [seq, JSON.stringify(doubt)])
}

/** Keeps the platform's reason for a failed send. */
function giveUp({ state, detail }: SendRow, by: string): SendChange {
  const told = state === 'failed' && detail !== null ? { detail } : {}
  return { to: 'failed', reason: 'buried', by, ...told }
}
