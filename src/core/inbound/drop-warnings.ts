// Messages that are refused in any number keep no row each: one warning a minute says how many there were, and why.
import { type Clock, createBoundedMap, defined, type Logger, type ReasonCode } from '../../contract/index.ts'

export interface Drop {
  readonly integration: string
  readonly reason: ReasonCode
  /** The key of the configuration that would let it in, where there is one. */
  readonly key: string | undefined
}

const EVERY_MS = 60_000
/** Integrations times reasons: more than any configuration has. */
const MOST_KINDS = 10_000

/** The first is told at once, those of the minute after it together. */
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
