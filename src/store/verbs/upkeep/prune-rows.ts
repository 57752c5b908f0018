// pruneRows: deletes settled rows that are old enough. The ledger keeps their outcome, and the counters still count
// them. The pruning's entry names every row, so a row that is missing without an entry was removed by hand.
import { HISTORY_ROWS_MS } from '../../../contract/index.ts'
import { IN_FLIGHT } from '../../in-flight.ts'
import { keepPositions } from '../../positions.ts'
import { toRanges } from '../../ranges.ts'
import { LEEWAY_MS, positionAt } from '../../reads/conditions.ts'
import { type Row, rows, run, type Steps, text, whole } from '../../statement.ts'
import { oneByOne, recordFact, type VerbContext } from '../../verb-context.ts'
import type { OlderThan } from './upkeep.ts'

const PRUNED = ['turns', 'outbox', 'approvals'] as const

/** Deletes at most `limit` rows of each kind. Returns how many turns, sends and approvals were deleted. */
export const pruneRows = oneByOne(function* (
  context: VerbContext,
  { olderThanMs, limit }: OlderThan,
): Steps<number> {
  // A row serves as the duplicate check of its message and for history comparisons, so it is kept at least this long.
  const before = context.now - Math.max(olderThanMs, HISTORY_ROWS_MS)
  yield* keepPositions(PRUNED)
  const turns = yield* pruneTurns(before, limit)
  const sends = yield* pruneSends(before, limit)
  const approvals = yield* pruneApprovals(before, limit)
  yield* pruneUnledgered(before)
  const gone = turns.length + sends.length + approvals.seqs.length
  if (gone > 0)
    recordFact(
      context,
      { kind: 'audit', ref: 'rows', to: 'pruned' },
      {
        rows: String(gone),
        before: String(before),
        turns: toRanges(turns),
        outbox: toRanges(sends),
        approvals: approvals.ids.join(' '),
      },
    )
  return gone
})

// A row that a history may still be compared with must stay, or its message would count as missed.
const STILL_COMPARED = `EXISTS (SELECT 1 FROM history_links WHERE history_links.integration = turns.integration
  AND (compared_at IS NULL OR turns.received_at >= compared_at))`

const seqOf = (row: Row) => whole(row, 'seq')

// Rows are ordered by time. Rows beyond this position are too young.
const endOf = (table: 'turns' | 'outbox', time: string, before: number) =>
  positionAt(table, time, before + 2 * LEEWAY_MS)

function* pruneTurns(before: number, limit: number): Steps<readonly number[]> {
  const end = yield* endOf('turns', 'received_at', before)
  const old = yield* rows(
    `SELECT seq, integration, conversation FROM turns WHERE seq < $3 AND received_at < $1 AND updated_at < $1
     AND NOT (state = 'queued' OR (${IN_FLIGHT})) AND NOT ${STILL_COMPARED} ORDER BY seq LIMIT $2`,
    [before, limit, end],
  )
  if (old.length === 0) return []
  const seqs = old.map(seqOf)
  yield* run('DELETE FROM turn_events WHERE turn @any($1)', [seqs])
  yield* run('DELETE FROM turn_steps WHERE turn @any($1)', [seqs])
  for (const row of old) {
    yield* run('DELETE FROM @places WHERE integration = $1 AND conversation = $2 AND seq = $3', [
      text(row, 'integration'),
      text(row, 'conversation'),
      seqOf(row),
    ])
  }
  yield* run('DELETE FROM turns WHERE seq @any($1)', [seqs])
  return seqs
}

function* pruneSends(before: number, limit: number): Steps<readonly number[]> {
  const end = yield* endOf('outbox', 'created_at', before)
  const old = yield* rows(
    `SELECT seq FROM outbox WHERE seq < $3 AND created_at < $1 AND updated_at < $1
     AND state NOT IN ('queued','sending') ORDER BY seq LIMIT $2`,
    [before, limit, end],
  )
  if (old.length > 0) yield* run('DELETE FROM outbox WHERE seq @any($1)', [old.map(seqOf)])
  return old.map(seqOf)
}

/** `ids`: the ids without any remaining row, because ids are reused. */
function* pruneApprovals(
  before: number,
  limit: number,
): Steps<{ readonly seqs: readonly number[]; readonly ids: readonly string[] }> {
  const old = yield* rows(
    `SELECT seq, id FROM approvals WHERE created_at < $1 AND state NOT IN ('pending','decided','passing')
     ORDER BY seq LIMIT $2`,
    [before, limit],
  )
  if (old.length === 0) return { seqs: [], ids: [] }
  yield* run('DELETE FROM approvals WHERE seq @any($1)', [old.map(seqOf)])
  const ids = [...new Set(old.map((row) => text(row, 'id')))]
  const left = yield* rows('SELECT DISTINCT id FROM approvals WHERE id @any($1)', [ids])
  const still = new Set(left.map((row) => text(row, 'id')))
  return { seqs: old.map(seqOf), ids: ids.filter((id) => !still.has(id)) }
}

/** Rows for display only: the log of notifications, all but the last firing of each schedule, and expired claims. */
function* pruneUnledgered(before: number): Steps<void> {
  yield* run('DELETE FROM notification_log WHERE at < $1', [before])
  yield* run(
    `DELETE FROM schedules_fired WHERE at < $1 AND fire_at < (SELECT max(last.fire_at) FROM schedules_fired last
     WHERE last.agent = schedules_fired.agent AND last.schedule = schedules_fired.schedule)`,
    [before],
  )
  yield* run(`DELETE FROM takeovers WHERE state = 'ended' AND ended_at < $1`, [before])
  yield* run('DELETE FROM conversations WHERE last_at < $1', [before])
  yield* run(
    `DELETE FROM claims WHERE expires_at < $1 AND NOT EXISTS
     (SELECT 1 FROM routes WHERE routes.place = claims.place AND routes.message_id = claims.message_id)`,
    [before],
  )
}
