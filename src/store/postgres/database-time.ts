// Whose clock counts. With several nodes it is the database's: leases, due times and expiries are compared by one clock,
// however wrong a machine's own may be. It is read with the BEGIN of every commit, in the same round trip, so it costs
// no trip and is never stale; what it says also sets the node's own clock, by which reads and timers go.
import type pg from 'pg'
import type { Clock } from '../../contract/index.ts'
import type { StoreDeps } from '../store-deps.ts'

const NOW = 'SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT) AS now'
// The transaction's own number, by which the server can be asked later what came of it.
const BEGIN = `BEGIN; ${NOW}, CAST(pg_current_xact_id() AS TEXT) AS xact`

type Told = NonNullable<StoreDeps['onDatabaseTime']>

export interface Begun {
  /** The database's time, or the given clock's where nobody wants to be told. */
  readonly now: number
  readonly xact: string
}

export async function begin(on: pg.Client, clock: Clock, told: Told | undefined): Promise<Begun> {
  const askedAt = clock.now()
  const { now, xact } = lastRow(await on.query(BEGIN)) as { now: unknown; xact: string }
  if (!told) return { now: clock.now(), xact }
  told(Number(now), askedAt, clock.now())
  return { now: Number(now), xact }
}

export async function askTime(on: pg.Client, clock: Clock, told: Told): Promise<number> {
  const askedAt = clock.now()
  const now = Number((lastRow(await on.query(NOW)) as { now: unknown }).now)
  told(now, askedAt, clock.now())
  return now
}

/** Several statements in one trip have several results. */
function lastRow(given: unknown): unknown {
  const answer = given as pg.QueryResult | readonly pg.QueryResult[]
  const last = Array.isArray(answer) ? (answer.at(-1) as pg.QueryResult) : (answer as pg.QueryResult)
  return last.rows[0]
}
