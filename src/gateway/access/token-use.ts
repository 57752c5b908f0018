// Records when tokens were used last, to the hour, which suffices to find unused ones. No request waits for a write:
// uses gather for a minute and are written together. Each token is written at most once an hour across all nodes,
// because its row shows the last write. A crash loses a minute of this.
import {
  type Cancel,
  type Clock,
  createBoundedMap,
  type Logger,
  type Store,
  type TokenRow,
} from '../../contract/index.ts'

export interface TokenUse {
  /** The token admitted a caller just now. */
  used(row: TokenRow): void
  /** Writes the pending uses. */
  stop(): Promise<void>
}

const HOUR_MS = 3_600_000
const GATHER_MS = 60_000
/** Tokens of single turns are numerous and expire soon, so their use does not matter. */
const SHORT_LIVED_MS = 24 * HOUR_MS
const MOST_GATHERED = 10_000
const SLICE = 500

export function createTokenUse(deps: {
  readonly store: Pick<Store, 'tokensUsed'>
  readonly clock: Clock
  readonly log: Logger
}): TokenUse {
  const { store, clock, log } = deps
  const gathered = createBoundedMap<string, number>(MOST_GATHERED)
  let cancel: Cancel | null = null

  const write = async (): Promise<void> => {
    cancel?.()
    cancel = null
    const uses = [...gathered].map(([id, at]) => ({ id, at }))
    for (const { id } of uses) gathered.delete(id)
    for (let from = 0; from < uses.length; from += SLICE) {
      // Only the time is lost: the next use is recorded again.
      await store
        .tokensUsed(uses.slice(from, from + SLICE))
        .catch((thrown) => log.warn({ problem: String(thrown) }, 'the use of tokens could not be noted'))
    }
  }

  return {
    used(row) {
      const now = clock.now()
      const { id, scope, createdAt, expiresAt, lastUsedAt } = row
      if (scope.turn !== undefined || (expiresAt !== null && expiresAt - createdAt <= SHORT_LIVED_MS)) return
      // A clock that was set back causes another write.
      if (lastUsedAt !== null && Math.abs(now - lastUsedAt) < HOUR_MS) return
      gathered.set(id, now)
      cancel ??= clock.after(GATHER_MS, () => void write())
    },
    stop: write,
  }
}
