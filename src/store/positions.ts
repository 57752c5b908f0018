// The highest positions given out, including those of deleted rows. A position used twice would give a new row the id
// of an old one, and readers that continue from a position would miss it. PostgreSQL's sequences remember this; a
// SQLite file must store it.
import { firstRow, run, type SequencedTable, type Steps, text, whole } from './statement.ts'

const markOf = (table: SequencedTable) => `last-position:${table}`

/** Returns the highest position that a row has or had. */
export function* highestPosition(table: SequencedTable): Steps<number> {
  const row = yield* firstRow(`SELECT max(seq) AS last FROM ${table}`)
  const kept = yield* firstRow('SELECT value FROM meta WHERE name = $1', [markOf(table)])
  const highest = Math.max(row ? whole(row, 'last') : 0, kept ? Number(text(kept, 'value')) : 0)
  if (table !== 'outbox') return highest
  const placed = yield* firstRow('SELECT max(place) AS last FROM outbox WHERE place IS NOT NULL')
  return Math.max(highest, placed ? whole(placed, 'last') : 0)
}

/** Stores the highest positions. Runs before rows of these tables are deleted. */
export function* keepPositions(tables: readonly SequencedTable[]): Steps<void> {
  for (const table of tables)
    yield* run(
      'INSERT INTO meta (name, value) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET value = excluded.value',
      [markOf(table), String(yield* highestPosition(table))],
    )
}
