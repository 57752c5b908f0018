// Time and randomness of the real world, handed to every room.
import { randomBytes, randomUUID } from 'node:crypto'
import type { Clock, Random } from '../contract/index.ts'

const LONGEST_TIMER_MS = 2_147_483_647

export function createRealClock(): Clock {
  const after: Clock['after'] = (delayMs, run) => {
    if (delayMs <= 0) {
      const immediate = setImmediate(run)
      return () => clearImmediate(immediate)
    }
    // A timer beyond 24.8 days would fire at once: it is waited for in stages.
    let timer = setTimeout(fire, Math.min(delayMs, LONGEST_TIMER_MS))
    let leftMs = delayMs - LONGEST_TIMER_MS
    function fire() {
      if (leftMs <= 0) return run()
      timer = setTimeout(fire, Math.min(leftMs, LONGEST_TIMER_MS))
      leftMs -= LONGEST_TIMER_MS
    }
    return () => clearTimeout(timer)
  }
  return { now: () => Date.now(), after }
}

export function createRealRandom(): Random {
  return { uuid: () => randomUUID(), bytes: (count) => randomBytes(count) }
}
