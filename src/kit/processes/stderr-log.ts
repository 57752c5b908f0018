// Writes a child's stderr to our log: masked, and only as many lines as are useful. The last lines are kept to explain
// why the child ended.
import type { Clock, Logger } from '../../contract/index.ts'

export interface StderrLog {
  readonly line: (text: string) => void
  /** Its last line, for the reason why it ended. */
  last(): string | null
  /** The last lines, oldest first. */
  recent(): readonly string[]
  stop(): void
}

const LINES = 20
const EVERY_MS = 10_000
const KEPT = 20
/** Far more than is shown, so that a secret is never cut in half where it would be shown. */
const LOOKED_AT_CHARS = 8_192

/** The line that Node and Bun write after an uncaught error and its stack. */
const RUNTIME = /^(?:Node\.js|Bun) v\d/
const ERROR = /^[\w.]*(?:error|exception)\b/i

export function createStderrLog(deps: {
  readonly clock: Pick<Clock, 'now'>
  readonly log: Logger
  readonly redact: (text: string) => string
  /** The writer, such as `the channel server`. */
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
      // A child that writes endlessly costs one comparison per line.
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
