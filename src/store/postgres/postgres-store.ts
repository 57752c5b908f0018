// The shared store: PostgreSQL for several nodes. It uses the same verbs as the embedded store, with a writer
// connection, a pool for reads, and a connection that listens for other nodes.
import { defined, type Hint, type Store, SwitchboardError } from '../../contract/index.ts'
import { assembleStore, type StoreEngine } from '../assemble.ts'
import type { GroupIdentity } from '../group.ts'
import { createMac } from '../mac.ts'
import type { Steps } from '../statement.ts'
import { freshTag, ownerName, type StoreDeps } from '../store-deps.ts'
import { createWriterMemory, type Verb } from '../verb-context.ts'
import { createClient, createExecutor, createPool, drive, inTransaction, SNAPSHOT } from './connection.ts'
import { askTime } from './database-time.ts'
import { drawTokens } from './draw-tokens.ts'
import { postgresError } from './errors.ts'
import { createHintListener } from './listener.ts'
import { createNotifier } from './notifier.ts'
import { checkPostgres, migratePostgres } from './schema.ts'
import { createWriter } from './writer.ts'

export interface PostgresStoreOptions extends StoreDeps {
  readonly url: string
  /** For commands without a daemon: no writes and no migration. */
  readonly readOnly?: boolean
}

/**
 * Opens the store. Throws `store_unavailable` when the server cannot be reached, `store_corrupt` for a database of a
 * newer version.
 */
export async function createPostgresStore(options: PostgresStoreOptions): Promise<Store> {
  const { url, clock, random, node, log } = options
  const readOnly = options.readOnly ?? false
  const tag = await guarded(() => prepare(options, () => freshTag(random)))
  const mac = createMac(options.ledgerKey)
  const identity: GroupIdentity = {
    node,
    owner: ownerName(options),
    tag,
    random,
    // Another node may raise a generation at any time, so every commit looks sessions up.
    memory: createWriterMemory(false),
  }
  const listeners: ((hint: Hint, from: string | null) => void)[] = []
  const tell = (hint: Hint, from: string | null): void => {
    for (const listen of listeners) listen(hint, from)
  }
  const pool = createPool(url, defined({ max: options.readers }))
  pool.on('error', () => undefined)
  const fileConnections = createFileConnections(url)
  const listener = createHintListener({ url, clock, self: identity.owner, tell })
  const { hasOthers } = listener
  const notifier = createNotifier({ url, clock, self: identity.owner, hasOthers })
  const writer = createWriter({
    url,
    clock,
    mac,
    identity: () => identity,
    tell: (hint) => tell(hint, null),
    notifier,
    ...defined({ onDatabaseTime: options.onDatabaseTime, crashPoint: options.crashPoint, log }),
    ...defined({ unhurriedMs: options.unhurriedMs }),
  })
  if (!readOnly) await listener.start()
  let closed = false
  let told = 0

  const reading = createExecutor(pool)
  const engine: StoreEngine = {
    tag,
    owner: identity.owner,
    shared: true,
    clock,
    mac,
    write<Args, Result>(verb: Verb<Args, Result>, args: Args, unhurried = false): Promise<Result> {
      if (closed || readOnly) return Promise.reject(closed ? closedError() : readOnlyError())
      return new Promise<Result>((resolve, reject) => {
        const call = {
          verb: verb as Verb<unknown, unknown>,
          args,
          resolve: resolve as (result: unknown) => void,
          reject,
        }
        writer.submit(call, unhurried)
      })
    },
    read<Result>(steps: Steps<Result>): Promise<Result> {
      if (closed) return Promise.reject(closedError())
      return guarded(() => drive(steps, reading))
    },
    readLong<Result>(steps: Steps<Result>): Promise<Result> {
      if (closed) return Promise.reject(closedError())
      return guarded(() => inTransaction(pool, SNAPSHOT, steps))
    },
    async writeApart(steps, args) {
      if (closed || readOnly) throw closed ? closedError() : readOnlyError()
      await guarded(() => fileConnections.write(steps(args, clock.now())))
    },
    async readApart<Result>(steps: Steps<Result>): Promise<Result> {
      if (closed) throw closedError()
      return await guarded(() => fileConnections.read(steps))
    },
    durability: () =>
      guarded(async () => {
        // Uses the committing connection, because the settings of another one prove nothing.
        const on = readOnly ? pool : await writer.connected()
        const show = async (name: string): Promise<string> => {
          const { rows } = await on.query(`SHOW ${name}`)
          return String((rows[0] as Record<string, unknown> | undefined)?.[name])
        }
        const detail = `synchronous_commit=${await show('synchronous_commit')} fsync=${await show('fsync')}`
        return { kind: 'postgres' as const, detail }
      }),
    tell(hints) {
      if (closed || readOnly || hints.length === 0) return
      notifier.tell(new Map(hints.map((hint) => [`told ${told++}`, hint])))
    },
    drawTokens: (draws) =>
      closed || readOnly
        ? Promise.reject(closed ? closedError() : readOnlyError())
        : guarded(() => drawTokens(pool, draws, clock.now())),
    onHint(listen) {
      listeners.push(listen)
    },
    onCommit: writer.onCommit,
    async close() {
      if (closed) return
      closed = true
      await writer.stop()
      await notifier.stop()
      await listener.stop()
      await pool.end()
      await fileConnections.close()
    },
  }
  return assembleStore(engine)
}

/** The number of files transferred at once. Others wait. */
const FILE_CONNECTIONS = 2
/** Includes the wait for earlier files. */
const FILE_CONNECT_TIMEOUT_MS = 15_000

/**
 * Separate connections for large data (files), so that neither commits nor reads wait behind it. They open on demand
 * and close when idle.
 */
function createFileConnections(url: string) {
  const pool = createPool(url, {
    max: FILE_CONNECTIONS,
    connectionTimeoutMillis: FILE_CONNECT_TIMEOUT_MS,
    application_name: 'switchboard-files',
  })
  pool.on('error', () => undefined)
  return {
    write: (steps: Steps<void>): Promise<void> => inTransaction(pool, 'BEGIN', steps),
    read: <Result>(steps: Steps<Result>): Promise<Result> => inTransaction(pool, SNAPSHOT, steps),
    close: (): Promise<void> => pool.end(),
  }
}

async function prepare(options: PostgresStoreOptions, tag: () => string): Promise<string> {
  const { readOnly = false, clock, onDatabaseTime } = options
  const client = createClient(options.url)
  client.on('error', () => undefined)
  await client.connect()
  try {
    // Read before any name or decision depends on the time.
    if (onDatabaseTime) await askTime(client, clock, onDatabaseTime)
    const mac = createMac(options.ledgerKey)
    return readOnly ? await checkPostgres(client) : await migratePostgres(client, tag, mac)
  } finally {
    await client.end().catch(() => undefined)
  }
}

async function guarded<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (thrown) {
    throw postgresError(thrown) ?? thrown
  }
}

function closedError(): SwitchboardError {
  return new SwitchboardError('store_unavailable', 'the store is closed')
}

function readOnlyError(): SwitchboardError {
  return new SwitchboardError('daemon_absent', 'the database is open for reading only', {
    hint: 'start the daemon with `switchboard up`',
  })
}
