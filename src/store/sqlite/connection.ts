// One SQLite connection that answers statements. Prepared statements are cached by text. The closure keeps the handle
// for as long as they exist, because a statement whose database was collected crashes the process.
import { DatabaseSync, type DatabaseSyncInstance, type StatementSyncInstance } from '@photostructure/sqlite'
import { type CopyProgress, SwitchboardError } from '../../contract/index.ts'
import type {
  Answer,
  InsertShape,
  Param,
  Row,
  SequencedTable,
  Statement,
  Steps,
  UpdateShape,
  Value,
} from '../statement.ts'
import { copyFromHandle } from './copy-database.ts'
import { sqliteError } from './errors.ts'
import { areSingle, listsOf, ofOneEach } from './lists-of-one.ts'
import { atPlace, PLACES } from './turn-places.ts'

export interface Connection {
  execute(statement: Statement): Answer
  exec(sql: string): void
  /** Runs a verb or a read to its end, synchronously. */
  drive<Result>(steps: Steps<Result>): Result
  readonly inTransaction: boolean
  /** Copies into the file as much of the log as no reader uses any more. Never throws for a busy log. */
  foldLog(): void
  /**
   * Overwrites the free pages of the file with zeros, a bounded piece at each step. Other writes may run between two
   * steps. The next wipe finishes an interrupted one.
   */
  wipeFree(): Generator<void>
  /** Whether a wipe was begun and not finished. */
  isHalfWiped(): boolean
  /** Truncates the log. False: a reader uses it. */
  cutLog(): boolean
  /** Copies into a new file. No writes may run through this connection meanwhile. */
  copyTo(file: string, onProgress?: CopyProgress): Promise<void>
  close(): void
}

export interface ConnectionOptions {
  readonly file: string
  readonly readOnly: boolean
  readonly busyTimeoutMs: number
  readonly reserve: (table: SequencedTable, count: number) => readonly number[]
}

/** Rows per multi-row insert. A call of the driver costs more than a row. */
const ROWS_AT_ONCE = 8

/** Free pages that one step overwrites: 4 MB at the usual page size. */
const WIPED_AT_ONCE = 1_024

/** Indexed by the number of rows. Each is prepared at its first use. */
type Inserts = (StatementSyncInstance | undefined)[]

interface Prepared {
  readonly statement: StatementSyncInstance
  /** The column names of a row, once known. */
  names: readonly string[] | null
}

/** A shared statement. Each form is prepared at its first use. */
interface Shared {
  readonly lists: ReadonlySet<number>
  many: Prepared | null
  /** The form in which each list holds one value. */
  ofOne: Prepared | null
}

/** Opens a connection. Throws `store_unavailable` or `store_corrupt`. */
export function openConnection(options: ConnectionOptions): Connection {
  const database = open(options)
  const shared = new Map<string, Shared>()
  const inserts = new Map<InsertShape, Inserts>()
  const updates = new Map<UpdateShape, StatementSyncInstance>()

  const prepareText = (sql: string): Prepared => ({ statement: database.prepare(sql), names: null })
  const sharedOf = (sql: string): Shared => {
    const known = shared.get(sql)
    if (known) return known
    const fresh = { lists: listsOf(sql), many: null, ofOne: null }
    shared.set(sql, fresh)
    return fresh
  }
  const fitting = (sql: string, params: readonly Param[]): readonly [Prepared, (Value | Uint8Array)[]] => {
    const one = sharedOf(sql)
    if (areSingle(one.lists, params)) {
      one.ofOne ??= prepareText(toSqlite(ofOneEach(sql)))
      return [one.ofOne, bind(params, one.lists)]
    }
    one.many ??= prepareText(toSqlite(sql))
    return [one.many, bind(params)]
  }
  const ask = (sql: string, params: readonly Param[]): Row[] => rowsOf(...fitting(sql, params))
  const run = (sql: string, params: readonly Param[]): number => {
    const [{ statement }, bound] = fitting(sql, params)
    return Number(statement.run(...bound).changes)
  }
  const prepareInsert = (into: InsertShape, count: number): StatementSyncInstance => {
    const known = inserts.get(into)
    const ready = known?.[count]
    if (ready) return ready
    const columns = into.positioned ? ['seq', ...into.columns] : into.columns
    const marks = `(${columns.map(() => '?').join(', ')})`
    const all = Array(count).fill(marks).join(', ')
    const fresh = database.prepare(
      `INSERT INTO ${into.table} (${columns.join(', ')}) VALUES ${all} ${into.conflict}`,
    )
    if (known) known[count] = fresh
    else {
      const counts: Inserts = []
      counts[count] = fresh
      inserts.set(into, counts)
    }
    return fresh
  }
  /**
   * Several rows at once are possible only if the count of changes suffices: all are written, or fresh positions
   * identify them.
   */
  const countAtOnce = ({ identity }: InsertShape, left: number): number => {
    if (identity === '') return Math.min(left, ROWS_AT_ONCE)
    return identity === 'seq' && left >= ROWS_AT_ONCE ? ROWS_AT_ONCE : 1
  }
  const insertRows = (into: InsertShape, given: readonly (readonly Value[])[]): readonly boolean[] => {
    const rows = into.positioned ? positioned(into, given) : given
    const written: boolean[] = []
    for (let at = 0; at < rows.length; ) {
      const count = countAtOnce(into, rows.length - at)
      const part = rows.slice(at, at + count)
      at += count
      // A loop, because `flat` took 1.9 µs a row and this takes 0.1.
      const values: Value[] = []
      for (const row of part) for (const value of row) values.push(value)
      const { changes } = prepareInsert(into, count).run(...values)
      if (changes === count || into.identity === '') for (const _ of part) written.push(true)
      else if (count === 1) written.push(false)
      else {
        const seqs = part.map((row) => row[into.columns.indexOf('seq')] as number)
        const sql = `SELECT seq FROM ${into.table} WHERE seq @any($1)`
        const there = new Set(ask(sql, [seqs]).map((row) => row.seq))
        for (const seq of seqs) written.push(there.has(seq))
      }
    }
    return written
  }
  const positioned = ({ table }: InsertShape, rows: readonly (readonly Value[])[]) => {
    const seqs = options.reserve(table as SequencedTable, rows.length)
    return rows.map((row, at) => [seqs[at] as number, ...row])
  }
  const prepareUpdate = (of: UpdateShape): StatementSyncInstance => {
    const known = updates.get(of)
    if (known) return known
    const [key = '', ...changed] = of.columns
    const sets = changed.map((column, at) => `${column} = ?${at + 2}`)
    const fresh = database.prepare(`UPDATE ${of.table} SET ${sets.join(', ')} WHERE ${key} = ?1`)
    updates.set(of, fresh)
    return fresh
  }
  const updateRows = (of: UpdateShape, rows: readonly (readonly Value[])[]): void => {
    const one = prepareUpdate(of)
    for (const row of rows) one.run(...row)
  }
  const execute = (statement: Statement): Answer => {
    switch (statement.form) {
      case 'rows':
        return ask(statement.sql, statement.params)
      case 'run':
        return run(statement.sql, statement.params)
      case 'insert':
        return insertRows(statement.into, statement.rows)
      case 'update':
        updateRows(statement.of, statement.rows)
        return undefined
      case 'together':
        return { answers: statement.statements.map(execute) }
      case 'reserve':
        return options.reserve(statement.table, statement.count)
      // With one writer, positions appear in order.
      case 'horizon':
        return Number.MAX_SAFE_INTEGER
    }
  }
  const pragma = (name: string) => Number(Object.values(ask(`PRAGMA ${name}`, [])[0] ?? {})[0] ?? 0)
  /** A separate transaction that is folded into the file at once, so the log stays short. */
  const atOnce = (work: () => void): void => {
    database.exec('BEGIN IMMEDIATE')
    try {
      work()
      database.exec('COMMIT')
    } finally {
      if (database.isTransaction) database.exec('ROLLBACK')
    }
    foldLog()
  }
  const foldLog = () => {
    try {
      database.exec('PRAGMA wal_checkpoint(PASSIVE)')
    } catch {
      // The log stays whole and synced. The next fold tries again.
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
    foldLog,
    // The zeros are rows of a table that takes the free pages and then returns them. Each row is one step.
    *wipeFree() {
      // A page of an overflowing blob holds four bytes less than a page.
      const size = pragma('page_size') - 4
      database.exec('CREATE TABLE IF NOT EXISTS wiped (x)')
      for (let isLast = false; !isLast; yield) {
        const free = pragma('freelist_count')
        isLast = free <= WIPED_AT_ONCE
        atOnce(() => {
          const take = (pages: number) =>
            database.exec(`INSERT INTO wiped VALUES (zeroblob(${pages * size}))`)
          take(Math.min(free, WIPED_AT_ONCE))
          // The last step takes all remaining pages. Pages freed later were not free when the wipe began.
          if (isLast)
            for (let left = pragma('freelist_count'); left > 0; left = pragma('freelist_count')) take(left)
        })
      }
      for (const { rowid } of ask('SELECT rowid FROM wiped', [])) {
        // ON overwrites the whole page, because the last page of a row is not filled to its end.
        database.exec('PRAGMA secure_delete = ON')
        try {
          atOnce(() => database.exec(`DELETE FROM wiped WHERE rowid = ${Number(rowid)}`))
        } finally {
          database.exec('PRAGMA secure_delete = FAST')
        }
        yield
      }
      database.exec('DROP TABLE wiped')
    },
    isHalfWiped: () => ask("SELECT 1 FROM sqlite_master WHERE name = 'wiped'", []).length > 0,
    cutLog() {
      database.exec('PRAGMA busy_timeout = 0')
      try {
        return ask('PRAGMA wal_checkpoint(TRUNCATE)', [])[0]?.busy === 0
      } finally {
        database.exec(`PRAGMA busy_timeout = ${options.busyTimeoutMs}`)
      }
    },
    copyTo: (to, onProgress) => copyFromHandle(database, to, onProgress),
    close() {
      // Statements cannot be finalised, so the engine keeps the file open until they are collected, and does not clean
      // up the log. It is folded into the file here, so that the file alone is the whole database.
      if (!options.readOnly) database.exec('PRAGMA busy_timeout = 0; PRAGMA wal_checkpoint(TRUNCATE)')
      shared.clear()
      inserts.clear()
      updates.clear()
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
    // Reading the header detects a file that is no database.
    database.exec('SELECT count(*) FROM sqlite_master')
    if (!readOnly) {
      // Erased data is overwritten on its page where that costs no further write.
      database.exec('PRAGMA secure_delete = FAST')
      database.exec('PRAGMA journal_mode = WAL')
      // Acknowledged means on the disk: FULL syncs the log at every commit, and the group shares the cost.
      database.exec('PRAGMA synchronous = FULL')
      // The store decides when the log is folded into the file: after a commit, not within it.
      database.exec('PRAGMA wal_autocheckpoint = 0')
    }
    return database
  } catch (thrown) {
    throw (
      sqliteError(thrown) ??
      new SwitchboardError('store_unavailable', `the database ${file} cannot be opened`, { cause: thrown })
    )
  }
}

/** Translates shared SQL to SQLite. */
export function toSqlite(sql: string): string {
  return (
    sql
      .replace(/@any\(\$(\d+)\)/g, 'IN (SELECT value FROM json_each(?$1))')
      .replace(/(?<!\s)\s*@(?:lock|skip)/g, '')
      // Written as a sum: SQLite peeks at a bare limit before planning, and plans again for every bound value.
      .replace(/LIMIT \$(\d+)/g, 'LIMIT $$$1 + 0')
      .replace(/@seq/g, 'INTEGER PRIMARY KEY')
      .replace(/@places/g, PLACES)
      .replace(/@at_place\((\$\d+), (\$\d+)\)/g, (_, integration, conversation) =>
        atPlace(integration, conversation),
      )
      .replace(/\$(\d+)/g, '?$1')
  )
}

/** `single`: these lists hold one value each and are bound as that value. */
function bind(params: readonly Param[], single?: ReadonlySet<number>): (Value | Uint8Array)[] {
  const bound: (Value | Uint8Array)[] = []
  for (let at = 0; at < params.length; at++) {
    const param = params[at] as Param
    if (typeof param !== 'object' || param === null || param instanceof Uint8Array) bound.push(param)
    else bound.push(single?.has(at + 1) ? (param[0] as Value) : JSON.stringify(param))
  }
  return bound
}

/** Reads rows as arrays and adds the names here. The driver would search for each name in each row. */
function rowsOf(prepared: Prepared, bound: (Value | Uint8Array)[]): Row[] {
  const { statement } = prepared
  if (prepared.names === null) {
    statement.setReturnArrays(true)
    prepared.names = statement.columns().map(({ name }) => name)
  }
  const { names } = prepared
  const found: Row[] = []
  for (const values of statement.all(...bound) as unknown as (Value | Uint8Array)[][]) {
    const row: Record<string, Value | Uint8Array> = {}
    for (let at = 0; at < names.length; at++) row[names[at] as string] = values[at] as Value | Uint8Array
    found.push(row)
  }
  return found
}
