// Timers by name, one per name. A new timer replaces the old one, and all can be cleared at once.
import type { Cancel, Clock } from '../contract/index.ts'

export interface KeyedTimers {
  set(key: string, delayMs: number, run: () => void): void
  cancel(key: string): void
  clear(): void
}

export function createKeyedTimers(clock: Clock): KeyedTimers {
  const timers = new Map<string, Cancel>()
  const cancel = (key: string) => {
    timers.get(key)?.()
    timers.delete(key)
  }
  return {
    set(key, delayMs, run) {
      cancel(key)
      const end = clock.after(Math.max(0, delayMs), () => {
        timers.delete(key)
        run()
      })
      timers.set(key, end)
    },
    cancel,
    clear() {
      for (const end of timers.values()) end()
      timers.clear()
    },
  }
}
