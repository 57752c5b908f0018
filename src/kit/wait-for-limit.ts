// Asking where a limit may be reached: it is waited for so often and so long, and then told.
import { asSwitchboardError, type Clock } from '../contract/index.ts'

const MOST_WAITS = 3
const MOST_WAIT_MS = 30_000

export type AskAgain = <Answer>(ask: () => Promise<Answer>) => Promise<Answer>

/** Asks again after `rate_limited`, when the platform says; throws anything else, and a limit that takes too long. */
export function createWaitForLimit(clock: Clock): AskAgain {
  return async (ask) => {
    for (let waited = 0; ; waited++) {
      try {
        return await ask()
      } catch (thrown) {
        const { code, retryAfterMs = 0 } = asSwitchboardError(thrown, 'platform_unavailable')
        if (code !== 'rate_limited' || waited >= MOST_WAITS || retryAfterMs > MOST_WAIT_MS) throw thrown
        await new Promise<void>((resolve) => void clock.after(retryAfterMs, resolve))
      }
    }
  }
}
