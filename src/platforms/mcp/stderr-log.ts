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
/** Far more than is shown, so that no secret is cut in half where it would show. */
const LOOKED_AT_CHARS = 8_192

export function createStderrLog(deps: {
  readonly clock: Pick<Clock, 'now'>
  readonly log: Logger
  readonly redact: (text: string) => string
}): StderrLog {
  let since = deps.clock.now()
  let written = 0
  let left = 0
  let last: string | null = null
  const shown = (text: string) => deps.redact(text.slice(0, LOOKED_AT_CHARS)).trim()
  const settle = () => {
    if (left > 0) deps.log.info({ lines: left }, 'more lines of the channel server were left out')
    left = 0
  }
  return {
    line(text) {
      if (text.trim() === '') return
      last = text
      const now = deps.clock.now()
      if (now - since >= EVERY_MS) {
        settle()
        since = now
        written = 0
      }
      // One that writes without end costs a comparison a line.
      if (written++ < LINES) deps.log.info({ stderr: shown(text) }, 'the channel server says')
      else left++
    },
    last: () => (last === null ? null : shown(last)),
    stop: settle,
  }
}
