// The token bucket behind all limits, by key. Arithmetic over the clock's time, without timers, in bounded memory.
import { createBoundedMap } from './bounded-map.ts'
import type { Clock } from './clock.ts'
import type { RateLimit } from './settings.ts'

/** `retryAfterMs`: when enough tokens will be available; Infinity if never (rps 0). */
export type LimitPeek = { readonly over: false } | { readonly over: true; readonly retryAfterMs: number }

export const WITHIN_LIMIT: LimitPeek = { over: false }

export interface TokenBuckets {
  /** Whether one token, or this many, are available; takes none. */
  peek(key: string, limit: RateLimit, tokens?: number): LimitPeek
  /** Takes one if available. */
  take(key: string, limit: RateLimit): LimitPeek
  /** Returns a token that was not needed. */
  giveBack(key: string, limit: RateLimit): void
  readonly size: number
}

interface Bucket {
  readonly tokens: number
  readonly at: number
}

/** Above `most` keys, the one unused for longest is forgotten, and starts full when it returns. */
export function createTokenBuckets(most: number, clock: Pick<Clock, 'now'>): TokenBuckets {
  const buckets = createBoundedMap<string, Bucket>(most)

  /** A clock that was set back adds nothing; time counts from there. */
  const refilled = (key: string, { rps, burst }: RateLimit): Bucket => {
    const at = clock.now()
    const before = buckets.get(key)
    if (before === undefined) return { tokens: Math.max(1, burst), at }
    const gained = (Math.max(0, at - before.at) * rps) / 1000
    return { tokens: Math.min(Math.max(1, burst), before.tokens + gained), at }
  }

  const draw = (key: string, limit: RateLimit, count: 0 | 1, wanted = 1): LimitPeek => {
    if (isUnlimited(limit)) return WITHIN_LIMIT
    const { tokens, at } = refilled(key, limit)
    // The tolerance keeps 0.1 s at 10 rps one token despite binary fractions.
    const enough = tokens >= wanted - 1e-9
    buckets.set(key, { tokens: enough ? Math.max(0, tokens - count) : tokens, at })
    if (enough) return WITHIN_LIMIT
    const { rps } = limit
    if (rps <= 0) return { over: true, retryAfterMs: Number.POSITIVE_INFINITY }
    // As above: at one token per 61 ms the delay is 61, where binary fractions give 62.
    return { over: true, retryAfterMs: Math.max(1, Math.ceil(((wanted - tokens) * 1000) / rps - 1e-6)) }
  }

  return {
    peek: (key, limit, tokens) => draw(key, limit, 0, tokens),
    take: (key, limit) => draw(key, limit, 1),
    giveBack(key, { burst }) {
      const bucket = buckets.get(key)
      if (bucket) buckets.set(key, { ...bucket, tokens: Math.min(Math.max(1, burst), bucket.tokens + 1) })
    },
    get size() {
      return buckets.size
    },
  }
}

/** 0/0 means no limit. */
export function isUnlimited({ rps, burst }: RateLimit): boolean {
  return rps === 0 && burst === 0
}
