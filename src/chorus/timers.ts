// Time for the library, which runs in other programs: the runtime's timers, unless a test replaces them.

export interface Timers {
  /** Milliseconds since 1970. */
  now(): number
  /** Returns a function that cancels it. */
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
