// Writes completeness: the row of an integration, the marks of its places, and the keys of messages dropped without a
// row. A mark moves in the commit that stores the messages before it, so a crash repeats a comparison and skips
// nothing.
import {
  HISTORY_ROWS_MS,
  type HistoryLinkRow,
  type HistorySettled,
  type MarkMove,
  type NewTurn,
} from '../../../contract/index.ts'
import { historyLinkRow } from '../../reads/history.ts'
import { firstRow, run, type Steps } from '../../statement.ts'
import { oneByOne, type VerbContext } from '../../verb-context.ts'
import { checkFence } from './leases.ts'

/** Per integration; the oldest are deleted. */
const MOST_DROP_KEYS = 200_000

export const beginHistory = oneByOne(function* (
  context: VerbContext,
  integration: string,
): Steps<HistoryLinkRow> {
  yield* run(
    `INSERT INTO history_links (integration, began_at, state) VALUES ($1, $2, 'behind')
     ON CONFLICT (integration) DO NOTHING`,
    [integration, context.now],
  )
  const row = yield* firstRow('SELECT * FROM history_links WHERE integration = $1', [integration])
  if (!row) throw new Error('a row was neither written nor found')
  return historyLinkRow(row)
})

export const settleHistory = oneByOne(function* (
  context: VerbContext,
  { integration, state, detail, until, comparedAt, fence }: HistorySettled,
): Steps<void> {
  if (fence) yield* checkFence(context, fence)
  yield* run(
    `UPDATE history_links SET state = $2, detail = $3, until_at = coalesce($4, until_at),
     compared_at = coalesce($5, compared_at) WHERE integration = $1`,
    [integration, state, detail, until ?? null, comparedAt ?? null],
  )
  // Kept as long as a row would be, because a new thread may be compared weeks later.
  if (comparedAt !== undefined)
    yield* run('DELETE FROM dropped_messages WHERE integration = $1 AND at < $2', [
      integration,
      Math.min(comparedAt, context.now - HISTORY_ROWS_MS),
    ])
  // A flood is dropped without rows, so its keys must not fill the disk either.
  yield* run(
    `DELETE FROM dropped_messages WHERE integration = $1 AND at < (SELECT at FROM dropped_messages
     WHERE integration = $1 ORDER BY at DESC LIMIT 1 OFFSET ${MOST_DROP_KEYS})`,
    [integration],
  )
})

export const forgetPlace = oneByOne(function* (
  _context: VerbContext,
  { integration, place }: { readonly integration: string; readonly place: string },
): Steps<void> {
  yield* run('DELETE FROM history_marks WHERE integration = $1 AND place = $2', [integration, place])
})

export function* moveMark({ integration, place, position, at }: MarkMove): Steps<void> {
  yield* run(
    `INSERT INTO history_marks (integration, place, position, at) VALUES ($1, $2, $3, $4)
     ON CONFLICT (integration, place) DO UPDATE SET position = excluded.position, at = excluded.at`,
    [integration, place, position, at],
  )
}

/** Remembers a message without a row, so that it does not count as missed when the history shows it. */
export function* rememberDrop(context: VerbContext, turn: NewTurn): Steps<void> {
  yield* run(
    `INSERT INTO dropped_messages (integration, conversation, message_id, edit_version, at)
     VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING`,
    [turn.at.integration, turn.at.conversation, turn.messageId, turn.editVersion, context.now],
  )
}
