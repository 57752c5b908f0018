// Keeps the running parts of the gateway (integrations, agents) as the configuration wants them: changed parts are
// restarted, unchanged ones are left alone, and a part that cannot start stops no other.
import { type Clock, type Logger, SwitchboardError } from '../contract/index.ts'

export interface Part {
  /** What it was started with. A change restarts the part. */
  readonly digest: string
  /** It reads its configuration on demand, so a change needs no restart. */
  readonly live?: boolean
  /** Loads and makes it. Returns a starter, or the reason there is nothing to run. */
  make(): Promise<string | (() => Promise<void>) | undefined>
}

export interface Parts {
  /** Why a part could not be started, for status and doctor. */
  readonly problems: ReadonlyMap<string, string>
  /**
   * Makes the running parts match. `isAtWork`: a changed part with work in progress is left alone for now; the caller
   * matches again afterwards.
   */
  match(wanted: ReadonlyMap<string, Part>, isAtWork?: (key: string) => boolean): Promise<void>
  endAll(): Promise<void>
}

/** Third-party code may hang, and must not block other parts. */
const MAKE_MS = 20_000
const START_MS = 60_000

export function createParts(deps: {
  readonly clock: Clock
  readonly log: Logger
  readonly end: (key: string) => Promise<void>
}): Parts {
  const { log } = deps
  const problems = new Map<string, string>()
  const running = new Map<string, string>()

  const within = <T>(ms: number, work: Promise<T>, done: string): Promise<T> =>
    new Promise((resolve, reject) => {
      const cancel = deps.clock.after(ms, () =>
        reject(new SwitchboardError('execution_failed', `it was not ${done} within ${ms / 1_000} s`)),
      )
      work.then(resolve, reject).finally(cancel)
    })

  const begin = async (key: string, digest: string, made: ReturnType<Part['make']>) => {
    problems.delete(key)
    running.set(key, digest)
    try {
      const start = await within(MAKE_MS, made, 'made')
      if (typeof start === 'string') problems.set(key, start)
      else if (start) await within(START_MS, start(), 'started')
    } catch (thrown) {
      const problem = thrown instanceof SwitchboardError ? thrown.message : String(thrown)
      problems.set(key, problem)
      log.error({ part: key, problem }, 'could not be started')
    }
  }

  const end = async (key: string, level: 'error' | 'warn' = 'error') => {
    running.delete(key)
    problems.delete(key)
    await deps
      .end(key)
      .catch((thrown) => log[level]({ part: key, error: String(thrown) }, 'did not stop cleanly'))
  }

  return {
    problems,
    async match(wanted, isAtWork = () => false) {
      for (const [key, digest] of [...running]) {
        const next = wanted.get(key)
        // A failed part is tried again, because its missing dependency may exist now.
        if (problems.has(key)) await end(key)
        else if (next?.live) running.set(key, next.digest)
        else if (next?.digest !== digest && !(next && isAtWork(key))) await end(key)
      }
      // Code loads in parallel; parts start one after another.
      const fresh = [...wanted].filter(([key]) => !running.has(key))
      const made = fresh.map(([key, part]) => ({ key, digest: part.digest, made: part.make() }))
      await Promise.allSettled(made.map((one) => within(MAKE_MS, one.made, 'made')))
      for (const one of made) await begin(one.key, one.digest, one.made)
    },
    async endAll() {
      for (const key of [...running.keys()]) await end(key, 'warn')
    },
  }
}
