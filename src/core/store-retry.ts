// Repeats writes while the store is unavailable. Facts that are already true (an agent answered, a platform confirmed)
// must survive a short database outage.
import { asSwitchboardError, type Clock, type Logger, type Store } from '../contract/index.ts'

const FIRST_WAIT_MS = 100
const LONGEST_WAIT_MS = 5_000

export interface StoreRetry {
  /**
   * Runs `attempt` until it succeeds. Rethrows an error other than `store_unavailable`, and any error after a stop.
   */
  persist<T>(what: string, attempt: () => Promise<T>): Promise<T>
  /** The same, in order: later writes of this line wait until this one has ended and cannot overtake it. */
  persistInLine<T>(line: string, what: string, attempt: () => Promise<T>): Promise<T>
  /**
   * Called when a stop begins. A stop waits for an unavailable store. It does not wait for a removed database file,
   * which will not return now.
   */
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

  /** For each line, the writes that wait behind the running ones. */
  const lines = new Map<string, { waiting: (() => Promise<void>)[] }>()

  /** Writes that arrived meanwhile run together, so they can share a commit. */
  const runLine = async (line: string, { waiting }: { waiting: (() => Promise<void>)[] }) => {
    // Writes from the same tick join.
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
