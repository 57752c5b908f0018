// Waits that can be cut short.
import type { Clock } from '../../contract/index.ts'

/** Resolves after `ms`, or as soon as the signal is aborted. Never throws. */
export function pause(clock: Pick<Clock, 'after'>, ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve()
    const end = () => {
      cancel()
      signal?.removeEventListener('abort', end)
      resolve()
    }
    const cancel = clock.after(ms, end)
    signal?.addEventListener('abort', end, { once: true })
  })
}

/** Returns the result of `asked`. Null: it failed, or took too long. Never throws. */
export async function withinTime<T>(
  clock: Pick<Clock, 'after'>,
  ms: number,
  asked: () => Promise<T>,
): Promise<T | null> {
  const answered = new AbortController()
  const answer = (async () => asked())().catch(() => null)
  const late = pause(clock, ms, answered.signal).then(() => null)
  const first = await Promise.race([answer, late])
  answered.abort()
  return first
}
