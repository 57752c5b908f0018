// Token buckets for senders and integrations: looked at before a decision, taken with it, given back for a duplicate.
import type { RateLimit } from '../../contract/index.ts'
import { type LimitPeek, WITHIN_LIMIT } from './step-input.ts'

export interface Limits {
  peek(key: string, limit: RateLimit, now: number): LimitPeek
  take(key: string, limit: RateLimit, now: number): void
  giveBack(key: string, limit: RateLimit): void
}

interface Bucket {
  tokens: number
  at: number
}

// Strangers choose their ids, so the number of buckets is bounded: the one that was idle longest goes first.
const MOST_BUCKETS = 50_000

export function createLimits(): Limits {
  const buckets = new Map<string, Bucket>()

  const refilled = (key: string, limit: RateLimit, now: number): Bucket => {
    let bucket = buckets.get(key)
    if (!bucket) {
      if (buckets.size >= MOST_BUCKETS) buckets.delete(buckets.keys().next().value ?? '')
      bucket = { tokens: limit.burst, at: now }
    } else {
      buckets.delete(key) // re-inserted below: the map's order is the order of use
      const gained = Math.max(0, now - bucket.at) * (limit.rps / 1000)
      bucket.tokens = Math.min(limit.burst, bucket.tokens + gained)
      bucket.at = now
    }
    buckets.set(key, bucket)
    return bucket
  }

  return {
    peek(key, limit, now) {
      if (!isActive(limit)) return WITHIN_LIMIT
      const { tokens } = refilled(key, limit, now)
      return tokens >= 1
        ? WITHIN_LIMIT
        : { over: true, retryAfterMs: Math.ceil(((1 - tokens) / limit.rps) * 1000) }
    },
    take(key, limit, now) {
      if (isActive(limit)) refilled(key, limit, now).tokens -= 1
    },
    giveBack(key, limit) {
      const bucket = buckets.get(key)
      if (bucket) bucket.tokens = Math.min(limit.burst, bucket.tokens + 1)
    },
  }
}

/** 0/0 (either one 0) means no limit. */
function isActive(limit: RateLimit): boolean {
  return limit.rps > 0 && limit.burst > 0
}
