// Reads the open rows of many lanes together. On PostgreSQL a statement is a round trip, so all lanes share one. On
// SQLite each lane uses a prepared statement.
import { IN_FLIGHT } from '../../in-flight.ts'
import { type Row, rows, type Steps, text, whole } from '../../statement.ts'
import type { VerbContext } from '../../verb-context.ts'
import { bornQueuedSends, bornQueuedTurns } from './pending-inserts.ts'

export interface OpenTurns {
  /** By position, oldest first. */
  readonly flying: readonly number[]
  /** At most the requested number. */
  readonly queued: readonly number[]
}

export interface LaneOfTurns {
  /** The session's position. */
  readonly seq: number
  /** The maximum number of queued turns to return. */
  readonly most: number
}

const FLYING = `SELECT seq FROM turns WHERE lane = $1 AND ${IN_FLIGHT} ORDER BY seq`
const QUEUED = `SELECT seq FROM turns WHERE lane = $1 AND state = 'queued' ORDER BY seq LIMIT $2`

// Reads each lane's few rows by its partial indexes, however many wait.
const OPEN_TURNS = `SELECT asked.lane, open.seq, open.state
  FROM unnest($1::bigint[], $2::bigint[]) AS asked(lane, most) CROSS JOIN LATERAL (
    SELECT seq, state FROM turns WHERE lane = asked.lane AND ${IN_FLIGHT}
    UNION ALL (SELECT seq, state FROM turns WHERE lane = asked.lane AND state = 'queued'
      ORDER BY seq LIMIT asked.most)) AS open ORDER BY open.seq`

/** Returns one answer for each requested lane. */
export function* openTurns(
  context: VerbContext,
  lanes: readonly LaneOfTurns[],
): Steps<ReadonlyMap<number, OpenTurns>> {
  const found = new Map<number, { flying: number[]; queued: number[] }>()
  if (lanes.length === 0) return found
  for (const { seq } of lanes) found.set(seq, { flying: [], queued: [] })
  if (context.memory.lanes) {
    for (const { seq, most } of lanes) {
      for (const row of yield* rows(FLYING, [seq])) found.get(seq)?.flying.push(whole(row, 'seq'))
      for (const row of yield* rows(QUEUED, [seq, most])) found.get(seq)?.queued.push(whole(row, 'seq'))
    }
    return found
  }
  const open = yield* rows(OPEN_TURNS, [lanes.map(({ seq }) => seq), lanes.map(({ most }) => most)])
  for (const row of open) {
    const lane = found.get(whole(row, 'lane'))
    if (text(row, 'state') === 'queued') lane?.queued.push(whole(row, 'seq'))
    else lane?.flying.push(whole(row, 'seq'))
  }
  for (const [seq, { queued }] of found) {
    const born = bornQueuedTurns(context, seq)
    if (born.length === 0) continue
    queued.push(...born)
    queued.sort((one, other) => one - other)
  }
  return found
}

export interface LaneOfSends {
  readonly integration: string
  readonly lane: string
}

/** The row being sent, and the first few waiting ones. */
const openSendsOf = (integration: string, lane: string, few: number) =>
  `SELECT seq, state, due_at, reason, look_at, yields_at, grp FROM outbox
     WHERE integration = ${integration} AND lane = ${lane} AND state = 'sending'
     AND state IN ('queued','sending')
   UNION ALL SELECT * FROM (SELECT seq, state, due_at, reason, look_at, yields_at, grp FROM outbox WHERE integration = ${integration}
     AND lane = ${lane} AND state = 'queued' AND state IN ('queued','sending') ORDER BY seq LIMIT ${few}) waiting`

/** The number of waiting rows that are read before the database is asked for the next one. */
export const FEW = 4

const OPEN_SENDS_OF_ONE = openSendsOf('$1', '$2', FEW)

const OPEN_SENDS = `SELECT asked.lane, open.seq, open.state, open.due_at, open.reason, open.look_at, open.yields_at, open.grp
  FROM unnest($1::text[], $2::text[]) AS asked(integration, lane)
  CROSS JOIN LATERAL (${openSendsOf('asked.integration', 'asked.lane', FEW)}) AS open ORDER BY open.seq`

/** Returns rows with `seq`, `state` and `due_at` for each lane; waiting rows are in order of position. */
export function* openSends(
  context: VerbContext,
  lanes: readonly LaneOfSends[],
): Steps<ReadonlyMap<string, readonly Row[]>> {
  const found = new Map<string, Row[]>()
  if (lanes.length === 0) return found
  if (context.memory.lanes) {
    for (const { integration, lane } of lanes)
      found.set(lane, [...(yield* rows(OPEN_SENDS_OF_ONE, [integration, lane]))])
    return found
  }
  const open = yield* rows(OPEN_SENDS, [
    lanes.map(({ integration }) => integration),
    lanes.map(({ lane }) => lane),
  ])
  for (const { lane } of lanes) found.set(lane, [])
  for (const row of open) found.get(text(row, 'lane'))?.push(row)
  for (const [lane, waiting] of found) {
    const born = bornQueuedSends(context, lane)
    if (born.length === 0) continue
    waiting.push(...born)
    waiting.sort((one, other) => whole(one, 'seq') - whole(other, 'seq'))
  }
  return found
}
