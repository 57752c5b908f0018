// Time for the library, which runs in other people's processes: the plain timers of the runtime.

export const clock = {
  now: () => Date.now(),
  after(delayMs: number, run: () => void): () => void {
    const timer = setTimeout(run, delayMs)
    return () => clearTimeout(timer)
  },
}

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
