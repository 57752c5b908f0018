// Migrates a SQLite file and reads its metadata.
import { SwitchboardError } from '../../contract/index.ts'
import { CHAINS } from '../ledger-chain.ts'
import { META_TABLE, MIGRATIONS, pendingMigrations } from '../migrations/index.ts'
import { firstRow, type Steps, text } from '../statement.ts'
import { type Connection, toSqlite } from './connection.ts'
import { damaged } from './errors.ts'

function* readMeta(name: string): Steps<string | null> {
  const row = yield* firstRow('SELECT value FROM meta WHERE name = $1', [name])
  return row ? text(row, 'value') : null
}

/** The size that can be checked in some ten milliseconds. A larger file shows damage when it is read. */
const CHECKED_AT_START_BYTES = 16 * 1024 * 1024

/** Throws `store_corrupt` before anything is written to a damaged file. */
function refuseDamaged(connection: Connection): void {
  const pragma = (name: string) => {
    const answer = connection.execute({ form: 'rows', sql: `PRAGMA ${name}`, params: [] })
    return Object.values((answer as readonly Record<string, unknown>[])[0] ?? {})[0]
  }
  if (Number(pragma('page_count')) * Number(pragma('page_size')) > CHECKED_AT_START_BYTES) return
  const found = pragma('quick_check(1)')
  if (found !== 'ok') throw damaged(String(found))
}

/** Migrates and returns the store's tag. Throws `store_corrupt` for a damaged file. */
export function migrateSqlite(connection: Connection, freshTag: () => string): string {
  refuseDamaged(connection)
  connection.exec('BEGIN IMMEDIATE')
  try {
    connection.exec(META_TABLE)
    const found = Number(connection.drive(readMeta('schema')) ?? 0)
    for (const migration of pendingMigrations(MIGRATIONS, found)) {
      for (const statement of migration.statements) connection.exec(toSqlite(statement))
      for (const statement of migration.sqliteOnly ?? []) connection.exec(statement)
      setMeta(connection, 'schema', String(migration.number))
    }
    if (found === 0) {
      setMeta(connection, 'tag', freshTag())
      setMeta(connection, CHAINS, '0')
    }
    const tag = connection.drive(readMeta('tag')) ?? ''
    connection.exec('COMMIT')
    return tag
  } catch (error) {
    if (connection.inTransaction) connection.exec('ROLLBACK')
    throw error
  }
}

/**
 * Releases lanes and leases of this node's killed boots. A node name belongs to one data folder, and its lock to one
 * process, so no other process can hold them. Without this, a restart would wait for leases to expire.
 */
export function freeFormerBoots(connection: Connection, node: string): void {
  for (const table of ['lanes', 'leases']) {
    connection.execute({
      form: 'run',
      sql: `UPDATE ${table} SET owner = NULL, until = 0 WHERE substr(owner, 1, length($1)) = $1`,
      params: [`${node}/`],
    })
  }
}

/** Returns the tag without migrating, for a reader. Throws when the file belongs to another version. */
export function checkSchema(connection: Connection, file: string): string {
  const newest = MIGRATIONS.at(-1)?.number ?? 0
  const [meta] = connection.drive(tableNamed('meta'))
  const found = meta ? Number(connection.drive(readMeta('schema')) ?? 0) : 0
  if (found < newest) {
    throw new SwitchboardError('store_unavailable', `the database ${file} was not prepared by this version`, {
      hint: 'start the daemon once with `switchboard up`: it brings the database up to date',
    })
  }
  pendingMigrations(MIGRATIONS, found)
  return connection.drive(readMeta('tag')) ?? ''
}

function* tableNamed(name: string): Steps<readonly unknown[]> {
  const row = yield* firstRow(`SELECT name FROM sqlite_master WHERE type = 'table' AND name = $1`, [name])
  return row ? [row] : []
}

function setMeta(connection: Connection, name: string, value: string): void {
  connection.execute({
    form: 'run',
    sql: 'INSERT INTO meta (name, value) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET value = excluded.value',
    params: [name, value],
  })
}
