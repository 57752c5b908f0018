// Watches for a wall clock that was set back. Timers of a process do not notice, but what is due by a time that is written
// down would wait until the clock has caught up.
import type { Cancel, Clock, Logger, Store } from '../contract/index.ts'
import { keepDoing } from './keep-doing.ts'

export interface ClockWatchDeps {
  readonly store: Pick<Store, 'settleClock'>
  readonly clock: Clock
  readonly log: Logger
}

/** As often as the queues are swept. */
const LOOK_MS = 5_000

/** Looks now, for it may have happened while nothing ran, and from then on until it is cancelled. */
export async function keepSettlingClock({ store, clock, log }: ClockWatchDeps): Promise<Cancel> {
  const failed = (thrown: unknown) => log.warn({ error: String(thrown) }, 'the clock could not be looked at')
  const look = async () => {
    const byMs = await store.settleClock()
    if (byMs > 0) log.warn({ byMs }, 'the clock was set back: what waits for a time was moved back with it')
  }
  await look().catch(failed)
  return keepDoing(clock, LOOK_MS, look, failed)
}
