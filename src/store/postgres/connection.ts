// PostgreSQL connections that answer statements, and the translation of shared SQL to PostgreSQL.
import pg from 'pg'
import { type Answer, isUnheard, type Statement, type Steps } from '../statement.ts'
import { horizonOf, reserveText } from './horizon.ts'
import { type Ask, asParameter, insertMany, updateMany } from './many-rows.ts'
import type { Asked, Pipeline } from './pipeline.ts'

const INT8 = 20

/** Positions and times are far below 2^53, so they are numbers and not strings. */
const types = {
  getTypeParser: ((oid: number, format?: 'text' | 'binary') =>
    oid === INT8 ? Number : pg.types.getTypeParser(oid, format)) as typeof pg.types.getTypeParser,
}

/** Returns the parser for values in text format. */
export const typeParser = (oid: number): ((text: string) => unknown) =>
  types.getTypeParser(oid, 'text') as (text: string) => unknown

export interface Queryable {
  query(config: { text: string; values?: unknown[]; name?: string }): Promise<pg.QueryResult>
}

const CONNECT_TIMEOUT_MS = 5_000
const QUERY_TIMEOUT_MS = 15_000
/** A caller waits for each read. A connection whose other end is gone gives neither an answer nor an error. */
const READ_TIMEOUT_MS = 10_000

export function createClient(url: string, more: pg.ClientConfig & { pipeline?: true } = {}): pg.Client {
  return new pg.Client({
    ...more,
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

/** Runs a verb or a read to its end on this connection. */
export async function drive<Result>(steps: Steps<Result>, execute: Executor): Promise<Result> {
  let step = steps.next(undefined)
  while (!step.done) step = steps.next(await execute(step.value))
  return step.value
}

export const SNAPSHOT = 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY'

/**
 * Runs the steps between `begin` and COMMIT on a connection of the pool. A failed connection is not reused. Throws the
 * driver's error.
 */
export async function inTransaction<Result>(
  pool: pg.Pool,
  begin: string,
  steps: Steps<Result>,
): Promise<Result> {
  const client = await pool.connect()
  // The pool removes its listener from a connection in use. Without this one, a lost connection would end the process.
  client.on('error', ignore)
  try {
    await client.query(begin)
    const execute = createExecutor(client)
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

// The running query reports the error.
function ignore(): void {}

export interface Executor {
  (statement: Statement): Promise<Answer>
  /** Throws the first error of the statements that were not awaited. */
  check(): void
}

/**
 * Returns an executor for statements. On a pipeline, unheard statements go out together with the next awaited one.
 */
export function createExecutor(on: Queryable, pipeline?: Pick<Pipeline, 'ask' | 'send'>): Executor {
  let failed: { readonly thrown: unknown } | null = null
  const unheard = async (work: Promise<unknown>): Promise<void> => {
    const done = work.catch((thrown: unknown) => {
      failed ??= { thrown }
    })
    if (!pipeline) await done
  }
  const ask: Ask = pipeline
    ? pipeline.ask
    : (text, values) => on.query({ text, values: values.map(asParameter) }) as Promise<Asked>
  const answer = async (statement: Statement): Promise<Answer> => {
    switch (statement.form) {
      case 'rows':
        return (await ask(inPostgres(statement.sql), statement.params)).rows
      case 'run':
        if (statement.unheard) return void (await unheard(ask(inPostgres(statement.sql), statement.params)))
        return (await ask(inPostgres(statement.sql), statement.params)).rowCount
      case 'insert':
        if (statement.into.identity === '') {
          await unheard(insertMany(ask, statement.into, statement.rows))
          return statement.rows.map(() => true)
        }
        return await insertMany(ask, statement.into, statement.rows)
      case 'update':
        return void (await unheard(updateMany(ask, statement.of, statement.rows)))
      case 'together':
        return { answers: await Promise.all(statement.statements.map(answer)) }
      case 'reserve': {
        const { rows } = await ask(reserveText(statement.table), [statement.count])
        return rows.map((row) => row.position as number)
      }
      case 'horizon':
        return await horizonOf(on, statement.table)
    }
  }
  const check = (): void => {
    if (failed) throw failed.thrown
  }
  const execute = async (statement: Statement): Promise<Answer> => {
    const answering = answer(statement)
    if (!isUnheard(statement)) pipeline?.send()
    const answered = await answering.catch((thrown: unknown) => {
      // Later statements failed because of the first failure.
      check()
      throw thrown
    })
    check()
    return answered
  }
  return Object.assign(execute, { check })
}

const inWords = new Map<string, string>()

function inPostgres(sql: string): string {
  let text = inWords.get(sql)
  if (text === undefined) {
    text = toPostgres(sql)
    inWords.set(sql, text)
  }
  return text
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
