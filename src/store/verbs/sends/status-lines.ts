// Lines that show what an agent is doing. They are temporary: the ledger ignores them, and a row exists only while its
// line is shown, so a later start can remove it after a crash.
import type { StatusLineRow } from '../../../contract/index.ts'
import { firstRow, type Row, rows, run, type Steps, text, whole } from '../../statement.ts'
import { oneByOne, type Verb } from '../../verb-context.ts'

export type StatusLineCall = Pick<StatusLineRow, 'turn' | 'to' | 'line'>

/** The first caller owns the line. Others get its owner and its present id. */
export const keepStatusLine: Verb<StatusLineCall, StatusLineRow> = oneByOne(function* (
  { owner, now },
  { turn, to, line },
): Steps<StatusLineRow> {
  yield* run(
    `INSERT INTO status_lines (turn, address, line, owner, at) VALUES ($1, $2, $3, $4, $5)
     ON CONFLICT (turn) DO NOTHING`,
    [turn, to, line, owner, now],
  )
  if (line !== '')
    yield* run('UPDATE status_lines SET line = $2 WHERE turn = $1 AND owner = $3', [turn, line, owner])
  const row = yield* firstRow('SELECT turn, address, line, owner, at FROM status_lines WHERE turn = $1', [
    turn,
  ])
  return row ? lineOf(row) : { turn, to, line, owner, at: now }
})

export const forgetStatusLine: Verb<string, void> = oneByOne(function* (_context, turn) {
  yield* run('DELETE FROM status_lines WHERE turn = $1', [turn])
})

/** Returns status lines, oldest first. */
export function* readStatusLines(
  limit: number,
  after: Pick<StatusLineRow, 'turn' | 'at'> = { turn: '', at: 0 },
): Steps<readonly StatusLineRow[]> {
  const found = yield* rows(
    `SELECT turn, address, line, owner, at FROM status_lines WHERE at > $2 OR (at = $2 AND turn > $3)
     ORDER BY at, turn LIMIT $1`,
    [limit, after.at, after.turn],
  )
  return found.map(lineOf)
}

function lineOf(row: Row): StatusLineRow {
  return {
    turn: text(row, 'turn'),
    to: text(row, 'address'),
    line: text(row, 'line'),
    owner: text(row, 'owner'),
    at: whole(row, 'at'),
  }
}
