// Writing again while the store is away: what is already true (an agent answered, a platform confirmed) must not be forgotten
// because the database was away for a moment.
import { asSwitchboardError, type Clock, type Logger, type Store } from '../contract/index.ts'

const FIRST_WAIT_MS = 100
const LONGEST_WAIT_MS = 5_000

export interface StoreRetry {
  /** Runs `attempt` until it succeeds; rethrows what is not retryable, or when stopped. */
  persist<T>(what: string, attempt: () => Promise<T>): Promise<T>
  /** The same, but what comes later in this line waits until this has ended, so that it does not overtake it. */
  persistInLine<T>(line: string, what: string, attempt: () => Promise<T>): Promise<T>
  /** A stop begins: it waits for a store that is away, but not for a file that was taken away, which nobody puts back now. */
  hurry(): void
  stop(): void
}

export function createStoreRetry(clock: Clock, log: Logger, store: Pick<Store, 'file'>): StoreRetry {
  let stopped = false
  const waiting = new Set<() => void>()

  const pause = (ms: number) =>
    new Promise<void>((resolve) => {
      const done = () => {
        cancel()
        waiting.delete(done)
        resolve()
      }
      const cancel = clock.after(ms, done)
      waiting.add(done)
    })

  const stop = () => {
    stopped = true
    for (const done of [...waiting]) done()
  }

  const persist: StoreRetry['persist'] = async (what, attempt) => {
    let waitMs = FIRST_WAIT_MS
    for (;;) {
      try {
        return await attempt()
      } catch (thrown) {
        const error = asSwitchboardError(thrown)
        if (error.code !== 'store_unavailable' || stopped) throw error
        log.warn({ what, error: error.message }, 'the store is away; trying again')
        await pause(waitMs)
        waitMs = Math.min(waitMs * 2, LONGEST_WAIT_MS)
      }
    }
  }

  /** In each line: what runs now, and what came meanwhile. */
  const lines = new Map<string, { waiting: (() => Promise<void>)[] }>()

  /** What came while others were written goes together, so that it can share a commit. */
  const runLine = async (line: string, { waiting }: { waiting: (() => Promise<void>)[] }) => {
    // What comes in the same breath goes along.
    await null
    while (waiting.length > 0) await Promise.all(waiting.splice(0).map((run) => run()))
    lines.delete(line)
  }

  return {
    persist,
    persistInLine: (line, what, attempt) =>
      new Promise((resolve, reject) => {
        const known = lines.get(line)
        const own = known ?? { waiting: [] }
        own.waiting.push(() => persist(what, attempt).then(resolve, reject))
        if (known) return
        lines.set(line, own)
        void runLine(line, own)
      }),
    hurry() {
      if ((store.file?.misplaced() ?? null) !== null) stop()
    },
    stop,
  }
}
