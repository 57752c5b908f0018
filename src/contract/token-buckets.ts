// The one token bucket: what a limit lets through, by key. Arithmetic over the clock's time; no timers, bounded memory.
import { createBoundedMap } from './bounded-map.ts'
import type { Clock } from './clock.ts'
import type { RateLimit } from './settings.ts'

/** `retryAfterMs`: when there will be as many as asked for; Infinity where none ever comes (rps 0). */
export type LimitPeek = { readonly over: false } | { readonly over: true; readonly retryAfterMs: number }

export const WITHIN_LIMIT: LimitPeek = { over: false }

export interface TokenBuckets {
  /** Whether there is a token, or so many; they stay where they are. */
  peek(key: string, limit: RateLimit, tokens?: number): LimitPeek
  /** Takes one if there is one. */
  take(key: string, limit: RateLimit): LimitPeek
  /** What was taken was not needed. */
  giveBack(key: string, limit: RateLimit): void
  readonly size: number
}

interface Bucket {
  readonly tokens: number
  readonly at: number
}

/** Above `most` keys the one unused for longest is forgotten, and starts full when it comes back. */
export function createTokenBuckets(most: number, clock: Pick<Clock, 'now'>): TokenBuckets {
  const buckets = createBoundedMap<string, Bucket>(most)

  /** A clock that was set back gives nothing, and is counted from there. */
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
    // The tolerance keeps 0.1 s at 10 rps one token, whatever binary fractions say.
    const enough = tokens >= wanted - 1e-9
    buckets.set(key, { tokens: enough ? Math.max(0, tokens - count) : tokens, at })
    if (enough) return WITHIN_LIMIT
    const { rps } = limit
    if (rps <= 0) return { over: true, retryAfterMs: Number.POSITIVE_INFINITY }
    // As above: one token each 61 ms is there after 61, where binary fractions say 62.
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
