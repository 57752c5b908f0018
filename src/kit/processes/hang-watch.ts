// Finds a hanging process. Silence alone is no proof, because a long tool may print nothing for minutes. So a silent
// process is asked, and one that does not answer hangs. This is reported once.
import type { Cancel, Clock } from '../../contract/index.ts'

export interface HangWatch {
  /** The process printed something. */
  heard(): void
  stop(): void
}

export function createHangWatch(deps: {
  readonly clock: Clock
  /** After this long silence it is asked. */
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
      // Other output since the question also proves that it works.
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
      // It did not answer, so the deadline decides.
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
