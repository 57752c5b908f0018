// The rate limits of Discord for each route and place. The headers of every answer report them.
import { createHash } from 'node:crypto'

export interface BucketAnswer {
  readonly headers: Readonly<Record<string, string>>
  /** Seconds to wait. Null means within the limit. */
  readonly waitS: number | null
}

const RULES: Readonly<Record<string, { readonly limit: number; readonly perMs: number }>> = {
  'create-message': { limit: 5, perMs: 5_000 },
  'edit-message': { limit: 5, perMs: 5_000 },
  'create-reaction': { limit: 1, perMs: 250 },
  'get-messages': { limit: 50, perMs: 10_000 },
}
const OTHERS = { limit: 50, perMs: 1_000 }

/** With `enforced` false it counts requests but refuses none. */
export function createRestLimits(
  now: () => number,
  enforced: boolean,
): (name: string, major: string) => BucketAnswer {
  const used = new Map<string, { count: number; until: number }>()
  return (name, major) => {
    const { limit, perMs } = RULES[name] ?? OTHERS
    const key = `${name} ${major}`
    const before = used.get(key)
    const bucket = before !== undefined && before.until > now() ? before : { count: 0, until: now() + perMs }
    used.set(key, bucket)
    const isOver = enforced && bucket.count >= limit
    if (!isOver) bucket.count += 1
    const afterS = Math.max(0, bucket.until - now()) / 1_000
    const remaining = enforced ? Math.max(0, limit - bucket.count) : limit
    return {
      waitS: isOver ? afterS : null,
      headers: {
        'x-ratelimit-limit': String(limit),
        'x-ratelimit-remaining': String(remaining),
        'x-ratelimit-reset': String((now() / 1_000 + afterS).toFixed(3)),
        'x-ratelimit-reset-after': afterS.toFixed(3),
        'x-ratelimit-bucket': createHash('md5').update(name).digest('hex'),
      },
    }
  }
}
