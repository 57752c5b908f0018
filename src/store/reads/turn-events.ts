// Reads what an agent reported about its work on a turn, in order.
import { rowSeq, type TurnEventRow } from '../../contract/index.ts'
import { type Row, rows, type Steps, text, textOrNull, whole } from '../statement.ts'
import { parsed } from './replay.ts'

export function* readTurnEvents(tag: string, turn: string): Steps<readonly TurnEventRow[]> {
  const seq = rowSeq('t', tag, turn)
  if (seq === null) return []
  const found = yield* rows('SELECT n, at, kind, body FROM turn_events WHERE turn = $1 ORDER BY n', [seq])
  return found.map(turnEventRow)
}

export function turnEventRow(row: Row): TurnEventRow {
  const body = parsed(textOrNull(row, 'body') ?? '')
  const word = (name: string) => (typeof body[name] === 'string' ? body[name] : null)
  return {
    n: whole(row, 'n'),
    at: whole(row, 'at'),
    kind: text(row, 'kind') as TurnEventRow['kind'],
    call: word('call'),
    name: word('name'),
    text: word('text'),
  }
}
