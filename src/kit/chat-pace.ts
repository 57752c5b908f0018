// Limits of a platform that are kept beforehand: a few messages at once in a chat, then one each interval; so many in a
// window for certain chats, and for all together. The river asks before a message is on its way; nothing waits here.
import { type Clock, createBoundedMap, type Pace } from '../contract/index.ts'

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

export interface ChatPaceBook extends Pace {
  /** Something was sent there at this time, by a process before this one. Told oldest first. */
  remember(chat: string, at: number): void
}

/** A chat that was forgotten may burst anew: far more of them than are written to in a minute. */
const CHATS_REMEMBERED = 10_000

interface ChatPace {
  /** Times of the last messages, for the window. */
  readonly times: readonly number[]
  /** When the chat is even again: each message moves it by one interval. */
  readonly evenAt: number
}

const EVEN: ChatPace = { times: [], evenAt: 0 }

export function createChatPace(options: ChatPaceOptions): ChatPaceBook {
  const { clock, intervalMs, burst, windowOf = () => null } = options
  const chats = createBoundedMap<string, ChatPace>(CHATS_REMEMBERED)
  let overall: readonly number[] = []

  /** As of now. After a clock was set back, what lies ahead of it is no reason to wait. */
  const paceOf = (chat: string, now: number): ChatPace => {
    const { times, evenAt } = chats.get(chat) ?? EVEN
    return { times: past(times, now), evenAt: Math.min(evenAt, now + burst * intervalMs) }
  }

  return {
    take(chat, side) {
      const now = clock.now()
      const pace = paceOf(chat, now)
      overall = past(overall, now)
      // What gives way goes when the chat is even: whatever is said next finds most of the burst.
      const ahead = side ? 0 : (burst - 1) * intervalMs
      const window = windowOf(chat)
      const at = Math.max(
        now,
        pace.evenAt - ahead,
        earliest(overall, options.overall),
        window === null ? 0 : earliest(pace.times, window),
      )
      if (at > now) return at - now
      chats.set(chat, {
        times: [...pace.times, now].slice(-Math.max(options.overall.count, window?.count ?? 0)),
        evenAt: Math.max(now, pace.evenAt) + intervalMs,
      })
      overall = [...overall, now].slice(-options.overall.count)
      return 0
    },
    remember(chat, at) {
      const { times, evenAt } = chats.get(chat) ?? EVEN
      const most = Math.max(options.overall.count, windowOf(chat)?.count ?? 0)
      chats.set(chat, { times: [...times, at].slice(-most), evenAt })
    },
    giveBack(chat) {
      const { times, evenAt } = paceOf(chat, clock.now())
      chats.set(chat, { times: times.slice(0, -1), evenAt: evenAt - intervalMs })
      overall = overall.slice(0, -1)
    },
  }
}

function earliest(times: readonly number[], { count, perMs }: PaceWindow): number {
  return (times[times.length - count] ?? Number.NEGATIVE_INFINITY) + perMs
}

function past(times: readonly number[], now: number): readonly number[] {
  return times.some((time) => time > now) ? times.filter((time) => time <= now) : times
}
