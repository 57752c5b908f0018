// Limits shared by all nodes. The bucket is a row. A node draws tokens from it and spends them locally. From a small
// bucket it draws one at a time, so the limit is exact. From a large bucket it draws several, so a flood does not query
// the database for each message. A draw never exceeds the limit, and unspent tokens serve the node's next messages.
// Draws that arrive during another draw share the next one.
import {
  createBoundedMap,
  isUnlimited,
  type LimitPeek,
  type Logger,
  type RateLimit,
  type Store,
  WITHIN_LIMIT,
} from '../contract/index.ts'

export interface SharedLimits {
  /**
   * Takes one token. If the store is unavailable, the token is granted; the write that follows reports the failure.
   */
  draw(key: string, limit: RateLimit): Promise<LimitPeek>
  /** Returns a token that was not needed. */
  giveBack(key: string, limit: RateLimit): void
}

/** The fraction of a bucket's burst that a node may draw ahead. */
const SHARE = 16
const MOST_KEPT = 10_000

interface Draw {
  readonly key: string
  readonly limit: RateLimit
  readonly resolve: (peek: LimitPeek) => void
}

/** Returns null with a single node, whose own limits are enough. */
export function createSharedLimits(deps: {
  readonly store: Pick<Store, 'drawTokens'>
  readonly log: Logger
}): SharedLimits | null {
  const { store, log } = deps
  const { drawTokens } = store
  if (!drawTokens) return null
  const kept = createBoundedMap<string, number>(MOST_KEPT)
  let waiting: Draw[] = []
  let running = false

  const keep = (key: string, tokens: number) => {
    if (tokens > 0) kept.set(key, tokens)
    else kept.delete(key)
  }

  const drawAll = async (draws: readonly Draw[]) => {
    const byKey = new Map<string, Draw[]>()
    for (const draw of draws) byKey.set(draw.key, [...(byKey.get(draw.key) ?? []), draw])
    const keys = [...byKey.keys()]
    const wanted = [...byKey].map(([key, of]) => {
      const { rps, burst } = of[0]?.limit ?? { rps: 0, burst: 0 }
      return {
        ...{ key, rps, burst: Math.max(1, burst) },
        take: Math.max(of.length, Math.floor(burst / SHARE)),
      }
    })
    const drawn = await drawTokens(wanted)
    for (const [at, key] of keys.entries()) {
      let left = drawn[at]?.granted ?? 0
      for (const { resolve } of byKey.get(key) ?? []) {
        if (left >= 1) resolve(WITHIN_LIMIT)
        else resolve({ over: true, retryAfterMs: drawn[at]?.retryAfterMs ?? 1_000 })
        left -= 1
      }
      keep(key, left + (kept.get(key) ?? 0))
    }
  }

  const run = async () => {
    while (waiting.length > 0) {
      const draws = waiting
      waiting = []
      await drawAll(draws).catch((thrown) => {
        log.warn({ error: String(thrown) }, 'shared limits cannot be asked')
        for (const { resolve } of draws) resolve(WITHIN_LIMIT)
      })
    }
    running = false
  }

  return {
    draw(key, limit) {
      if (isUnlimited(limit)) return Promise.resolve(WITHIN_LIMIT)
      const own = kept.get(key) ?? 0
      if (own >= 1) {
        keep(key, own - 1)
        return Promise.resolve(WITHIN_LIMIT)
      }
      return new Promise((resolve) => {
        waiting.push({ key, limit, resolve })
        if (running) return
        running = true
        void Promise.resolve().then(run)
      })
    },
    giveBack(key, limit) {
      if (!isUnlimited(limit)) keep(key, (kept.get(key) ?? 0) + 1)
    },
  }
}
