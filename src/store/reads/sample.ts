// Reads turns since a time, for charts: all of them if they are few, otherwise an evenly spread sample. The cost is
// bounded, by primary key alone.
import type { SeriesQuery, TurnSample, TurnState } from '../../contract/index.ts'
import {
  firstRow,
  type Param,
  type Row,
  rows,
  type Steps,
  text,
  textOrNull,
  whole,
  wholeOrNull,
} from '../statement.ts'
import { createConditions, positionAt } from './conditions.ts'

/** Up to this many turns are all read: some ten milliseconds. */
const ALL = 10_000
/** Of more turns, this share of the limit is sampled. Single lookups cost more than a scan. */
const SHARE = 0.4
const STATEMENT = 1_000

export function* readSample({
  sinceMs,
  source,
  agent,
  most = ALL,
}: Omit<SeriesQuery, 'untilMs'>): Steps<TurnSample> {
  const first = yield* positionAt('turns', 'received_at', sinceMs)
  const edge = yield* firstRow('SELECT max(seq) AS last FROM turns')
  const last = edge ? wholeOrNull(edge, 'last') : null
  if (last === null) return { total: 0, looked: 0, rows: [] }
  const total = Math.max(0, last - first + 1)
  const spread = Math.max(1, Math.floor(most * SHARE))
  const looked = total <= most ? total : spread
  const found: Row[] = []
  const narrow = () => {
    const where = createConditions()
    where.add('received_at >= ?', sinceMs)
    // Not by their indexes, which would read the whole history.
    if (source !== undefined) where.add("source || '' = ?", source)
    if (agent !== undefined) where.add('agent = ?', agent)
    return where
  }
  const read = function* (where: ReturnType<typeof createConditions>): Steps<readonly Row[]> {
    const { sql, params } = where.build()
    return yield* rows(
      `SELECT received_at, updated_at, state, reason, late_at FROM turns ${sql}`,
      params as Param[],
    )
  }
  if (total <= most) {
    const where = narrow()
    where.add('seq >= ? AND seq <= ?', first, last)
    found.push(...(yield* read(where)))
  } else {
    const positions = Array.from({ length: spread }, (_, at) => first + Math.floor((at * total) / spread))
    for (let at = 0; at < spread; at += STATEMENT) {
      const where = narrow()
      where.add('seq @any(?)', positions.slice(at, at + STATEMENT))
      found.push(...(yield* read(where)))
    }
  }
  return {
    total,
    looked,
    rows: found.map((row) => ({
      at: whole(row, 'received_at'),
      updatedAt: whole(row, 'updated_at'),
      state: text(row, 'state') as TurnState,
      reason: textOrNull(row, 'reason'),
      late: wholeOrNull(row, 'late_at') !== null,
    })),
  }
}
