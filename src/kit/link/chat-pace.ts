// Limits of a platform that are kept beforehand: a few messages at once in a chat, then one each interval, by the one token
// bucket; so many in a window for certain chats, and for all together. A window is no bucket: in no stretch of its length go
// more than its count, where a bucket of that size and rate lets through nearly twice as many. The river asks before a
// message is on its way; nothing waits here.
import { type Clock, createBoundedMap, createTokenBuckets, type Pace } from '../../contract/index.ts'

export interface PaceWindow {
  readonly count: number
  readonly perMs: number
}

export interface ChatPaceOptions {
  readonly clock: Pick<Clock, 'now'>
  /** Between messages to one chat, after the burst. */
  readonly intervalMs: number
  /** A few at once are fine (the parts of one long answer). */
  readonly burst: number
  /** For everything that is sent. */
  readonly overall: PaceWindow
  /** For one chat; null: it has none. */
  readonly windowOf?: (chat: string) => PaceWindow | null
}

export interface ChatPaces extends Pace {
  /** Something was sent there at this time, by a process before this one. Told oldest first. */
  remember(chat: string, at: number): void
}

/** A chat that was forgotten may burst anew: far more of them than are written to in a minute. */
const CHATS_REMEMBERED = 10_000

export function createChatPace(options: ChatPaceOptions): ChatPaces {
  const { clock, intervalMs, burst, windowOf = () => null } = options
  const buckets = createTokenBuckets(CHATS_REMEMBERED, clock)
  const limit = intervalMs === 0 ? { rps: 0, burst: 0 } : { rps: 1_000 / intervalMs, burst }
  /** Times of the last messages of a chat that has a window, and of all. */
  const windows = createBoundedMap<string, readonly number[]>(CHATS_REMEMBERED)
  let overall: readonly number[] = []

  const keep = (chat: string, times: readonly number[]) => {
    const window = windowOf(chat)
    if (window !== null) windows.set(chat, times.slice(-window.count))
  }

  return {
    take(chat, side) {
      const now = clock.now()
      const times = movedBack(windows.get(chat) ?? [], now)
      keep(chat, times)
      overall = movedBack(overall, now)
      // What gives way goes when the bucket is full: whatever is said next finds most of the burst.
      const chatLimit = buckets.peek(chat, limit, side ? burst : 1)
      const window = windowOf(chat)
      const waitMs = Math.max(
        chatLimit.over ? chatLimit.retryAfterMs : 0,
        earliest(overall, options.overall) - now,
        window === null ? 0 : earliest(times, window) - now,
      )
      if (waitMs > 0) return waitMs
      buckets.take(chat, limit)
      keep(chat, [...times, now])
      overall = [...overall, now].slice(-options.overall.count)
      return 0
    },
    remember: (chat, at) => keep(chat, [...(windows.get(chat) ?? []), at]),
    giveBack(chat) {
      buckets.giveBack(chat, limit)
      keep(chat, (windows.get(chat) ?? []).slice(0, -1))
      overall = overall.slice(0, -1)
    },
  }
}

function earliest(times: readonly number[], { count, perMs }: PaceWindow): number {
  return (times[times.length - count] ?? Number.NEGATIVE_INFINITY) + perMs
}

/** After a clock was set back the last message counts as of now, and those before it keep their distance: none is forgotten. */
function movedBack(times: readonly number[], now: number): readonly number[] {
  const aheadMs = (times.at(-1) ?? now) - now
  return aheadMs > 0 ? times.map((time) => time - aheadMs) : times
}
