// The embedded store: one SQLite file with one writer. The verbs of one turn of the event loop become one BEGIN
// IMMEDIATE … COMMIT. A promise resolves only after COMMIT returned. With synchronous=FULL, the log is on the disk by
// then.
import { existsSync } from 'node:fs'
import {
  createSerial,
  type DatabaseFile,
  type Hint,
  type Store,
  SwitchboardError,
} from '../../contract/index.ts'
import { assembleStore, type StoreEngine } from '../assemble.ts'
import { createCommitListeners, type GroupIdentity, newContext, type Pending, runGroup } from '../group.ts'
import { createMac } from '../mac.ts'
import { highestPosition } from '../positions.ts'
import { verifyLedger } from '../reads/verify.ts'
import type { SequencedTable, Steps } from '../statement.ts'
import { freshTag, ownerName, type StoreDeps } from '../store-deps.ts'
import { adopt, createWriterMemory, oneByOne, type Verb, type VerbContext } from '../verb-context.ts'
import { type Connection, openConnection } from './connection.ts'
import { copyFromFile } from './copy-database.ts'
import { sqliteError } from './errors.ts'
import { type FileIdentity, fileBefore, holdIdentity } from './file-identity.ts'
import { lacking } from './rescued.ts'
import { checkSchema, freeFormerBoots, migrateSqlite } from './schema.ts'
import { createTurnPlaces } from './turn-places.ts'

export interface SqliteStoreOptions extends StoreDeps {
  readonly file: string
  /** For commands without a daemon: no writes, no migration, and the file must exist. */
  readonly readOnly?: boolean
  readonly busyTimeoutMs?: number
}

const TABLES: readonly SequencedTable[] = ['turns', 'sessions', 'outbox', 'approvals', 'ledger']

/** A turn of a busy event loop is far shorter than a disk sync. */
const TURNS_WAITED = 2

/** Frames of the log. Folding at 1,000 frames took a third of the system time of intake. */
const FOLD_AT = 4_000

/** A backup or a check reads the log for seconds. */
const CUTS_TRIED = 100
const CUT_AGAIN_MS = 100

/**
 * Opens the store. Throws `store_corrupt` for a damaged or newer file, `store_unavailable` when it cannot be opened
 * now.
 */
export async function createSqliteStore(options: SqliteStoreOptions): Promise<Store> {
  const { file, clock, random, node } = options
  const readOnly = options.readOnly ?? false
  const busyTimeoutMs = options.busyTimeoutMs ?? 2000
  if (readOnly && !existsSync(file)) {
    throw new SwitchboardError('not_found', `there is no database at ${file}`, {
      hint: 'start the daemon once with `switchboard up`, or name its folder with --data',
    })
  }
  const mac = createMac(options.ledgerKey)
  const positions: Record<SequencedTable, number> = {
    turns: 0,
    sessions: 0,
    outbox: 0,
    approvals: 0,
    ledger: 0,
  }
  const reserve = (table: SequencedTable, count: number): readonly number[] => {
    const first = positions[table] + 1
    positions[table] += count
    return Array.from({ length: count }, (_, at) => first + at)
  }
  const watched = !readOnly && file !== ':memory:'
  const before = watched ? fileBefore(file) : null
  const connection = openConnection({ file, readOnly, busyTimeoutMs, reserve })
  const tag = guarded(() =>
    readOnly ? checkSchema(connection, file) : migrateSqlite(connection, () => freshTag(random)),
  )
  if (!readOnly) guarded(() => freeFormerBoots(connection, node))
  const identity: GroupIdentity = {
    node,
    owner: ownerName(options),
    tag,
    random,
    memory: createWriterMemory(true),
  }
  const ownFile: FileIdentity | null = watched ? holdIdentity(file, before) : null
  /** What happened to the file. While it is set, nothing is written. */
  let lost: string | null = null
  const places = createTurnPlaces(connection)
  const listeners: ((hint: Hint, from: string | null) => void)[] = []
  const commitListeners = createCommitListeners()
  let queue: Pending[] = []
  let scheduled = false
  let closed = false
  let dataVersion = -1

  /**
   * Another process wrote to the file, so cached facts may be wrong. This should not happen, but a lock can be lost.
   */
  const refresh = (): void => {
    const version = pragma(connection, 'data_version')
    if (version === dataVersion) return
    dataVersion = version
    for (const table of TABLES) positions[table] = connection.drive(highestPosition(table))
    places.refresh()
    identity.memory.sessions?.clear()
    identity.memory.lanes?.clear()
    identity.memory.claimless = false
    identity.memory.heldless = false
    identity.memory.sessionFacts.clear()
    identity.memory.chain = null
  }

  const commit = (
    calls: readonly Pending[],
    join?: (hints: readonly Hint[]) => void,
  ): { results: readonly unknown[]; context: VerbContext } => {
    connection.exec('BEGIN IMMEDIATE')
    let before: Record<SequencedTable, number> | null = null
    try {
      refresh()
      before = { ...positions }
      const context = newContext(identity, clock.now())
      const results = connection.drive(runGroup(context, calls, mac, join))
      places.gather(positions.turns)
      options.crashPoint?.('store.before-commit')
      connection.exec('COMMIT')
      options.crashPoint?.('store.after-commit')
      adopt(context)
      return { results, context }
    } catch (error) {
      if (before) Object.assign(positions, before)
      places.undo()
      if (connection.inTransaction) connection.exec('ROLLBACK')
      throw error
    }
  }

  const settle = (calls: readonly Pending[], join?: (hints: readonly Hint[]) => void): void => {
    try {
      const { results, context } = commit(calls, join)
      for (const [at, call] of calls.entries()) call.resolve(results[at])
      for (const hint of context.hints.values()) for (const listen of listeners) listen(hint, null)
    } catch (thrown) {
      const away = sqliteError(thrown)
      // A failing verb does not fail its neighbours: each gets its own commit.
      if (!away && calls.length > 1) for (const call of calls) settle([call])
      else for (const call of calls) call.reject(away ?? thrown)
    }
  }

  let unhurriedFlush: NodeJS.Timeout | null = null
  let seen = 0
  let waited = 0

  /**
   * While calls still arrive with every turn of the event loop, it waits for a turn or two, so that they share the
   * sync.
   */
  const flushSoon = (): void => {
    if (queue.length > seen && waited < TURNS_WAITED) {
      seen = queue.length
      waited += 1
      setImmediate(flushSoon)
    } else flush()
  }

  const flush = (): void => {
    seen = 0
    waited = 0
    scheduled = false
    if (unhurriedFlush !== null) clearTimeout(unhurriedFlush)
    unhurriedFlush = null
    const calls = queue
    queue = []
    if (calls.length > 0) lost ??= ownFile?.damage(clock.now()) ?? null
    if (lost !== null) for (const call of calls) call.reject(lostError(file, lost))
    else if (calls.length > 0) {
      settle(calls, commitListeners.joinerOf(calls))
      ownFile?.wrote()
      if (ownFile && ownFile.logFrames() >= FOLD_AT) foldSoon(ownFile)
    }
  }

  let foldsSoon = false
  /** Runs after the callers of the commit were informed, because a fold has its own syncs. */
  const foldSoon = (own: FileIdentity): void => {
    if (foldsSoon) return
    foldsSoon = true
    setImmediate(() => {
      foldsSoon = false
      if (closed) return
      lost ??= own.damage(clock.now())
      if (lost !== null) return
      connection.foldLog()
      own.folded()
    })
  }

  /** Pages of two databases can fit together. Only the chain proves their origin. */
  const unverified = async (copy: string): Promise<string | null> => {
    const reading = openConnection({ file: copy, readOnly: true, busyTimeoutMs, reserve })
    const report = await driveSlowly(reading, verifyLedger(tag, mac, undefined))
    return report.ok ? null : 'its chain does not hold'
  }

  const databaseFile = (held: FileIdentity): DatabaseFile => ({
    path: file,
    misplaced() {
      if (!closed) lost = held.difference(clock.now())
      return lost
    },
    wipeFree: () => oneWipe(() => wipeFree(held)),
    async copyTo(to, onProgress) {
      if (closed) throw closedError()
      if (lost === null) return copyFromFile(file, to, onProgress)
      await connection.copyTo(to, onProgress)
      const damaged = held.damage(clock.now()) !== null
      const lacks =
        lacking(to, { tag, chain: identity.memory.chain, deep: damaged }) ??
        (damaged ? await unverified(to) : null)
      if (lacks !== null)
        throw new SwitchboardError('store_corrupt', `what it held is not whole any more: ${lacks}`)
    },
  })

  const oneWipe = createSerial()
  /**
   * An update of a long row leaves its former overflow pages free, whatever is erased later. They may be gigabytes, so
   * other writes run between two pieces.
   */
  const wipeFree = async (held: FileIdentity): Promise<void> => {
    const mayWrite = () => {
      if (closed) throw closedError()
      lost ??= held.damage(clock.now())
      if (lost !== null) throw lostError(file, lost)
    }
    const pieces = connection.wipeFree()
    for (let isOver = false; !isOver; ) {
      mayWrite()
      isOver = guarded(() => pieces.next().done === true)
      held.folded()
      await new Promise<void>((resolve) => setImmediate(resolve))
    }
    for (let tries = 0; tries < CUTS_TRIED; tries++) {
      mayWrite()
      if (guarded(() => connection.cutLog())) return
      await new Promise<void>((resolve) => setTimeout(resolve, CUT_AGAIN_MS))
    }
    // A reader used the log for too long. The erased text in the log is overwritten as it is reused, and the log is cut
    // at the end.
  }

  const engine: StoreEngine = {
    tag,
    ...(ownFile ? { file: databaseFile(ownFile) } : {}),
    owner: identity.owner,
    shared: false,
    clock,
    mac,
    write<Args, Result>(verb: Verb<Args, Result>, args: Args, unhurried = false): Promise<Result> {
      if (closed || readOnly) return Promise.reject(closed ? closedError() : readOnlyError())
      if (lost !== null) return Promise.reject(lostError(file, lost))
      return new Promise<Result>((resolve, reject) => {
        const call: Pending = {
          verb: verb as Verb<unknown, unknown>,
          args,
          resolve: resolve as (result: unknown) => void,
          reject,
        }
        if (commitListeners.takes(call)) return
        queue.push(call)
        if (scheduled) return
        if (unhurried && options.unhurriedMs) {
          unhurriedFlush ??= setTimeout(flush, options.unhurriedMs)
          return
        }
        scheduled = true
        setImmediate(flushSoon)
      })
    },
    async read<Result>(steps: Steps<Result>): Promise<Result> {
      if (closed) throw closedError()
      return guarded(() => connection.drive(steps))
    },
    async readLong<Result>(steps: Steps<Result>): Promise<Result> {
      if (closed) throw closedError()
      // The path of a lost file leads to another database, or to none.
      if (file === ':memory:' || lost !== null) return guarded(() => connection.drive(steps))
      return await driveSlowly(openConnection({ file, readOnly: true, busyTimeoutMs, reserve }), steps)
    },
    // One process and one disk: the group is the only writer.
    writeApart: (steps, args) =>
      engine.write(
        oneByOne((context: VerbContext, of: typeof args) => steps(of, context.now)),
        args,
      ),
    readApart: (steps) => engine.read(steps),
    async durability() {
      const synchronous = pragma(connection, 'synchronous')
      if (!readOnly && synchronous !== 2) {
        throw new SwitchboardError(
          'internal',
          `synchronous is ${synchronous} on the live connection, not FULL`,
        )
      }
      const journal = connection.execute({ form: 'rows', sql: 'PRAGMA journal_mode', params: [] })
      const mode = (journal as readonly { journal_mode: string }[])[0]?.journal_mode
      const level = readOnly ? 'read-only' : 'synchronous=FULL'
      return { kind: 'sqlite', detail: `journal_mode=${mode} ${level}` }
    },
    // There is no other node.
    tell: () => undefined,
    onHint(listen) {
      listeners.push(listen)
    },
    onCommit: commitListeners.add,
    async close() {
      if (closed) return
      flush()
      closed = true
      // Closing would remove the log at the path, which may belong to another database by now.
      if (lost === null) guarded(() => connection.close())
      ownFile?.release()
    },
  }
  // A wipe was killed halfway. Erased data may remain, and the file is larger than necessary.
  if (ownFile && connection.isHalfWiped()) oneWipe(() => wipeFree(ownFile)).catch(() => undefined)
  return assembleStore(engine)
}

function guarded<Result>(work: () => Result): Result {
  try {
    return work()
  } catch (thrown) {
    throw sqliteError(thrown) ?? thrown
  }
}

/** Runs on a separate connection and snapshot, with room for other work between statements. */
async function driveSlowly<Result>(connection: Connection, steps: Steps<Result>): Promise<Result> {
  try {
    connection.exec('BEGIN')
    let step = steps.next(undefined)
    while (!step.done) {
      const statement = step.value
      step = steps.next(guarded(() => connection.execute(statement)))
      await new Promise<void>((resolve) => setImmediate(resolve))
    }
    return step.value
  } finally {
    // Not left to `close`: an open snapshot would prevent every fold of the log.
    if (connection.inTransaction) connection.exec('ROLLBACK')
    connection.close()
  }
}

function pragma(connection: Connection, name: 'data_version' | 'synchronous'): number {
  const answer = connection.execute({ form: 'rows', sql: `PRAGMA ${name}`, params: [] })
  return Number((answer as readonly Record<string, number>[])[0]?.[name] ?? 0)
}

function closedError(): SwitchboardError {
  return new SwitchboardError('store_unavailable', 'the store is closed')
}

function lostError(file: string, what: string): SwitchboardError {
  return new SwitchboardError('store_unavailable', `the database ${file} ${what}`, {
    hint: 'what it held is copied into a file of its own: `switchboard doctor` says where',
    retryAfterMs: 1000,
  })
}

function readOnlyError(): SwitchboardError {
  return new SwitchboardError('daemon_absent', 'the database is open for reading only', {
    hint: 'start the daemon with `switchboard up`',
  })
}
