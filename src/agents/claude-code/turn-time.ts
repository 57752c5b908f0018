// The time limit of a session's work. The time starts with the first turn, ends with the last, and stands still while
// people are asked.
import type { Clock } from '../../contract/index.ts'
import { createWorkTime, type WorkTime } from '../../kit/index.ts'

export interface TurnTime {
  /** A turn is in work. Starts the time if it does not run. */
  begin(): void
  /** No turn is in work any more. */
  end(): void
  /** Waiting for people does not count, however many questions are open. */
  outside<T>(work: () => Promise<T>): Promise<T>
}

export function createTurnTime(clock: Clock, timeoutMs: number, overTime: () => void): TurnTime {
  let time: WorkTime | null = null
  let waits = 0
  let allAnswered: () => void = () => undefined

  return {
    begin() {
      time ??= createWorkTime(clock, timeoutMs, overTime)
    },
    end() {
      time?.stop()
      time = null
    },
    async outside(work) {
      if (waits++ === 0)
        void time?.outside(
          () =>
            new Promise<void>((resolve) => {
              allAnswered = resolve
            }),
        )
      try {
        return await work()
      } finally {
        if (--waits === 0) allAnswered()
      }
    },
  }
}
