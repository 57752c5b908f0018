// One SQLite connection that answers statements. Prepared statements are kept by text; the handle lives in the closure
// for as long as they do (a statement whose database was collected crashes the process).
import { DatabaseSync, type DatabaseSyncInstance, type StatementSyncInstance } from '@photostructure/sqlite'
import { SwitchboardError } from '../../contract/index.ts'
import type {
  Answer,
  InsertShape,
  Param,
  Row,
  SequencedTable,
  Statement,
  Steps,
  Value,
} from '../statement.ts'
import { sqliteError } from './errors.ts'

export interface Connection {
  execute(statement: Statement): Answer
  exec(sql: string): void
  /** Drives a verb or a read to its end, synchronously. */
  drive<Result>(steps: Steps<Result>): Result
  readonly inTransaction: boolean
  close(): void
}

export interface ConnectionOptions {
  readonly file: string
  readonly readOnly: boolean
  readonly busyTimeoutMs: number
  readonly reserve: (table: SequencedTable, count: number) => readonly number[]
}

/** Throws `store_unavailable` or `store_corrupt`. */
export function openConnection(options: ConnectionOptions): Connection {
  const database = open(options)
  const prepared = new Map<string, StatementSyncInstance>()
  const inserts = new Map<InsertShape, StatementSyncInstance>()

  const prepare = (sql: string): StatementSyncInstance => {
    const known = prepared.get(sql)
    if (known) return known
    const fresh = database.prepare(toSqlite(sql))
    prepared.set(sql, fresh)
    return fresh
  }
  const prepareInsert = (into: InsertShape): StatementSyncInstance => {
    const known = inserts.get(into)
    if (known) return known
    const marks = into.columns.map((_, at) => `?${at + 1}`).join(', ')
    const sql = `INSERT INTO ${into.table} (${into.columns.join(', ')}) VALUES (${marks}) ${into.conflict}`
    const fresh = database.prepare(sql)
    inserts.set(into, fresh)
    return fresh
  }
  const execute = (statement: Statement): Answer => {
    switch (statement.form) {
      case 'rows':
        return prepare(statement.sql).all(...bind(statement.params)) as Row[]
      case 'run':
        return Number(prepare(statement.sql).run(...bind(statement.params)).changes)
      case 'insert': {
        const insert = prepareInsert(statement.into)
        return statement.rows.map((row) => insert.run(...row).changes > 0)
      }
      case 'reserve':
        return options.reserve(statement.table, statement.count)
      case 'notify':
        return undefined
    }
  }
  return {
    execute,
    exec: (sql) => database.exec(sql),
    drive<Result>(steps: Steps<Result>): Result {
      let step = steps.next(undefined)
      while (!step.done) step = steps.next(execute(step.value))
      return step.value
    },
    get inTransaction() {
      return database.isTransaction
    },
    close() {
      // Statements cannot be finalised, so the engine keeps the file open until they are collected, and would not tidy
      // the log itself: fold it into the file now, so that the file alone is the whole database.
      if (!options.readOnly) database.exec('PRAGMA busy_timeout = 0; PRAGMA wal_checkpoint(TRUNCATE)')
      prepared.clear()
      inserts.clear()
      database.close()
    },
  }
}

function open(options: ConnectionOptions): DatabaseSyncInstance {
  const { file, readOnly, busyTimeoutMs } = options
  try {
    const database = new DatabaseSync(file, {
      readOnly,
      timeout: busyTimeoutMs,
      enableForeignKeyConstraints: false,
    })
    // Reading the header is what finds a file that is no database.
    database.exec('SELECT count(*) FROM sqlite_master')
    if (!readOnly) {
      database.exec('PRAGMA journal_mode = WAL')
      // Acknowledged means on the disk: FULL syncs the log at every commit, and the group shares the cost.
      database.exec('PRAGMA synchronous = FULL')
      // Fewer checkpoints: with the default of 1000 pages they cost a third of the system time of intake.
      database.exec('PRAGMA wal_autocheckpoint = 4000')
    }
    return database
  } catch (thrown) {
    throw (
      sqliteError(thrown) ??
      new SwitchboardError('store_unavailable', `the database ${file} cannot be opened`, { cause: thrown })
    )
  }
}

/** The shared SQL in SQLite's words. */
export function toSqlite(sql: string): string {
  return sql
    .replace(/@any\(\$(\d+)\)/g, 'IN (SELECT value FROM json_each(?$1))')
    .replace(/\s*@lock/g, '')
    .replace(/@seq/g, 'INTEGER PRIMARY KEY')
    .replace(/\$(\d+)/g, '?$1')
}

function bind(params: readonly Param[]): Value[] {
  const bound: Value[] = []
  for (const param of params)
    bound.push(typeof param === 'object' && param !== null ? JSON.stringify(param) : param)
  return bound
}
