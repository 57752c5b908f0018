// PostgreSQL connections that answer statements, and the shared SQL in PostgreSQL's words.
import pg from 'pg'
import type { Answer, InsertShape, Param, Row, Statement, Steps, Value } from '../statement.ts'
import { horizonOf, reserveText } from './horizon.ts'

const INT8 = 20

/** Positions and times are far below 2^53: numbers, not strings. */
const types = {
  getTypeParser: ((oid: number, format?: 'text' | 'binary') =>
    oid === INT8 ? Number : pg.types.getTypeParser(oid, format)) as typeof pg.types.getTypeParser,
}

export interface Queryable {
  query(config: { text: string; values?: unknown[]; name?: string }): Promise<pg.QueryResult>
}

const CONNECT_TIMEOUT_MS = 5_000
const QUERY_TIMEOUT_MS = 15_000
/** Somebody waits for what is read; a connection whose other end is gone gives no answer, and no error either. */
const READ_TIMEOUT_MS = 10_000

export function createClient(url: string): pg.Client {
  return new pg.Client({
    connectionString: url,
    types,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    query_timeout: QUERY_TIMEOUT_MS,
    keepAlive: true,
    application_name: 'switchboard',
  })
}

export function createPool(url: string, more: pg.PoolConfig = {}): pg.Pool {
  return new pg.Pool({
    connectionString: url,
    types,
    max: 4,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    query_timeout: READ_TIMEOUT_MS,
    keepAlive: true,
    allowExitOnIdle: true,
    application_name: 'switchboard-read',
    ...more,
  })
}

/** Drives a verb or a read to its end on this connection. */
export async function drive<Result>(
  steps: Steps<Result>,
  execute: (statement: Statement) => Promise<Answer>,
): Promise<Result> {
  let step = steps.next(undefined)
  while (!step.done) step = steps.next(await execute(step.value))
  return step.value
}

export const SNAPSHOT = 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY'

/** Drives it to its end between `begin` and COMMIT on a connection of the pool. One that failed is not used again. */
export async function inTransaction<Result>(
  pool: pg.Pool,
  begin: string,
  steps: Steps<Result>,
): Promise<Result> {
  const client = await pool.connect()
  // One in use has no listener of the pool: without this its loss would end the process.
  client.on('error', ignore)
  try {
    await client.query(begin)
    const execute = createExecutor(client, { notify: async () => undefined, prepare: false })
    const result = await drive(steps, execute)
    await client.query('COMMIT')
    client.off('error', ignore)
    client.release()
    return result
  } catch (thrown) {
    client.release(true)
    throw thrown
  }
}

// The query that was under way hears of it.
function ignore(): void {}

/** Answers statements; `notify` is given the payload of a commit's hints. */
export function createExecutor(
  on: Queryable,
  options: { readonly notify: (payload: string) => Promise<void>; readonly prepare: boolean },
): (statement: Statement) => Promise<Answer> {
  return async (statement) => {
    switch (statement.form) {
      case 'rows':
        return (await on.query(named(statement, options.prepare))).rows as Row[]
      case 'run':
        return (await on.query(named(statement, options.prepare))).rowCount ?? 0
      case 'insert':
        return await insertMany(on, statement.into, statement.rows)
      case 'reserve': {
        const { rows } = await on.query({ text: reserveText(statement.table), values: [statement.count] })
        return (rows as { position: number }[]).map((row) => row.position)
      }
      case 'horizon':
        return await horizonOf(on, statement.table)
      case 'notify':
        await options.notify(statement.payload())
        return undefined
    }
  }
}

const texts = new Map<string, { readonly text: string; readonly name: string }>()

function named(statement: { readonly sql: string; readonly params: readonly Param[] }, prepare: boolean) {
  let known = texts.get(statement.sql)
  if (!known) {
    known = { text: toPostgres(statement.sql), name: `sb${texts.size}` }
    texts.set(statement.sql, known)
  }
  const values = [...statement.params]
  return prepare ? { text: known.text, name: known.name, values } : { text: known.text, values }
}

const MOST_PARAMS = 30_000

/** Many rows in few round trips; says which of them were written. */
async function insertMany(
  on: Queryable,
  into: InsertShape,
  rows: readonly (readonly Value[])[],
): Promise<readonly boolean[]> {
  const written: boolean[] = []
  const perTrip = Math.floor(MOST_PARAMS / into.columns.length)
  for (let from = 0; from < rows.length; from += perTrip) {
    const part = rows.slice(from, from + perTrip)
    const { rows: returned } = await on.query({ text: insertText(into, part.length), values: part.flat() })
    if (into.identity === '') for (const _ of part) written.push(true)
    else {
      const at = into.columns.indexOf(into.identity)
      const ids = new Set((returned as Row[]).map((row) => row[into.identity]))
      // The same identity twice in one statement is written once: the first one counts.
      for (const row of part) written.push(ids.delete(row[at] as Value))
    }
  }
  return written
}

function insertText(into: InsertShape, rows: number): string {
  const width = into.columns.length
  const values = Array.from({ length: rows }, (_, row) => {
    const marks = into.columns.map((_, column) => `$${row * width + column + 1}`)
    return `(${marks.join(', ')})`
  })
  const returning = into.identity === '' ? '' : ` RETURNING ${into.identity}`
  return `INSERT INTO ${into.table} (${into.columns.join(', ')}) VALUES ${values.join(', ')} ${into.conflict}${returning}`
}

export function toPostgres(sql: string): string {
  return sql
    .replace(/@any\(\$(\d+)\)/g, '= ANY($$$1)')
    .replace(/@lock/g, 'FOR UPDATE')
    .replace(/@skip/g, 'FOR UPDATE SKIP LOCKED')
    .replace(/@seq/g, 'BIGINT PRIMARY KEY')
    .replace(/@places/g, 'turns')
    .replace(/@at_place\((\$\d+), (\$\d+)\)/g, 'integration = $1 AND conversation = $2')
}
