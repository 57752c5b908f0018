// Computes the wait before the next try of a link or a send: exponential, with jitter from the given randomness.
import type { Random } from '../../contract/index.ts'

export interface BackoffRange {
  readonly baseMs: number
  readonly maxMs: number
}

/**
 * Returns the wait before try number `attempt` (the first is 1). It is between half and the whole of
 * base · 2^(attempt−1), capped. So links that broke together reconnect at different times, and never at once.
 */
export function backoffMs(attempt: number, range: BackoffRange, random: Random): number {
  const doublings = Math.min(Math.max(attempt, 1) - 1, 52)
  const whole = Math.min(range.maxMs, range.baseMs * 2 ** doublings)
  return Math.round(whole / 2 + (whole / 2) * fraction(random))
}

function fraction(random: Random): number {
  return Buffer.from(random.bytes(4)).readUInt32BE(0) / 0x1_0000_0000
}
