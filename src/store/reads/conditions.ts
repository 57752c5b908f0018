// Builds a WHERE clause step by step, and finds the position where a time begins.
import { firstRow, type Param, type Steps, whole } from '../statement.ts'

export interface ConditionList {
  /** Each `?` stands for the next value. */
  add(sql: string, ...values: Param[]): void
  plain(sql: string): void
  build(): { readonly sql: string; readonly params: readonly Param[] }
}

export function createConditions(): ConditionList {
  const parts: string[] = []
  const params: Param[] = []
  return {
    add(sql, ...values) {
      let at = params.length
      parts.push(sql.replace(/\?/g, () => `$${++at}`))
      params.push(...values)
    },
    plain(sql) {
      parts.push(sql)
    },
    build: () => ({ sql: parts.length === 0 ? '' : `WHERE ${parts.join(' AND ')}`, params }),
  }
}

/** Clocks of several nodes differ a little, and a clock may be set back. Reads begin a minute early. */
export const LEEWAY_MS = 60_000

/** Returns the first and the last position. Two subqueries use the index; one query for both would scan the table. */
export function* edgesOf(table: 'turns' | 'outbox'): Steps<{ readonly from: number; readonly to: number }> {
  const row = yield* firstRow(
    `SELECT (SELECT min(seq) FROM ${table}) AS first, (SELECT max(seq) FROM ${table}) AS last`,
  )
  return { from: row ? whole(row, 'first') : 0, to: row ? whole(row, 'last') : 0 }
}

/**
 * Returns a position from which all rows of `sinceMs` and later can be found. Rows are written in order of time, so
 * bisection takes some twenty lookups by primary key. An index on time would cost every insert.
 */
export function* positionAt(table: 'turns' | 'outbox', time: string, sinceMs: number): Steps<number> {
  const edges = yield* edgesOf(table)
  let low = edges.from
  let high = edges.to + 1
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    const row = yield* firstRow(
      `SELECT seq, ${time} AS at FROM ${table} WHERE seq >= $1 ORDER BY seq LIMIT 1`,
      [middle],
    )
    if (row && whole(row, 'at') < sinceMs - LEEWAY_MS) low = whole(row, 'seq') + 1
    else high = middle
  }
  return low
}

const SMALL = 2000

export interface Way {
  /** A condition with `?` for the integration, and a second one for the conversation if it is given. */
  readonly sql: string
  readonly order: string
}

/** Reads the table in order of position, whatever the indexes offer. */
export const IN_ORDER: Way = { sql: "integration || '' = ?", order: 'seq' }
const ONE_IN_ORDER: Way = { sql: "integration || '' = ? AND conversation || '' = ?", order: 'seq' }

/**
 * Returns how to read a conversation's rows in order. A small conversation is collected by its place and sorted. A
 * large one appears often enough while reading the table in order. Both take milliseconds with a million rows.
 */
export function* wayTo(table: 'turns' | 'outbox', integration: string, conversation: string): Steps<Way> {
  // The outbox has an index in the right order.
  if (table === 'outbox') return { sql: 'integration = ? AND conversation = ?', order: 'seq' }
  const found = yield* firstRow(
    `SELECT count(*) AS many FROM (SELECT 1 FROM @places WHERE integration = $1 AND conversation = $2 LIMIT ${SMALL}) t`,
    [integration, conversation],
  )
  return found && whole(found, 'many') >= SMALL ? ONE_IN_ORDER : { sql: '@at_place(?, ?)', order: 'seq + 0' }
}
