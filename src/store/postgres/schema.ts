// Migrates a PostgreSQL database. Nodes that start at once wait for each other under one advisory lock.
import type pg from 'pg'
import { SwitchboardError } from '../../contract/index.ts'
import { CHAINS } from '../ledger-chain.ts'
import type { Mac } from '../mac.ts'
import { META_TABLE, MIGRATIONS, pendingMigrations } from '../migrations/index.ts'
import { toPostgres } from './connection.ts'

const LOCK = 7_428_001

/** Texts are ordered by bytes on every server, as in SQLite and in JavaScript code. */
function collated(sql: string): string {
  return toPostgres(sql).replace(/\bTEXT\b/g, 'TEXT COLLATE "C"')
}

/** Migrates and returns the store's tag. Throws for a newer database or another ledger key. */
export async function migratePostgres(client: pg.Client, freshTag: () => string, mac: Mac): Promise<string> {
  await client.query('BEGIN')
  try {
    await client.query(`SELECT pg_advisory_xact_lock(${LOCK})`)
    await client.query(collated(META_TABLE))
    const found = Number((await readMeta(client, 'schema')) ?? 0)
    for (const migration of pendingMigrations(MIGRATIONS, found)) {
      for (const statement of migration.statements) await client.query(collated(statement))
      for (const statement of migration.postgresOnly ?? []) await client.query(statement)
      await setMeta(client, 'schema', String(migration.number))
    }
    if (found === 0) {
      await setMeta(client, 'tag', freshTag())
      await setMeta(client, CHAINS, '0')
    }
    await checkKey(client, mac)
    const tag = (await readMeta(client, 'tag')) ?? ''
    await client.query('COMMIT')
    return tag
  } catch (error) {
    await client.query('ROLLBACK').catch(() => undefined)
    throw error
  }
}

const KEY_CHECK = 'ledger_key_check'

/**
 * All nodes sign with one key; otherwise no node could verify the others. The first node stores a mark of its key.
 */
async function checkKey(client: pg.Client, mac: Mac): Promise<void> {
  const mark = mac('switchboard ledger key')
  const known = await readMeta(client, KEY_CHECK)
  if (known === mark) return
  if (known === null) return setMeta(client, KEY_CHECK, mark)
  throw new SwitchboardError(
    'config_invalid',
    'this node signs its ledger with another key than the nodes that use this database',
    {
      hint: 'give all nodes the same SWITCHBOARD_KEY, and SWITCHBOARD_LEDGER_KEY (or a copy of ledger.key) of the first one where theirs differ',
    },
  )
}

/** Returns the tag without migrating, for a reader. Throws when the database belongs to another version. */
export async function checkPostgres(client: pg.Client): Promise<string> {
  const { rows } = await client.query(`SELECT to_regclass('meta') IS NOT NULL AS there`)
  const there = (rows[0] as { there?: boolean } | undefined)?.there === true
  const found = there ? Number((await readMeta(client, 'schema')) ?? 0) : 0
  pendingMigrations(MIGRATIONS, found)
  if (found < (MIGRATIONS.at(-1)?.number ?? 0)) {
    throw new SwitchboardError('store_unavailable', 'the database was not prepared by this version', {
      hint: 'start the daemon once with `switchboard up`: it brings the database up to date',
    })
  }
  return (await readMeta(client, 'tag')) ?? ''
}

async function readMeta(client: pg.Client, name: string): Promise<string | null> {
  const { rows } = await client.query('SELECT value FROM meta WHERE name = $1', [name])
  return (rows[0] as { value?: string } | undefined)?.value ?? null
}

async function setMeta(client: pg.Client, name: string, value: string): Promise<void> {
  await client.query(
    'INSERT INTO meta (name, value) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET value = excluded.value',
    [name, value],
  )
}
