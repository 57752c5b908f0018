// Reads completeness: how far integrations were compared, the marks, and which messages of a history are known.
import type { HistoryLinkRow, HistoryMark, HistoryStore, MessageKey } from '../../contract/index.ts'
import { type Row, rows, type Steps, text, textOrNull, whole, wholeOrNull } from '../statement.ts'

export function historyLinkRow(row: Row): HistoryLinkRow {
  return {
    integration: text(row, 'integration'),
    beganAt: whole(row, 'began_at'),
    until: wholeOrNull(row, 'until_at'),
    comparedAt: wholeOrNull(row, 'compared_at'),
    state: text(row, 'state') === 'complete' ? 'complete' : 'behind',
    detail: textOrNull(row, 'detail'),
  }
}

export function* readHistoryLinks(): Steps<readonly HistoryLinkRow[]> {
  return (yield* rows('SELECT * FROM history_links ORDER BY integration')).map(historyLinkRow)
}

export function* readHistoryMarks(
  integration: string,
  places: readonly string[],
): Steps<readonly HistoryMark[]> {
  if (places.length === 0) return []
  const found = yield* rows(
    'SELECT place, position, at FROM history_marks WHERE integration = $1 AND place @any($2)',
    [integration, places],
  )
  return found.map(historyMark)
}

export function* readMarksSince(
  integration: string,
  sinceMs: number,
  { limit, after }: Parameters<HistoryStore['marksSince']>[2],
): Steps<readonly HistoryMark[]> {
  const found = yield* rows(
    `SELECT place, position, at FROM history_marks WHERE integration = $1 AND at >= $2
     AND (at < $4 OR (at = $4 AND place > $5)) ORDER BY at DESC, place LIMIT $3`,
    [integration, sinceMs, limit, after?.at ?? Number.MAX_SAFE_INTEGER, after?.place ?? ''],
  )
  return found.map(historyMark)
}

function historyMark(row: Row): HistoryMark {
  return { place: text(row, 'place'), position: text(row, 'position'), at: whole(row, 'at') }
}

export function* readKnownMessages(
  integration: string,
  keys: readonly MessageKey[],
): Steps<readonly (MessageKey & { readonly editVersion: number })[]> {
  if (keys.length === 0) return []
  const conversations = [...new Set(keys.map((key) => key.conversation))]
  const ids = [...new Set(keys.map((key) => key.messageId))]
  const found = []
  for (const table of ['turns', 'dropped_messages'])
    found.push(
      ...(yield* rows(
        `SELECT conversation, message_id, edit_version FROM ${table}
         WHERE integration = $1 AND conversation @any($2) AND message_id @any($3)`,
        [integration, conversations, ids],
      )),
    )
  return found.map((row) => ({
    conversation: text(row, 'conversation'),
    messageId: text(row, 'message_id'),
    editVersion: whole(row, 'edit_version'),
  }))
}
