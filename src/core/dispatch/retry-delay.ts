// How long a turn that was not taken waits for its next attempt.

const FIRST_MS = 1_000
const LONGEST_MS = 60_000

export function retryDelayMs(attempts: number): number {
  return Math.min(FIRST_MS * 2 ** Math.max(0, attempts - 1), LONGEST_MS)
}
