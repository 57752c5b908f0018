// The writer of a node: one connection, one group at a time. While a group is being written, the verbs of the next one
// gather.
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
 * A node that freezes during a commit must not hold its locks for long. The server ends its transaction before other
 * lock waiters time out.
 *
 * Acknowledged means on the disk, whatever the server's default is.
 *
 * Statements are planned once per connection, by their indexes. The state of empty tables must not decide how full
 * tables are read, and a plan per run costs more than the run.
 */
export const SESSION = `SET synchronous_commit = on; SET lock_timeout = '5s'; SET statement_timeout = '15s';
  SET idle_in_transaction_session_timeout = '4s'; SET plan_cache_mode = force_generic_plan; SET jit = off;
  SET enable_seqscan = off`

export interface Writer {
  submit(call: Pending, unhurried: boolean): void
  readonly onCommit: CommitListeners['add']
  /** Returns the live connection, and opens it if needed. Throws when the database cannot be reached. */
  connected(): Promise<pg.Client>
  /** Waits for the submitted verbs. */
  stop(): Promise<void>
}

export interface WriterOptions {
  readonly url: string
  readonly clock: Clock
  readonly mac: Mac
  readonly identity: () => GroupIdentity
  /** If present, the database's time is the time of every commit. */
  readonly onDatabaseTime?: StoreDeps['onDatabaseTime']
  readonly tell: (hint: Hint) => void
  /** Informs the other nodes. */
  readonly notifier: Pick<Notifier, 'tell'>
  readonly unhurriedMs?: StoreDeps['unhurriedMs']
  readonly crashPoint?: (name: string) => void
  readonly log?: Logger
}

/**
 * Own lanes come first and are waited for. Lanes of other nodes come last and are never waited for. So a holder of a
 * foreign lane waits for no own lane, and no deadlock can form.
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
  /** The error that hit the commit on its way; null: it was confirmed. */
  readonly lost: unknown
  readonly next: Begun | null
}

/** A transaction begun in the round trip of the previous commit, with its time. */
interface Begun {
  readonly on: Pipeline
  readonly now: number
}

type Join = (hints: readonly Hint[]) => void

/** The result of a group. */
interface Settled {
  /** Resolves the calls and sends the hints. */
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
    // The outcome of the last commit is unknown. A new chain binds the old one, whatever its row says.
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

  /** If more calls wait, their transaction begins together with the commit. */
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
      // Sent after the unheard statements. A COMMIT after a failure is a rollback and reports so.
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

  /**
   * The answer to the commit was lost. Calls that can safely be repeated fail at once; the others wait until the
   * outcome is known.
   */
  const park = async (calls: readonly Pending[], done: Done): Promise<void> => {
    const away = postgresError(done.lost) ?? done.lost
    const safe = receive as Verb<unknown, unknown>
    for (const call of calls) if (call.verb === safe) call.reject(away)
    const backend = backends.get(done.on)
    const { chain, entries } = done.context
    // Without an entry the commit cannot be identified. It then contains only leases and lanes, which may be repeated.
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

  /** One call cannot be done, but the others can. */
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
      // No own lanes may follow the lanes of others.
      const join = calls.some(isForeign) ? undefined : commitListeners.joinerOf(calls)
      const settling = settle(calls, 1, join, last.next)
      // The database works on these calls while the previous ones are resolved.
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
