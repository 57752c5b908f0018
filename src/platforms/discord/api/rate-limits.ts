// Discord's limits, from the headers of its answers: a bucket for each route and place, a global one, and a budget of
// refused requests. When that is used up, Discord blocks the whole address. Nothing waits here.
import { type Clock, createBoundedMap } from '../../../contract/index.ts'

export interface Route {
  /** The route: method and path, without ids that do not count. */
  readonly name: string
  /** The channel, server or webhook that counts. */
  readonly major: string
}

export interface Limits {
  /** Returns how long to wait; 0: now. Then it takes a place. */
  take(route: Route): number
  heard(route: Route, answer: LimitAnswer): void
}

export interface LimitAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
  /** For a 429: how long to wait, and whether that is global. */
  readonly retryAfterMs: number
  readonly global: boolean
}

interface Bucket {
  readonly remaining: number
  readonly resetAt: number
}

const REMEMBERED = 20_000
const LONGEST_MS = 10 * 60_000
const INVALID_WINDOW_MS = 10 * 60_000
/** Discord blocks the address at 10,000 in ten minutes. Other programs on this address may use the same budget. */
const MOST_INVALID = 5_000

/** Returns the route of a path. Ids that do not count are replaced. */
export function routeOf(method: string, path: string): Route {
  const [bare = ''] = path.split('?', 1)
  const major =
    /^\/(?:channels|guilds|interactions)\/(\d+)/.exec(bare)?.[1] ??
    /^\/webhooks\/(\d+\/[^/]+)/.exec(bare)?.[1]
  const name = bare
    .replace(/^\/webhooks\/\d+\/[^/]+/, '/webhooks/:webhook')
    .replace(/^\/interactions\/\d+\/[^/]+/, '/interactions/:interaction')
    .replace(/\/reactions\/[^/]+/, '/reactions/:emoji')
    .replace(/\d{2,}/g, ':id')
  return { name: `${method} ${name}`, major: major ?? '' }
}

export function createLimits(clock: Pick<Clock, 'now'>): Limits {
  const bucketOf = createBoundedMap<string, string>(REMEMBERED)
  const buckets = createBoundedMap<string, Bucket>(REMEMBERED)
  let globalUntil = 0
  let invalid: { at: number; count: number }[] = []

  const keyOf = ({ name, major }: Route) => `${bucketOf.get(name) ?? name} ${major}`
  // After a clock was set back, the wait is bounded.
  const until = (at: number, now: number) => Math.min(Math.max(0, at - now), LONGEST_MS)

  /** Counted per minute, so there are ten numbers at any rate. */
  const note = (now: number) => {
    invalid = invalid.filter(({ at }) => at > now - INVALID_WINDOW_MS && at <= now)
    const last = invalid.at(-1)
    if (last !== undefined && now - last.at < 60_000) last.count += 1
    else invalid.push({ at: now, count: 1 })
  }
  const budgetWait = (now: number): number => {
    const total = invalid.reduce((sum, { at, count }) => sum + (at > now - INVALID_WINDOW_MS ? count : 0), 0)
    const [oldest] = invalid
    return total < MOST_INVALID || oldest === undefined ? 0 : until(oldest.at + INVALID_WINDOW_MS, now)
  }

  return {
    take(route) {
      const now = clock.now()
      // Answers to interactions are outside the global limit, and must come within three seconds.
      const common = route.name.includes('/interactions/') ? 0 : until(globalUntil, now)
      const key = keyOf(route)
      const bucket = buckets.get(key)
      const own = bucket === undefined || bucket.remaining > 0 ? 0 : until(bucket.resetAt, now)
      const wait = Math.max(common, own, budgetWait(now))
      if (wait === 0 && bucket !== undefined)
        buckets.update(key, { ...bucket, remaining: Math.max(0, bucket.remaining - 1) })
      return wait
    },
    heard(route, { status, headers, retryAfterMs, global }) {
      const now = clock.now()
      const text = (name: string) => (typeof headers[name] === 'string' ? headers[name] : undefined)
      if (status === 401 || status === 403 || (status === 429 && text('x-ratelimit-scope') !== 'shared'))
        note(now)
      const hash = text('x-ratelimit-bucket')
      if (hash !== undefined) bucketOf.set(route.name, hash.slice(0, 100))
      if (status === 429) {
        if (global) globalUntil = now + Math.min(retryAfterMs, LONGEST_MS)
        else buckets.set(keyOf(route), { remaining: 0, resetAt: now + retryAfterMs })
        return
      }
      const remaining = Number(text('x-ratelimit-remaining') ?? Number.NaN)
      const afterMs = Number(text('x-ratelimit-reset-after') ?? Number.NaN) * 1_000
      if (Number.isFinite(remaining) && Number.isFinite(afterMs) && afterMs >= 0)
        buckets.set(keyOf(route), { remaining, resetAt: now + afterMs })
    },
  }
}
