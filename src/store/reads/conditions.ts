// A WHERE clause that grows, and the position at which a time begins.
import { firstRow, type Param, type Steps, whole } from '../statement.ts'

export interface ConditionList {
  /** `?` stands for the value. */
  add(sql: string, value: Param): void
  plain(sql: string): void
  build(): { readonly sql: string; readonly params: readonly Param[] }
}

export function createConditions(): ConditionList {
  const parts: string[] = []
  const params: Param[] = []
  return {
    add(sql, value) {
      params.push(value)
      parts.push(sql.replace('?', `$${params.length}`))
    },
    plain(sql) {
      parts.push(sql)
    },
    build: () => ({ sql: parts.length === 0 ? '' : `WHERE ${parts.join(' AND ')}`, params }),
  }
}

/** Clocks of several nodes differ a little, and a clock may be set back: begin a minute early. */
const SLACK_MS = 60_000

/**
 * A position from which all rows of `sinceMs` and later can be found. Rows are written in order of time, so halving
 * finds it in some twenty lookups by primary key, without an index on time that every insert would pay for.
 */
export function* positionAt(table: 'turns' | 'outbox', time: string, sinceMs: number): Steps<number> {
  const edges = yield* firstRow(`SELECT min(seq) AS first, max(seq) AS last FROM ${table}`)
  let low = edges ? whole(edges, 'first') : 0
  let high = (edges ? whole(edges, 'last') : 0) + 1
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    const row = yield* firstRow(
      `SELECT seq, ${time} AS at FROM ${table} WHERE seq >= $1 ORDER BY seq LIMIT 1`,
      [middle],
    )
    if (row && whole(row, 'at') < sinceMs - SLACK_MS) low = whole(row, 'seq') + 1
    else high = middle
  }
  return low
}
