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
export const SLACK_MS = 60_000

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

const SMALL = 2000

export interface Way {
  /** Conditions on integration and conversation, with `?` for the values. */
  readonly integration: string
  readonly conversation: string
  readonly order: string
}

/** Through the table in order of position, whatever the indexes offer. */
export const IN_ORDER: Way = {
  integration: "integration || '' = ?",
  conversation: "conversation || '' = ?",
  order: 'seq',
}

/**
 * How to read a conversation's rows in order. A small one is gathered through the unique key and sorted; a large one
 * is met often enough on the way through the table. Either way the answer comes in milliseconds at a million rows.
 */
export function* wayTo(table: 'turns' | 'outbox', integration: string, conversation: string): Steps<Way> {
  // The outbox has an index in the right order.
  const direct = { integration: 'integration = ?', conversation: 'conversation = ?' }
  if (table === 'outbox') return { ...direct, order: 'seq' }
  const found = yield* firstRow(
    `SELECT count(*) AS many FROM (SELECT 1 FROM turns WHERE integration = $1 AND conversation = $2 LIMIT ${SMALL}) t`,
    [integration, conversation],
  )
  return found && whole(found, 'many') >= SMALL ? IN_ORDER : { ...direct, order: 'seq + 0' }
}
