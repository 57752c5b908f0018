// The writer of a node: one connection, one group at a time. While a group is on its way, the verbs of the next gather.
import type pg from 'pg'
import { type Clock, type Hint, type Logger, SwitchboardError } from '../../contract/index.ts'
import {
  type CommitListeners,
  createCommitListeners,
  type GroupIdentity,
  newContext,
  type Pending,
  runGroupInWaves,
} from '../group.ts'
import type { Mac } from '../mac.ts'
import type { StoreDeps } from '../store-deps.ts'
import { adopt, type Verb, type VerbContext } from '../verb-context.ts'
import { receive } from '../verbs/receive/receive.ts'
import { acceptFor } from '../verbs/turns/move-turns.ts'
import { createExecutor, drive } from './connection.ts'
import { begin } from './database-time.ts'
import { isCollision, isConnectionLoss, postgresError } from './errors.ts'
import type { Notifier } from './notifier.ts'
import { createPipeline, type Pipeline } from './pipeline.ts'
import { type Backend, backendOf, createUnheardCommits } from './unheard-commits.ts'

const COLLISION_TRIES = 5
const FIRST_WAIT_MS = 100
const LONGEST_WAIT_MS = 5_000

/**
 * A node that freezes in the middle of a commit must not hold its locks for long: the server ends its transaction, before
 * those who wait for a lock lose patience.
 * Acknowledged means on the disk, whatever the server's default is.
 * Statements are planned once a connection, by their indexes: what the tables are like while they are empty must not
 * decide how they are read when they are full, and a plan for each run costs more than the run.
 */
export const SESSION = `SET synchronous_commit = on; SET lock_timeout = '5s'; SET statement_timeout = '15s';
  SET idle_in_transaction_session_timeout = '4s'; SET plan_cache_mode = force_generic_plan; SET jit = off;
  SET enable_seqscan = off`

export interface Writer {
  submit(call: Pending, unhurried: boolean): void
  readonly onCommit: CommitListeners['add']
  /** The live connection, opened if need be. */
  connected(): Promise<pg.Client>
  /** Waits for the verbs that were submitted. */
  stop(): Promise<void>
}

export interface WriterOptions {
  readonly url: string
  readonly clock: Clock
  readonly mac: Mac
  readonly identity: () => GroupIdentity
  /** Present: the database's time is the time of every commit. */
  readonly onDatabaseTime?: StoreDeps['onDatabaseTime']
  readonly tell: (hint: Hint) => void
  /** Tells the other nodes. */
  readonly notifier: Pick<Notifier, 'tell'>
  readonly unhurriedMs?: StoreDeps['unhurriedMs']
  readonly crashPoint?: (name: string) => void
  readonly log?: Logger
}

/**
 * Own lanes first, and waited for; those of other nodes last, and never waited for: so nobody who has a lane of another
 * node waits for one of its own, and no circle can close.
 */
function foreignLast(calls: readonly Pending[]): Pending[] {
  const last = calls.filter(isForeign)
  return last.length === 0 ? [...calls] : [...calls.filter((call) => !isForeign(call)), ...last]
}

function isForeign({ verb }: Pending): boolean {
  return verb === (acceptFor as Verb<unknown, unknown>)
}

interface Done {
  readonly results: readonly unknown[]
  readonly context: VerbContext
  readonly on: pg.Client
  /** What broke while the commit was on its way; null: it was confirmed. */
  readonly lost: unknown
  readonly next: Begun | null
}

/** A transaction that was begun in the round trip of the commit before it, and its time. */
interface Begun {
  readonly on: Pipeline
  readonly now: number
}

type Join = (hints: readonly Hint[]) => void

/** A group that was dealt with. */
interface Settled {
  /** Says so to those who called. */
  readonly deliver: () => void
  readonly next: Begun | null
}

const NOTHING_TO_SAY: Settled = { deliver: () => undefined, next: null }

export function createWriter(options: WriterOptions): Writer {
  const { url, clock, mac, log } = options
  let pipeline: Pipeline | null = null
  let queue: Pending[] = []
  let running: Promise<void> | null = null
  let unhurriedFlush: NodeJS.Timeout | null = null
  let retryAt = 0
  let waitMs = FIRST_WAIT_MS
  const unheard = createUnheardCommits(url, clock)
  const commitListeners = createCommitListeners()
  const parked = new Set<Promise<void>>()
  const backends = new WeakMap<pg.Client, Backend>()

  const drop = (lost: pg.Client): void => {
    if (pipeline?.client !== lost) return
    pipeline = null
    // Whether the last commit held is not known: a new chain binds whatever the old one's row says.
    options.identity().memory.chain = null
    log?.warn({}, 'the connection to the database was lost')
    void lost.end().catch(() => undefined)
  }

  const connected = async (): Promise<Pipeline> => {
    if (pipeline) return pipeline
    if (clock.now() < retryAt) {
      throw new SwitchboardError('store_unavailable', 'the database is away', {
        hint: 'it is tried again by itself',
        retryAfterMs: retryAt - clock.now(),
      })
    }
    const made = createPipeline(url)
    const fresh = made.client
    fresh.on('error', () => drop(fresh))
    try {
      await fresh.connect()
      await fresh.query(SESSION)
      backends.set(fresh, await backendOf(fresh))
    } catch (thrown) {
      retryAt = clock.now() + waitMs
      waitMs = Math.min(waitMs * 2, LONGEST_WAIT_MS)
      void fresh.end().catch(() => undefined)
      throw thrown
    }
    waitMs = FIRST_WAIT_MS
    retryAt = 0
    pipeline = made
    return made
  }

  /** Where more is to be done already, it is begun along with the commit. */
  const beginNext = async (on: Pipeline): Promise<Begun | null> => {
    if (queue.length === 0) return null
    const now = await begin(on, clock, options.onDatabaseTime).catch(() => null)
    return now === null ? null : { on, now }
  }

  const commit = async (calls: readonly Pending[], join?: Join, begun?: Begun | null): Promise<Done> => {
    const ready = begun && begun.on === pipeline ? begun : null
    const made = ready?.on ?? (await connected())
    const on = made.client
    const execute = createExecutor(on, made)
    let done: Done | null = null
    try {
      const now = ready?.now ?? (await begin(made, clock, options.onDatabaseTime))
      const context: VerbContext = newContext(options.identity(), now)
      const results = await drive(runGroupInWaves(context, calls, mac, join), execute)
      options.crashPoint?.('store.before-commit')
      done = { results, context, on, lost: null, next: null }
      // Sent behind what is not waited for. A commit of what failed is a rollback, and says so.
      const committed = made.ask('COMMIT', [])
      const beginning = beginNext(made)
      made.send()
      const { command } = await committed
      execute.check()
      if (command !== 'COMMIT') throw new Error(`the database answered ${command} to a commit`)
      options.crashPoint?.('store.after-commit')
      adopt(context)
      return { ...done, next: await beginning }
    } catch (thrown) {
      made.discard(thrown)
      if (!isConnectionLoss(thrown)) {
        await on.query('ROLLBACK').catch(() => drop(on))
        throw thrown
      }
      drop(on)
      if (!done) throw thrown
      return { ...done, lost: thrown }
    }
  }

  /** The answer to the commit was lost. Whoever can safely ask again is told at once, the others when it is known. */
  const park = async (calls: readonly Pending[], done: Done): Promise<void> => {
    const away = postgresError(done.lost) ?? done.lost
    const safe = receive as Verb<unknown, unknown>
    for (const call of calls) if (call.verb === safe) call.reject(away)
    const backend = backends.get(done.on)
    const { chain, entries } = done.context
    // Without an entry there is nothing to know it by, and nothing in it that may not be done again: leases, lanes.
    const known = backend !== undefined && chain !== null && entries.length > 0
    const held = known && (await unheard.outcome(backend, chain).catch(() => false))
    for (const [at, call] of calls.entries()) {
      if (held) call.resolve(done.results[at])
      else call.reject(away)
    }
    if (held) tellAll(done.context)
  }

  const tellAll = ({ hints }: VerbContext): void => {
    options.notifier.tell(hints)
    for (const hint of hints.values()) options.tell(hint)
  }

  const settle = async (
    calls: readonly Pending[],
    tries = 1,
    join?: Join,
    begun?: Begun | null,
  ): Promise<Settled> => {
    try {
      const done = await commit(calls, join, begun)
      if (done.lost !== null) {
        const waiting = park(calls, done).finally(() => parked.delete(waiting))
        parked.add(waiting)
        return NOTHING_TO_SAY
      }
      const deliver = () => {
        for (const [at, call] of calls.entries()) call.resolve(done.results[at])
        tellAll(done.context)
      }
      return { deliver, next: done.next }
    } catch (thrown) {
      if (isCollision(thrown) && tries < COLLISION_TRIES) return await settle(calls, tries + 1)
      const away = postgresError(thrown)
      if (!away && calls.length > 1) return await oneByOne(calls)
      for (const call of calls) call.reject(away ?? thrown)
      return NOTHING_TO_SAY
    }
  }

  /** One of them cannot be done: the others can. */
  const oneByOne = async (calls: readonly Pending[]): Promise<Settled> => {
    let last = NOTHING_TO_SAY
    for (const call of calls) {
      const settling = settle([call], 1, undefined, last.next)
      last.deliver()
      last = await settling
    }
    return last
  }

  const run = async (): Promise<void> => {
    if (unhurriedFlush !== null) clearTimeout(unhurriedFlush)
    unhurriedFlush = null
    await new Promise<void>((resolve) => setImmediate(resolve))
    let last = NOTHING_TO_SAY
    while (queue.length > 0) {
      const calls = foreignLast(queue)
      queue = []
      // Nothing of our own comes behind the lanes of others.
      const join = calls.some(isForeign) ? undefined : commitListeners.joinerOf(calls)
      const settling = settle(calls, 1, join, last.next)
      // The database is at work on these while those before them hear what became of them.
      last.deliver()
      last = await settling
    }
    last.deliver()
    running = null
  }

  return {
    submit(call, unhurried) {
      if (commitListeners.takes(call)) return
      queue.push(call)
      if (!unhurried || !options.unhurriedMs) running ??= run()
      else if (!running) unhurriedFlush ??= setTimeout(() => (running ??= run()), options.unhurriedMs)
    },
    onCommit: commitListeners.add,
    connected: async () => (await connected()).client,
    async stop() {
      if (queue.length > 0) running ??= run()
      await running
      unheard.stop()
      await Promise.all(parked)
      await pipeline?.client.end().catch(() => undefined)
      pipeline = null
    },
  }
}
