// The clock that counts. With several nodes it is the database's clock: leases, due times and expiries use one clock,
// however wrong a machine's own clock is. It is read with the BEGIN of every commit in the same round trip, so it costs
// nothing and is never stale. It also sets the node's own clock, which reads and timers use.
import type pg from 'pg'
import type { Clock } from '../../contract/index.ts'
import type { StoreDeps } from '../store-deps.ts'
import type { Asked, Pipeline } from './pipeline.ts'

const NOW = 'SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT) AS now'

type OnDatabaseTime = NonNullable<StoreDeps['onDatabaseTime']>

/** Begins a transaction and returns its time: the database's time, or the given clock's without `onTime`. */
export async function begin(
  on: Pick<Pipeline, 'ask' | 'send'>,
  clock: Clock,
  onTime: OnDatabaseTime | undefined,
): Promise<number> {
  const begun = on.ask('BEGIN', [])
  const asked = onTime && timeOf(on.ask(NOW, []), clock, onTime)
  on.send()
  const [, now] = await Promise.all([begun, asked])
  return now ?? clock.now()
}

export function askTime(on: pg.Client, clock: Clock, onTime: OnDatabaseTime): Promise<number> {
  return timeOf(on.query(NOW), clock, onTime)
}

async function timeOf(
  answer: Promise<Pick<pg.QueryResult, 'rows'> | Asked>,
  clock: Clock,
  onTime: OnDatabaseTime,
): Promise<number> {
  const askedAt = clock.now()
  const { rows } = await answer
  const now = Number((rows[0] as { now?: unknown } | undefined)?.now ?? clock.now())
  onTime(now, askedAt, clock.now())
  return now
}
