// Keeps the limits of a platform before sending. A token bucket allows a few messages at once in a chat, then one per
// interval. A window allows a number of messages in its length, for certain chats and for all together. A window is not
// a bucket: a bucket of that size and rate can let nearly twice as many through. The core asks before it sends, so
// nothing waits here.
import { type Clock, createBoundedMap, createTokenBuckets, type Pace } from '../../contract/index.ts'

export interface PaceWindow {
  readonly count: number
  readonly perMs: number
}

export interface ChatPaceOptions {
  readonly clock: Pick<Clock, 'now'>
  /** The time between messages to one chat, after the burst. */
  readonly intervalMs: number
  /** How many may be sent at once, such as the parts of one long answer. */
  readonly burst: number
  /** The limit of all sends together. */
  readonly overall: PaceWindow
  /** The window of one chat; null: it has none. */
  readonly windowOf?: (chat: string) => PaceWindow | null
}

export interface ChatPaces extends Pace {
  /** Records a send of an earlier process. Call it in the order of time. */
  remember(chat: string, at: number): void
}

/** A forgotten chat may burst again. Far more chats are remembered than are written to in a minute. */
const CHATS_REMEMBERED = 10_000

export function createChatPace(options: ChatPaceOptions): ChatPaces {
  const { clock, intervalMs, burst, windowOf = () => null } = options
  const buckets = createTokenBuckets(CHATS_REMEMBERED, clock)
  const limit = intervalMs === 0 ? { rps: 0, burst: 0 } : { rps: 1_000 / intervalMs, burst }
  /** The times of the last messages of a chat with a window, and of all. */
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
      // A side message waits for a full bucket, so that the next message finds most of the burst.
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

/** After the clock was set back, the last message counts as sent now, and the others keep their distance to it. */
function movedBack(times: readonly number[], now: number): readonly number[] {
  const aheadMs = (times.at(-1) ?? now) - now
  return aheadMs > 0 ? times.map((time) => time - aheadMs) : times
}
