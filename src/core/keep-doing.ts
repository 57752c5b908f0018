// Repeats a task until it is cancelled. Each run starts `everyMs` after the previous one ended.
import type { Cancel, Clock } from '../contract/index.ts'

export function keepDoing(
  clock: Clock,
  everyMs: number,
  work: (stopped: () => boolean) => Promise<void>,
  failed: (thrown: unknown) => void,
): Cancel {
  let cancel: Cancel = () => undefined
  let stopped = false
  const again = () => {
    cancel = clock.after(everyMs, () => {
      work(() => stopped)
        .catch(failed)
        .finally(() => {
          if (!stopped) again()
        })
    })
  }
  again()
  return () => {
    stopped = true
    cancel()
  }
}
