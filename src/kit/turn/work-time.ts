// The time limit of a turn. It stands still while a person is asked.
import type { Cancel, Clock } from '../../contract/index.ts'

export interface WorkTime {
  leftMs(): number
  /** The time stands still until the work is done. */
  outside<T>(work: () => Promise<T>): Promise<T>
  stop(): void
}

export function createWorkTime(clock: Clock, limitMs: number, onOver: () => void): WorkTime {
  let spentMs = 0
  let since: number | null = clock.now()
  let cancel: Cancel = clock.after(limitMs, onOver)
  const leftMs = () => Math.max(0, limitMs - spentMs - (since === null ? 0 : clock.now() - since))
  return {
    leftMs,
    async outside(work) {
      cancel()
      spentMs += since === null ? 0 : clock.now() - since
      since = null
      try {
        return await work()
      } finally {
        since = clock.now()
        cancel = clock.after(leftMs(), onOver)
      }
    },
    stop: () => cancel(),
  }
}

/** Returns the text for a person when a turn exceeded its time. */
export function tookTooLong(ms: number): string {
  const time = ms < 60_000 ? `${Math.ceil(ms / 1_000)} s` : `${Math.round(ms / 60_000)} min`
  return `it took longer than ${time} (turn_timeout)`
}
