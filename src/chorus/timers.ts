// Time for the library, which runs in other people's processes: the plain timers of the runtime, unless a test drives it.

export interface Timers {
  /** Milliseconds since 1970. */
  now(): number
  /** Returns what cancels it. */
  after(delayMs: number, run: () => void): () => void
}

export const timers: Timers = {
  now: () => Date.now(),
  after(delayMs, run) {
    const timer = setTimeout(run, delayMs)
    return () => clearTimeout(timer)
  },
}

export function pause(ms: number, clock: Timers = timers): Promise<void> {
  return new Promise((resolve) => void clock.after(ms, resolve))
}
