// Finds a process that hangs: silence alone is no proof, for a long tool may say nothing for minutes, so one that was
// silent is asked; one that does not answer either is hung. Told once.
import type { Cancel, Clock } from '../../contract/index.ts'

export interface HangWatch {
  /** It said something, whatever it was. */
  heard(): void
  stop(): void
}

export function createHangWatch(deps: {
  readonly clock: Clock
  /** Silent for so long: it is asked. */
  readonly silentMs: number
  readonly answerMs: number
  /** Resolves when it answered. */
  readonly probe: () => Promise<unknown>
  readonly hung: () => void
}): HangWatch {
  const { clock, silentMs, answerMs } = deps
  let heardAt = clock.now()
  let stopped = false
  let cancel: Cancel = () => undefined
  let cancelAnswer: Cancel = () => undefined

  const later = (ms: number) => {
    cancel()
    if (!stopped) cancel = clock.after(ms, look)
  }
  const look = () => {
    const silent = clock.now() - heardAt
    if (silent < silentMs) return later(silentMs - silent)
    const askedAt = clock.now()
    cancelAnswer = clock.after(answerMs, () => {
      if (stopped) return
      // Busy saying something else is no hang.
      if (heardAt > askedAt) return later(silentMs)
      stopped = true
      deps.hung()
    })
    deps.probe().then(
      () => {
        cancelAnswer()
        heardAt = clock.now()
        later(silentMs)
      },
      // Nothing was answered: the deadline decides.
      () => undefined,
    )
  }
  later(silentMs)
  return {
    heard() {
      heardAt = clock.now()
    },
    stop() {
      stopped = true
      cancel()
      cancelAnswer()
    },
  }
}
