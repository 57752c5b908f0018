// Time and randomness that a test drives. Time moves only when the test says so, and the same seed gives the same ids.
import { createHash } from 'node:crypto'
import type { Cancel, Clock, Random } from '../contract/index.ts'

export interface TestClock extends Clock {
  /** Moves time forward and runs due timers in order. Real I/O that they start gets some loop turns to finish. */
  advance(ms: number): Promise<void>
  /** Lets promises, setImmediate callbacks and quick I/O run without moving time. */
  settle(turns?: number): Promise<void>
  /** Sets the time without running anything, for clocks that jump. */
  jump(toMs: number): void
  /** The number of waiting timers. */
  pending(): number
}

interface Timer {
  readonly at: number
  readonly order: number
  readonly run: () => void
}

const LOOP_TURNS = 5

/** A clock that stands still at `startMs` until `advance` is called. */
export function createTestClock(startMs = 1_700_000_000_000): TestClock {
  let nowMs = startMs
  let order = 0
  const timers = new Set<Timer>()

  const nextDue = (until: number): Timer | undefined => {
    let first: Timer | undefined
    for (const timer of timers) {
      if (timer.at > until) continue
      if (!first || timer.at < first.at || (timer.at === first.at && timer.order < first.order)) first = timer
    }
    return first
  }

  const settle = async (turns = LOOP_TURNS): Promise<void> => {
    for (let turn = 0; turn < turns; turn++) await new Promise<void>((resolve) => setImmediate(resolve))
  }

  return {
    now: () => nowMs,
    after(delayMs, run): Cancel {
      const timer = { at: nowMs + Math.max(0, delayMs), order: order++, run }
      timers.add(timer)
      return () => {
        timers.delete(timer)
      }
    },
    async advance(ms) {
      const until = nowMs + ms
      await settle()
      for (let timer = nextDue(until); timer; timer = nextDue(until)) {
        timers.delete(timer)
        nowMs = Math.max(nowMs, timer.at)
        timer.run()
        await settle()
      }
      nowMs = Math.max(nowMs, until)
      await settle()
    },
    settle,
    jump(toMs) {
      nowMs = toMs
    },
    pending: () => timers.size,
  }
}

/** Deterministic randomness: the same seed gives the same sequence. Never use it outside tests. */
export function createTestRandom(seed: number | string = 1): Random {
  let counter = 0
  const block = (): Buffer => createHash('sha256').update(`${seed}:${counter++}`).digest()
  const bytes = (count: number): Uint8Array => {
    const out = Buffer.alloc(count)
    for (let at = 0; at < count; at += 32) block().copy(out, at, 0, Math.min(32, count - at))
    return new Uint8Array(out)
  }
  return {
    bytes,
    uuid() {
      const raw = Buffer.from(bytes(16))
      raw[6] = ((raw[6] ?? 0) & 0x0f) | 0x40
      raw[8] = ((raw[8] ?? 0) & 0x3f) | 0x80
      const hex = raw.toString('hex')
      return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
    },
  }
}
