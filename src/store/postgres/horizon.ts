// How far a reader may read if it never goes back. Positions are assigned before the commit, so with several nodes a
// row may become visible behind a row that a reader has already seen. A writer that reserves positions therefore holds
// a shared advisory lock until its commit is visible. The lock names the last position before its own, and readers stay
// at or below the lowest lock. This order misses nothing:
//
//   writer: lock(last position given out), then take positions          — the lock is there before the position is
//   reader: last position given out, then the lowest lock, then the rows — what came later has a higher position
import type { SequencedTable } from '../statement.ts'
import type { Queryable } from './connection.ts'

/** Tables that readers follow by position. */
const FOLLOWED: readonly SequencedTable[] = ['turns', 'outbox', 'ledger']
/** The bits of a lock's key for the position. The table's number is above them. */
const POSITION_BITS = 48
/** A commit takes milliseconds. A slower one (its node froze) is not awaited; a later read finds its rows. */
const WAIT_MS = 3
const MOST_WAITS = 60

/** Returns the SQL that assigns positions. `$1` is their number. */
export function reserveText(table: SequencedTable): string {
  if (!FOLLOWED.includes(table))
    return `SELECT nextval('${table}_position') AS position FROM generate_series(1, $1)`
  return `WITH floor AS MATERIALIZED (${floorText(table)})
    SELECT nextval('${table}_position') AS position FROM floor, generate_series(1, $1)`
}

/**
 * Returns the SQL that locks the last assigned position. It must run before the next position is taken. Throws for a
 * table without followed positions.
 */
export function floorText(table: string): string {
  const at = (FOLLOWED as readonly string[]).indexOf(table)
  if (at < 0) throw new Error(`nobody reads on from a position of ${table}`)
  return `SELECT pg_advisory_xact_lock_shared((${at + 1}::bigint << ${POSITION_BITS}) |
      (last_value - CASE WHEN is_called THEN 0 ELSE 1 END)) AS held FROM ${table}_position`
}

/** Returns the highest position below which no more rows can appear. */
export async function horizonOf(on: Queryable, table: SequencedTable): Promise<number> {
  const given = await one(on, `SELECT last_value AS value FROM ${table}_position`)
  const lowest = `SELECT min(((classid::bigint << 32) | objid::bigint) & ${2 ** POSITION_BITS - 1}) AS value
    FROM pg_locks WHERE locktype = 'advisory' AND mode = 'ShareLock' AND objsubid = 1 AND granted
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
    AND classid::bigint >> ${POSITION_BITS - 32} = ${FOLLOWED.indexOf(table) + 1}`
  for (let waits = 0; ; waits++) {
    const floor = await one(on, lowest)
    if (floor === null || given === null || floor >= given) return given ?? 0
    if (waits >= MOST_WAITS) return floor
    await new Promise((resolve) => setTimeout(resolve, WAIT_MS))
  }
}

async function one(on: Queryable, text: string): Promise<number | null> {
  const { rows } = await on.query({ text })
  const { value } = (rows[0] ?? {}) as { value?: number | null }
  return value === null || value === undefined ? null : Number(value)
}
