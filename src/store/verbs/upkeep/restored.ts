// settleRestored: a database that comes from a backup is behind the world. What was open in it may have happened since:
// sends become `unknown` instead of going out a second time, and turns are marked, so that a second hand-over says so.
import { type ReasonCode, type RestoredFrom, rowId } from '../../../contract/index.ts'
import { NOT_RESTING } from '../../in-flight.ts'
import { firstRow, rows, run, type Steps, text, textOrNull, whole } from '../../statement.ts'
import { oneByOne, recordFact, recordMove, type VerbContext } from '../../verb-context.ts'

/** Meta: when this database was restored, and from when. */
const RESTORED = 'restored'

export interface RestoredCall {
  readonly takenAt: number
  readonly by: string
  readonly limit: number
}

/** At most `limit` sends a call; a call that finds none is the last, and says from when the database is. */
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
  // Whoever held them is not there any more.
  yield* run('UPDATE lanes SET owner = NULL, until = 0')
  yield* run('UPDATE leases SET owner = NULL, until = 0')
  yield* run('DELETE FROM attachments')
  yield* run('DELETE FROM nodes')
  context.memory.lanes?.clear()
  // What was said since then is looked for in the histories, from the marks of that time.
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
