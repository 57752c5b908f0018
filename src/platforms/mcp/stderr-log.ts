// What a channel server writes to stderr, in our log: masked, and no more lines than somebody would read.
import type { Clock, Logger } from '../../contract/index.ts'

export interface StderrLog {
  readonly line: (text: string) => void
  /** The last thing it said, for the reason why it ended. */
  last(): string | null
  stop(): void
}

const LINES = 20
const EVERY_MS = 10_000

export function createStderrLog(deps: {
  readonly clock: Pick<Clock, 'now'>
  readonly log: Logger
  readonly redact: (text: string) => string
}): StderrLog {
  let since = deps.clock.now()
  let written = 0
  let left = 0
  let last: string | null = null
  const settle = () => {
    if (left > 0) deps.log.info({ lines: left }, 'more lines of the channel server were left out')
    left = 0
  }
  return {
    line(text) {
      const shown = deps.redact(text).trim()
      if (shown === '') return
      last = shown
      const now = deps.clock.now()
      if (now - since >= EVERY_MS) {
        settle()
        since = now
        written = 0
      }
      if (written++ < LINES) deps.log.info({ stderr: shown }, 'the channel server says')
      else left++
    },
    last: () => last,
    stop: settle,
  }
}
