// Real time and randomness, which are passed to every room.
import { randomFillSync, randomUUID } from 'node:crypto'
import type { Clock, Random } from '../contract/index.ts'

const LONGEST_TIMER_MS = 2_147_483_647

export function createRealClock(): Clock {
  const after: Clock['after'] = (delayMs, run) => {
    if (delayMs <= 0) {
      const immediate = setImmediate(run)
      return () => clearImmediate(immediate)
    }
    // A timer beyond 24.8 days would fire at once, so it runs in stages.
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

/** A clock that follows the database's time after `adjust`. Several nodes compare times, so they need one clock. */
export interface NodeClock extends Clock {
  /** Takes the database's time, and this clock's time before and after the query. */
  adjust(databaseNow: number, askedAt: number, answeredAt: number): void
  /** How far this machine's own clock is ahead of the database's. */
  skewMs(): number
}

/** Smaller differences than this, or than the query took, are too uncertain to act on. */
const NOTABLE_MS = 20

export function createNodeClock(): NodeClock {
  const real = createRealClock()
  let offsetMs = 0
  return {
    now: () => real.now() + offsetMs,
    after: real.after,
    adjust(databaseNow, askedAt, answeredAt) {
      const differenceMs = databaseNow - (askedAt + answeredAt) / 2
      if (Math.abs(differenceMs) > Math.max(NOTABLE_MS, answeredAt - askedAt))
        offsetMs += Math.round(differenceMs)
    },
    skewMs: () => (offsetMs === 0 ? 0 : -offsetMs),
  }
}

const POOL_BYTES = 4_096

/** Bytes are drawn by the page, because each draw is slow. Each byte is used once and then wiped. */
export function createRealRandom(): Random {
  const pool = Buffer.alloc(POOL_BYTES)
  let used = POOL_BYTES
  const bytes = (count: number): Uint8Array => {
    if (count > POOL_BYTES) return randomFillSync(Buffer.alloc(count))
    if (used + count > POOL_BYTES) {
      randomFillSync(pool)
      used = 0
    }
    const given = Buffer.from(pool.subarray(used, used + count))
    pool.fill(0, used, used + count)
    used += count
    return given
  }
  return { uuid: () => randomUUID(), bytes }
}
