// Refused messages that may come in any number keep no row each. One warning a minute states their count and the
// reason.
import { type Clock, createBoundedMap, defined, type Logger, type ReasonCode } from '../../contract/index.ts'

export interface Drop {
  readonly integration: string
  readonly reason: ReasonCode
  /** The configuration key that would admit the message, if there is one. */
  readonly key: string | undefined
}

const EVERY_MS = 60_000
/** Integrations times reasons, more than any configuration has. */
const MOST_KINDS = 10_000

/**
 * Returns a function that reports drops. The first drop is logged at once, and those of the following minute together.
 */
export function createDropWarnings({
  clock,
  log,
}: {
  readonly clock: Clock
  readonly log: Logger
}): (drop: Drop) => void {
  const open = createBoundedMap<string, { more: number }>(MOST_KINDS)
  const tell = ({ integration, reason, key }: Drop, dropped: number) =>
    log.warn({ integration, reason, dropped, ...defined({ key }) }, 'messages were dropped')

  const watch = (name: string, drop: Drop) => {
    const counted = { more: 0 }
    open.set(name, counted)
    clock.after(EVERY_MS, () => {
      open.delete(name)
      if (counted.more === 0) return
      tell(drop, counted.more)
      watch(name, drop)
    })
  }

  return (drop) => {
    const name = JSON.stringify([drop.integration, drop.reason])
    const counted = open.get(name)
    if (counted) {
      counted.more += 1
      return
    }
    tell(drop, 1)
    watch(name, drop)
  }
}
