// Watches for a wall clock that was set back. Process timers do not notice, but stored times would not be due until the
// clock has caught up.
import type { Cancel, Clock, Logger, Store } from '../contract/index.ts'
import { keepDoing } from './keep-doing.ts'

export interface ClockWatchDeps {
  readonly store: Pick<Store, 'settleClock'>
  readonly clock: Clock
  readonly log: Logger
}

/** The same interval as the sweep of the queues. */
const LOOK_MS = 5_000

/**
 * Checks now, because the clock may have changed while nothing ran, and then repeatedly until cancelled. Never
 * rejects; failures are logged.
 */
export async function keepSettlingClock({ store, clock, log }: ClockWatchDeps): Promise<Cancel> {
  const failed = (thrown: unknown) => log.warn({ error: String(thrown) }, 'the clock could not be looked at')
  const look = async () => {
    const byMs = await store.settleClock()
    if (byMs > 0) log.warn({ byMs }, 'the clock was set back: what waits for a time was moved back with it')
  }
  await look().catch(failed)
  return keepDoing(clock, LOOK_MS, look, failed)
}
