// Writing again while the store is away: what is already true (an agent answered, a platform confirmed) must not be forgotten
// because the database was away for a moment.
import { asSwitchboardError, type Clock, type Logger } from '../contract/index.ts'

const FIRST_WAIT_MS = 100
const LONGEST_WAIT_MS = 5_000

export interface StoreRetry {
  /** Runs `attempt` until it succeeds; rethrows what is not retryable, or when stopped. */
  persist<T>(what: string, attempt: () => Promise<T>): Promise<T>
  stop(): void
}

export function createStoreRetry(clock: Clock, log: Logger): StoreRetry {
  let stopped = false
  return {
    async persist(what, attempt) {
      let waitMs = FIRST_WAIT_MS
      for (;;) {
        try {
          return await attempt()
        } catch (thrown) {
          const error = asSwitchboardError(thrown)
          if (error.code !== 'store_unavailable' || stopped) throw error
          log.warn({ what, error: error.message }, 'the store is away; trying again')
          await new Promise<void>((resolve) => clock.after(waitMs, resolve))
          waitMs = Math.min(waitMs * 2, LONGEST_WAIT_MS)
        }
      }
    },
    stop() {
      stopped = true
    },
  }
}
