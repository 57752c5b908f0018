// Databases on a PostgreSQL for tests. Creating one takes longer than most tests. So a prepared database is made once
// for all test processes and copied. A returned copy is emptied and lent again.
import pg from 'pg'

export interface LentDatabase {
  readonly url: string
  /** Restores the database to the state in which it was lent. Another caller may borrow it then. */
  giveBack(): Promise<void>
}

export interface TestDatabases {
  /** Returns the connection URL of a new, empty database. */
  freshDatabase(): Promise<string>
  /** Returns the connection URL of a new copy. The first call with a name runs its `fill` on the original. */
  copyOf(name: string, fill: (url: string) => Promise<void>): Promise<string>
  /**
   * Lends a copy that may have been used before, for the price of a connection. The test must not change the schema.
   */
  lend(name: string, fill: (url: string) => Promise<void>): Promise<LentDatabase>
}

type Client = pg.Client
interface Pristine {
  readonly shape: string
  readonly tables: readonly { readonly name: string; readonly rows: readonly unknown[] }[]
  readonly sequences: readonly { readonly name: string; readonly at: string; readonly called: boolean }[]
}

/** The advisory lock for making an original. It ensures that one test process makes it for all. */
const MAKING = 7_428_100

let made = 0

/** `server` is the URL of a superuser, up to the name of the database. */
export function createTestDatabases(server: string): TestDatabases {
  const urlOf = (name: string) => `${server}/${name}`
  const inside = async <Result>(name: string, work: (client: Client) => Promise<Result>): Promise<Result> => {
    const client = new pg.Client({ connectionString: urlOf(name) })
    client.on('error', () => undefined)
    await client.connect()
    try {
      return await work(client)
    } finally {
      await client.end()
    }
  }
  // One connection serves all calls, because opening one costs more than the queries. It does not keep the process
  // alive.
  const pool = new pg.Pool({ connectionString: urlOf('postgres'), max: 1, allowExitOnIdle: true })
  pool.on('error', () => undefined)
  const originals = new Map<string, Promise<string>>()

  const createDatabase = async (like = ''): Promise<string> => {
    const name = `sb_${process.pid}_${made++}`
    await pool.query(`CREATE DATABASE ${name}${like === '' ? '' : ` TEMPLATE ${like}`}`)
    return name
  }

  const makeOriginal = (name: string, fill: (url: string) => Promise<void>): Promise<string> =>
    inside('postgres', async (admin) => {
      const original = `sb_original_${name}`
      await admin.query('SELECT pg_advisory_lock($1)', [MAKING])
      await admin.query('CREATE TABLE IF NOT EXISTS lendable (name TEXT, original TEXT, free BOOLEAN)')
      await admin.query('CREATE TABLE IF NOT EXISTS pristine (original TEXT PRIMARY KEY, facts JSON)')
      const known = await admin.query('SELECT 1 FROM pristine WHERE original = $1', [original])
      if (known.rowCount === 0) {
        await admin.query(`DROP DATABASE IF EXISTS ${original} WITH (FORCE)`)
        await admin.query(`CREATE DATABASE ${original}`)
        await fill(urlOf(original))
        const facts = await inside(original, pristineOf)
        await admin.query('INSERT INTO pristine VALUES ($1, $2)', [original, JSON.stringify(facts)])
      }
      // Closing the connection releases the lock.
      return original
    })
  const originalOf = (name: string, fill: (url: string) => Promise<void>): Promise<string> => {
    const found = originals.get(name) ?? makeOriginal(name, fill)
    originals.set(name, found)
    found.catch(() => originals.delete(name))
    return found
  }

  const asFilled = new Map<string, Pristine>()
  const pristineAs = async (original: string): Promise<Pristine> => {
    const known = asFilled.get(original)
    if (known !== undefined) return known
    const found = await pool.query('SELECT facts FROM pristine WHERE original = $1', [original])
    const facts = (found.rows[0] as { facts: Pristine } | undefined)?.facts
    if (facts === undefined) throw new Error(`nothing is known of ${original}`)
    asFilled.set(original, facts)
    return facts
  }

  const giveBack = async (name: string, original: string): Promise<void> => {
    const pristine = await pristineAs(original)
    const asNew = await inside(name, (client) => restore(client, pristine))
    if (asNew) await pool.query('UPDATE lendable SET free = true WHERE name = $1', [name])
  }

  return {
    freshDatabase: async () => urlOf(await createDatabase()),
    copyOf: async (name, fill) => urlOf(await createDatabase(await originalOf(name, fill))),
    async lend(name, fill) {
      const original = await originalOf(name, fill)
      const free = await pool.query(
        `UPDATE lendable SET free = false WHERE name =
           (SELECT name FROM lendable WHERE original = $1 AND free LIMIT 1 FOR UPDATE SKIP LOCKED)
         RETURNING name`,
        [original],
      )
      const found = (free.rows[0] as { name: string } | undefined)?.name
      const lent = found ?? (await createDatabase(original))
      if (found === undefined)
        await pool.query('INSERT INTO lendable VALUES ($1, $2, false)', [lent, original])
      return { url: urlOf(lent), giveBack: () => giveBack(lent, original) }
    },
  }
}

const TABLES = `SELECT relname AS name FROM pg_class
  WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' ORDER BY relname`
const SEQUENCES = `SELECT sequencename AS name, coalesce(last_value, start_value)::TEXT AS at,
  last_value IS NOT NULL AS called FROM pg_sequences WHERE schemaname = 'public' ORDER BY sequencename`
/** Everything except rows that a test could create, alter or set in a database. */
const SHAPE = `SELECT json_build_array(
  (SELECT json_agg(relname ORDER BY relname) FROM pg_class WHERE relnamespace = 'public'::regnamespace),
  (SELECT count(*) FROM pg_attribute JOIN pg_class ON attrelid = pg_class.oid
    WHERE relnamespace = 'public'::regnamespace AND NOT attisdropped),
  (SELECT count(*) FROM pg_constraint WHERE connamespace = 'public'::regnamespace),
  (SELECT count(*) FROM pg_trigger WHERE NOT tgisinternal),
  (SELECT count(*) FROM pg_proc WHERE pronamespace = 'public'::regnamespace),
  (SELECT count(*) FROM pg_db_role_setting JOIN pg_database ON setdatabase = pg_database.oid
    WHERE datname = current_database()))::TEXT AS shape`

async function pristineOf(client: Client): Promise<Pristine> {
  const names = (await client.query(TABLES)).rows as { name: string }[]
  const tables: { name: string; rows: readonly unknown[] }[] = []
  for (const { name } of names) {
    const { rows } = await client.query(`SELECT coalesce(json_agg(it), '[]') AS rows FROM "${name}" it`)
    tables.push({ name, rows: (rows[0] as { rows: unknown[] }).rows })
  }
  const sequences = (await client.query(SEQUENCES)).rows as Pristine['sequences']
  return { shape: await shapeOf(client), tables, sequences }
}

async function shapeOf(client: Client): Promise<string> {
  return ((await client.query(SHAPE)).rows[0] as { shape: string }).shape
}

/** Returns false when more than rows changed. Such a database is not lent again. */
async function restore(client: Client, pristine: Pristine): Promise<boolean> {
  if ((await shapeOf(client)) !== pristine.shape) return false
  await client.query(
    `SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
     WHERE datname = current_database() AND pid <> pg_backend_pid()`,
  )
  await client.query('SET session_replication_role = replica')
  await client.query(['BEGIN', ...pristine.tables.map(({ name }) => `DELETE FROM "${name}"`)].join(';'))
  for (const { name, rows } of pristine.tables) {
    if (rows.length === 0) continue
    await client.query(`INSERT INTO "${name}" SELECT * FROM json_populate_recordset(NULL::"${name}", $1)`, [
      JSON.stringify(rows),
    ])
  }
  for (const { name, at, called } of pristine.sequences) {
    await client.query('SELECT setval($1, $2, $3)', [`"${name}"`, at, called])
  }
  await client.query('COMMIT')
  return true
}
