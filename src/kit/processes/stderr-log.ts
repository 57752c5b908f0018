// What a child writes to stderr, in our log: masked, and no more lines than somebody would read. The last lines are kept
// for whoever asks why it ended.
import type { Clock, Logger } from '../../contract/index.ts'

export interface StderrLog {
  readonly line: (text: string) => void
  /** The last thing it said, for the reason why it ended. */
  last(): string | null
  /** The last lines, oldest first. */
  recent(): readonly string[]
  stop(): void
}

const LINES = 20
const EVERY_MS = 10_000
const KEPT = 20
/** Far more than is shown, so that no secret is cut in half where it would show. */
const LOOKED_AT_CHARS = 8_192

/** What Node and Bun write behind an error that nobody caught: their version, after the error and its stack. */
const RUNTIME = /^(?:Node\.js|Bun) v\d/
const ERROR = /^[\w.]*(?:error|exception)\b/i

export function createStderrLog(deps: {
  readonly clock: Pick<Clock, 'now'>
  readonly log: Logger
  readonly redact: (text: string) => string
  /** Whose words they are: `the channel server`. */
  readonly who: string
}): StderrLog {
  let since = deps.clock.now()
  let written = 0
  let left = 0
  const kept: string[] = []
  const shown = (text: string) => deps.redact(text).trim()
  const settle = () => {
    if (left > 0) deps.log.info({ lines: left }, `more lines of ${deps.who} were left out`)
    left = 0
  }
  return {
    line(text) {
      if (text.trim() === '') return
      const looked = text.slice(0, LOOKED_AT_CHARS)
      kept.push(looked)
      if (kept.length > KEPT) kept.shift()
      const now = deps.clock.now()
      if (now - since >= EVERY_MS) {
        settle()
        since = now
        written = 0
      }
      // One that writes without end costs a comparison a line.
      if (written++ < LINES) deps.log.info({ stderr: shown(looked) }, `${deps.who} says`)
      else left++
    },
    last: () => {
      const end = kept.at(-1)
      if (end === undefined) return null
      return shown((RUNTIME.test(end) ? kept.findLast((one) => ERROR.test(one)) : undefined) ?? end)
    },
    recent: () => kept.map(shown),
    stop: settle,
  }
}
