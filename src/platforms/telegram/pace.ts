// Telegram's flood limits, kept beforehand: about one message a second in a chat, 20 a minute in a group, 30 a second for
// the whole bot. The river asks before a message is on its way; nothing waits here.
import { type Clock, createBoundedMap, type Pace } from '../../contract/index.ts'

interface Window {
  readonly count: number
  readonly perMs: number
}

const OVERALL: Window = { count: 30, perMs: 1_000 }
const GROUP: Window = { count: 20, perMs: 60_000 }
/** A few at once are fine (the parts of one long answer); after that it is one each interval. */
const BURST = 5
/** A chat that was forgotten may burst anew: far more of them than are written to in a minute. */
const CHATS_REMEMBERED = 10_000

interface ChatPace {
  /** Times of the last messages, for the window. */
  readonly times: readonly number[]
  /** When the chat is even again: each message moves it by one interval. */
  readonly evenAt: number
}

const EVEN: ChatPace = { times: [], evenAt: 0 }

export function createPace(clock: Clock, chatIntervalMs = 1_000): Pace {
  const chats = createBoundedMap<string, ChatPace>(CHATS_REMEMBERED)
  let overall: readonly number[] = []

  /** As of now. After a clock was set back, what lies ahead of it is no reason to wait. */
  const paceOf = (chat: string, now: number): ChatPace => {
    const { times, evenAt } = chats.get(chat) ?? EVEN
    return { times: past(times, now), evenAt: Math.min(evenAt, now + BURST * chatIntervalMs) }
  }

  return {
    take(chat, side) {
      const now = clock.now()
      const pace = paceOf(chat, now)
      overall = past(overall, now)
      // What gives way goes when the chat is even: whatever is said next finds most of the burst.
      const ahead = side ? 0 : (BURST - 1) * chatIntervalMs
      const at = Math.max(
        now,
        pace.evenAt - ahead,
        earliest(overall, OVERALL),
        isGroup(chat) ? earliest(pace.times, GROUP) : 0,
      )
      if (at > now) return at - now
      chats.set(chat, {
        times: latest([...pace.times, now]),
        evenAt: Math.max(now, pace.evenAt) + chatIntervalMs,
      })
      overall = latest([...overall, now])
      return 0
    },
    giveBack(chat) {
      const { times, evenAt } = paceOf(chat, clock.now())
      chats.set(chat, { times: times.slice(0, -1), evenAt: evenAt - chatIntervalMs })
      overall = overall.slice(0, -1)
    },
  }
}

function earliest(times: readonly number[], { count, perMs }: Window): number {
  return (times[times.length - count] ?? Number.NEGATIVE_INFINITY) + perMs
}

function past(times: readonly number[], now: number): readonly number[] {
  return times.some((time) => time > now) ? times.filter((time) => time <= now) : times
}

function latest(times: readonly number[]): readonly number[] {
  return times.slice(-OVERALL.count)
}

/** Groups, supergroups and channels have negative ids; a public one may be named. */
function isGroup(chat: string): boolean {
  return chat.startsWith('-') || chat.startsWith('@')
}
