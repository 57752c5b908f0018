// Up to where a reader may go who will not come back. Positions are given out before the commit that uses them, so with
// several nodes a row may become visible behind one that a reader has seen already. Therefore whoever reserves positions
// holds a shared advisory lock, until its commit is visible, that names the last position before its own; a reader stays
// at or below the lowest of them. In this order nothing slips through:
//   writer: lock(last position given out), then take positions          — the lock is there before the position is
//   reader: last position given out, then the lowest lock, then the rows — what came later has a higher position
import type { SequencedTable } from '../statement.ts'
import type { Queryable } from './connection.ts'

/** Tables that are read on from a position. */
const FOLLOWED: readonly SequencedTable[] = ['turns', 'outbox', 'ledger']
/** Bits of a lock's key for the position; the table's number is above them. */
const POSITION_BITS = 48
/** A commit takes milliseconds. One that takes longer (its node froze) is not waited for: a later look finds its rows. */
const WAIT_MS = 3
const MOST_WAITS = 60

/** What gives out positions; `$1`: how many. */
export function reserveText(table: SequencedTable): string {
  if (!FOLLOWED.includes(table))
    return `SELECT nextval('${table}_position') AS position FROM generate_series(1, $1)`
  return `WITH floor AS MATERIALIZED (${floorText(table)})
    SELECT nextval('${table}_position') AS position FROM floor, generate_series(1, $1)`
}

/** Locks the last position that was given out; to be done before the next is taken. */
export function floorText(table: string): string {
  const at = (FOLLOWED as readonly string[]).indexOf(table)
  if (at < 0) throw new Error(`nobody reads on from a position of ${table}`)
  return `SELECT pg_advisory_xact_lock_shared((${at + 1}::bigint << ${POSITION_BITS}) |
      (last_value - CASE WHEN is_called THEN 0 ELSE 1 END)) AS held FROM ${table}_position`
}

/** The highest position up to which every row is there for good. */
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
