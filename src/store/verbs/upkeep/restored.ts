// settleRestored: a restored database is older than reality. Its open work may have been done since. Sends become
// `unknown` instead of being sent twice, and turns are marked, so that a second hand-over is labelled.
import { type ReasonCode, type RestoredFrom, rowId } from '../../../contract/index.ts'
import { NOT_RESTING } from '../../in-flight.ts'
import { firstRow, rows, run, type Steps, text, textOrNull, whole } from '../../statement.ts'
import { oneByOne, recordFact, recordMove, type VerbContext } from '../../verb-context.ts'

/** Meta key: when this database was restored, and the time of the backup. */
const RESTORED = 'restored'

export interface RestoredCall {
  readonly takenAt: number
  readonly by: string
  readonly limit: number
}

/** Handles at most `limit` sends per call. The call that finds none is the last, and records the restore. */
export const settleRestored = oneByOne(function* (
  context: VerbContext,
  { takenAt, by, limit }: RestoredCall,
): Steps<number> {
  const open = yield* rows(
    `SELECT seq, integration, state, reason FROM outbox WHERE state IN ('queued','sending') ORDER BY seq LIMIT $1`,
    [limit],
  )
  if (open.length > 0) {
    yield* run(
      `UPDATE outbox SET state = 'unknown', reason = 'restored', updated_at = $2 WHERE seq @any($1)`,
      [open.map((row) => whole(row, 'seq')), context.now],
    )
    for (const row of open) {
      recordMove(context, {
        kind: 'send',
        id: rowId('o', context.tag, whole(row, 'seq')),
        integration: text(row, 'integration'),
        from: text(row, 'state'),
        fromReason: textOrNull(row, 'reason') as ReasonCode | null,
        to: 'unknown',
        reason: 'restored',
      })
    }
    return open.length
  }
  yield* finish(context, takenAt, by)
  return 0
})

function* finish(context: VerbContext, takenAt: number, by: string): Steps<void> {
  const marked = yield* run(
    `UPDATE turns SET repeat = 1 WHERE state IN ('queued','handed') OR (state = 'seen' AND ${NOT_RESTING})`,
  )
  // Their holders no longer exist.
  yield* run('UPDATE lanes SET owner = NULL, until = 0')
  yield* run('UPDATE leases SET owner = NULL, until = 0')
  yield* run('DELETE FROM attachments')
  yield* run('DELETE FROM nodes')
  context.memory.lanes?.clear()
  // Later messages are found in the histories, from the marks of that time.
  yield* run(`UPDATE history_links SET state = 'behind', detail = 'restored from a backup'`)
  yield* run(
    `INSERT INTO meta (name, value) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET value = excluded.value`,
    [RESTORED, JSON.stringify({ at: context.now, takenAt })],
  )
  recordFact(
    context,
    { kind: 'audit', ref: 'database', to: 'restored' },
    { taken_at: String(takenAt), by, turns_marked: String(marked) },
  )
}

export function* readRestored(): Steps<RestoredFrom | null> {
  const row = yield* firstRow('SELECT value FROM meta WHERE name = $1', [RESTORED])
  return row ? (JSON.parse(text(row, 'value')) as RestoredFrom) : null
}
