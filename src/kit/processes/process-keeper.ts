// The keeper of processes. It starts them within a limit, waits until they are ready, delays repeated failures, ends
// those that use too much memory, and reports what runs. Each agent has one keeper. All records are in one place of the
// data folder.
import {
  asSwitchboardError,
  type Cancel,
  type Clock,
  createBoundedMap,
  defined,
  type Logger,
  type ProcessView,
  type Random,
  SwitchboardError,
} from '../../contract/index.ts'
import { backoffMs } from '../link/backoff.ts'
import { createGroupWatcher } from './group-watcher.ts'
import { type KeptProcess, type ProcessLaunch, startProcess } from './kept-process.ts'
import { processRows, residentBytes } from './proc-table.ts'
import { createProcessRecords } from './process-records.ts'

export interface ProcessLimits {
  readonly processes: number
  /** How many processes only wait for a person. Each gives its place away, to at most as many more. */
  readonly waiting?: () => number
  /** The memory of one process with its family; null: unlimited. */
  readonly memoryBytes: number | null
}

export interface KeeperTimings {
  /** From the start until it is ready. */
  readonly readyMs: number
  /** Between the end of its input and SIGTERM, and from there to SIGKILL. */
  readonly graceMs: number
  readonly writeTimeoutMs: number
  readonly memoryEveryMs: number
  readonly retryBaseMs: number
  readonly retryMaxMs: number
  /** After running this long, the next failure counts as a first one. */
  readonly stableMs: number
}

const DEFAULT_TIMINGS: KeeperTimings = {
  readyMs: 30_000,
  graceMs: 2_000,
  writeTimeoutMs: 10_000,
  memoryEveryMs: 10_000,
  retryBaseMs: 1_000,
  retryMaxMs: 60_000,
  stableMs: 30_000,
}

export interface ProcessKeeper {
  /**
   * Starts a process. `ready` resolves when it can be used. If that takes too long, the process is ended. Throws
   * `agent_absent` with `retryAfterMs` when there is no room, when the last start of that name failed just now, or when
   * the start fails.
   */
  start(
    name: string,
    launch: ProcessLaunch,
    ready?: (process: KeptProcess) => Promise<unknown>,
  ): Promise<KeptProcess>
  /** Whether one more may be started. */
  hasRoom(): boolean
  all(): readonly KeptProcess[]
  view(): readonly ProcessView[]
  /** Ends all of them and waits for it. */
  stop(): Promise<void>
}

export interface ProcessKeeperConfig {
  /** Where its records lie: see `reapProcesses`. */
  readonly folder: string
  readonly limits: ProcessLimits
  readonly timings?: Partial<KeeperTimings>
  /** The PATH of the watcher's shell. */
  readonly path?: string
}

export interface ProcessKeeperDeps {
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
}

const NAMES = 10_000
const FULL_MS = 1_000

export function createProcessKeeper(config: ProcessKeeperConfig, deps: ProcessKeeperDeps): ProcessKeeper {
  const { clock, random, log } = deps
  const timings = { ...DEFAULT_TIMINGS, ...config.timings }
  const records = createProcessRecords(config.folder)
  const watcher = createGroupWatcher({ log, path: config.path ?? '/usr/local/bin:/usr/bin:/bin' })
  const running = new Map<KeptProcess, { bytes: number | null }>()
  const failures = createBoundedMap<string, { readonly count: number; readonly until: number }>(NAMES)
  const starting = new Set<Promise<KeptProcess>>()
  let stopped = false
  let cancelLook: Cancel | null = null

  const full = () => {
    const { processes, waiting } = config.limits
    const used = running.size + starting.size
    return used >= processes && used >= processes + Math.min(waiting?.() ?? 0, processes)
  }

  const noteFailure = (name: string) => {
    const count = (failures.get(name)?.count ?? 0) + 1
    const pauseMs = backoffMs(count, { baseMs: timings.retryBaseMs, maxMs: timings.retryMaxMs }, random)
    failures.set(name, { count, until: clock.now() + pauseMs })
    return pauseMs
  }

  /** Measures all of them, and ends those that use too much memory. */
  const look = () => {
    cancelLook = null
    const { memoryBytes } = config.limits
    const rows = processRows()
    for (const [process, note] of running) {
      note.bytes = residentBytes(process.pid, rows)
      if (memoryBytes === null || note.bytes === null || note.bytes <= memoryBytes) continue
      const held = `it held ${mib(note.bytes)} MiB of memory, more than ${mib(memoryBytes)}`
      log.warn({ name: process.name, pid: process.pid, bytes: note.bytes }, 'a process held too much memory')
      void process.end(held, 'now')
    }
    lookLater()
  }
  const lookLater = () => {
    if (running.size > 0) cancelLook ??= clock.after(timings.memoryEveryMs, look)
  }

  const adopt = (process: KeptProcess) => {
    running.set(process, { bytes: null })
    lookLater()
    void process.ended.then((end) => {
      running.delete(process)
      const lived = clock.now() - process.startedAt
      if (lived >= timings.stableMs || end.asked !== null) failures.delete(process.name)
      else noteFailure(process.name)
      log.info({ name: process.name, pid: process.pid, how: end.words }, 'a process ended')
    })
  }

  const begin = async (name: string, launch: ProcessLaunch): Promise<KeptProcess> => {
    const mark = Buffer.from(random.bytes(16)).toString('hex')
    const started = startProcess(name, launch, { ...deps, ...timings, watcher, records, mark })
    starting.add(started)
    try {
      const process = await started
      adopt(process)
      return process
    } finally {
      starting.delete(started)
    }
  }

  const becomeReady = (process: KeptProcess, ready: (process: KeptProcess) => Promise<unknown>) =>
    new Promise<void>((resolve, reject) => {
      const cancel = clock.after(timings.readyMs, () =>
        reject(
          new SwitchboardError(
            'agent_absent',
            `${process.name} was not ready within ${timings.readyMs / 1_000} s`,
          ),
        ),
      )
      void process.ended.then(({ words }) =>
        reject(new SwitchboardError('agent_absent', `${process.name} did not become ready: ${words}`)),
      )
      // A process with closed input is ending, and its end says why. A running one was given no work yet.
      const failed = (thrown: unknown) => {
        if (!(thrown instanceof SwitchboardError && thrown.code === 'outcome_unknown')) return reject(thrown)
        const words = `${process.name} did not become ready: ${thrown.message}`
        clock.after(timings.graceMs, () => reject(new SwitchboardError('agent_absent', words)))
      }
      ready(process)
        .then(() => resolve(), failed)
        .finally(cancel)
    })

  return {
    async start(name, launch, ready) {
      const refuse = (why: string, retryAfterMs: number) =>
        new SwitchboardError('agent_absent', why, { retryAfterMs })
      if (stopped) throw refuse('the agent is being stopped', FULL_MS)
      const failed = failures.get(name)
      const waitMs = (failed?.until ?? 0) - clock.now()
      if (failed && waitMs > 0)
        throw refuse(`${name} failed ${failed.count} times; the next start is later`, waitMs)
      if (full())
        throw new SwitchboardError(
          'agent_absent',
          `${config.limits.processes} processes run already (max_processes)`,
          {
            ...{ retryAfterMs: FULL_MS, busy: true },
          },
        )
      let process: KeptProcess | null = null
      try {
        process = await begin(name, launch)
        if (stopped) throw refuse('the agent is being stopped', FULL_MS)
        if (ready) await becomeReady(process, ready)
        return process
      } catch (thrown) {
        const error = asSwitchboardError(thrown, 'agent_absent')
        const ended = process?.isAlive() === true
        if (process) await process.end('it did not become ready', 'now')
        // A process that ended by itself was counted at its end.
        const retryAfterMs =
          process === null || ended
            ? noteFailure(name)
            : Math.max(0, (failures.get(name)?.until ?? 0) - clock.now())
        throw new SwitchboardError(error.code, error.message, {
          retryAfterMs,
          cause: error,
          ...defined({ hint: error.hint }),
        })
      }
    },
    hasRoom: () => !stopped && !full(),
    all: () => [...running.keys()],
    view: () =>
      [...running].map(([process, { bytes }]) => ({
        name: process.name,
        pid: process.pid,
        startedAt: process.startedAt,
        memoryBytes: bytes,
        stderr: process.stderr(),
      })),
    async stop() {
      stopped = true
      cancelLook?.()
      await Promise.allSettled([...starting])
      await Promise.all([...running.keys()].map((process) => process.end('the agent is being stopped')))
      watcher.stop()
    },
  }
}

function mib(bytes: number): number {
  return Math.round(bytes / 1_048_576)
}
