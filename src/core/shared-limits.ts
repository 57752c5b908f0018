// Limits that hold for all nodes together. The bucket is a row; a node draws tokens from it and spends them here, one at a
// time from a small bucket (so the limit is exact), some at once from a large one (so a flood is not a trip to the
// database for each message). What is drawn is never more than the limit lets through; what a node did not spend it
// keeps for its next message. Draws that come while one is under way share the next.
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
  /** Takes one token. A store that is away stops nobody here: what follows will say so. */
  draw(key: string, limit: RateLimit): Promise<LimitPeek>
  /** What was drawn was not needed. */
  giveBack(key: string, limit: RateLimit): void
}

/** Of a bucket's burst: what a node may draw ahead. */
const SHARE = 16
const MOST_KEPT = 10_000

interface Draw {
  readonly key: string
  readonly limit: RateLimit
  readonly resolve: (peek: LimitPeek) => void
}

/** Null where there is one node: its own limits are enough. */
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
