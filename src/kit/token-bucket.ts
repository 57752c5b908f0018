// A token bucket per key: what a limit lets through. Arithmetic over the clock's time; no timers, bounded memory.
import type { Clock, RateLimit } from '../contract/index.ts'

export interface Bucket {
  readonly tokens: number
  readonly at: number
}

export interface Taken {
  readonly bucket: Bucket
  readonly ok: boolean
  /** When not ok: how long until a token is there; Infinity where none ever comes (rps 0). */
  readonly retryAfterMs: number
}

/** Takes one token: the new bucket and whether there was one. A clock that goes back adds nothing. */
export function takeToken(before: Bucket | undefined, limit: RateLimit, now: number): Taken {
  const burst = Math.max(1, limit.burst)
  const elapsedMs = before === undefined ? 0 : Math.max(0, now - before.at)
  const tokens =
    before === undefined ? burst : Math.min(burst, before.tokens + (elapsedMs * limit.rps) / 1000)
  const at = before === undefined ? now : Math.max(now, before.at)
  // The tolerance keeps 0.1 s at 10 rps one token, whatever binary fractions say.
  if (tokens >= 1 - 1e-9)
    return { bucket: { tokens: Math.max(0, tokens - 1), at }, ok: true, retryAfterMs: 0 }
  const retryAfterMs = limit.rps > 0 ? Math.ceil(((1 - tokens) * 1000) / limit.rps) : Number.POSITIVE_INFINITY
  return { bucket: { tokens, at }, ok: false, retryAfterMs }
}

export interface TokenBuckets {
  take(key: string, limit: RateLimit): { readonly ok: boolean; readonly retryAfterMs: number }
  readonly size: number
}

const FREE = { ok: true, retryAfterMs: 0 } as const

/** Buckets by key. Above `maxKeys` the one least recently used is forgotten (and starts full when it comes back). */
export function createTokenBuckets(
  config: { readonly maxKeys: number },
  deps: { readonly clock: Pick<Clock, 'now'> },
): TokenBuckets {
  const buckets = new Map<string, Bucket>()
  return {
    take(key, limit) {
      if (limit.rps === 0 && limit.burst === 0) return FREE
      const { bucket, ok, retryAfterMs } = takeToken(buckets.get(key), limit, deps.clock.now())
      buckets.delete(key) // A Map keeps the order of insertion: the first key is the one unused for longest.
      buckets.set(key, bucket)
      if (buckets.size > config.maxKeys) {
        const oldest = buckets.keys().next()
        if (!oldest.done) buckets.delete(oldest.value)
      }
      return { ok, retryAfterMs }
    },
    get size() {
      return buckets.size
    },
  }
}
