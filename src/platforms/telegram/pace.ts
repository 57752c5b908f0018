// Telegram's flood limits, kept beforehand: about one message a second in a chat, 20 a minute in a group, 30 a second
// for the whole bot. A short wait is waited here; a long one is given back as `rate_limited`, so that no lane is held.
import { type Clock, SwitchboardError } from '../../contract/index.ts'

export interface Pace {
  /** Resolves when a message may go to this chat. Throws `rate_limited` when that is too far away. */
  turn(chat: string): Promise<void>
}

interface Window {
  readonly count: number
  readonly perMs: number
}

const OVERALL: Window = { count: 30, perMs: 1_000 }
const GROUP: Window = { count: 20, perMs: 60_000 }
/** A few at once are fine (the parts of one long answer); after that it is one each interval. */
const BURST = 5
const LONGEST_WAIT_MS = 5_000
const FORGET_AFTER_MS = 60_000

interface ChatPace {
  /** Times of the last messages, for the window. */
  readonly times: number[]
  /** When the chat is even again: each message moves it by one interval. */
  evenAt: number
}

export function createPace(clock: Clock, chatIntervalMs = 1_000): Pace {
  const chats = new Map<string, ChatPace>()
  const overall: number[] = []

  const forget = (now: number) => {
    if (chats.size < 1_000) return
    for (const [chat, { times }] of chats) if ((times.at(-1) ?? 0) < now - FORGET_AFTER_MS) chats.delete(chat)
  }

  return {
    async turn(chat) {
      const now = clock.now()
      forget(now)
      const pace = chats.get(chat) ?? { times: [], evenAt: 0 }
      chats.set(chat, pace)
      const at = Math.max(
        now,
        pace.evenAt - (BURST - 1) * chatIntervalMs,
        earliest(overall, OVERALL),
        isGroup(chat) ? earliest(pace.times, GROUP) : 0,
      )
      if (at - now > LONGEST_WAIT_MS) {
        throw new SwitchboardError('rate_limited', 'kept below Telegram’s limit for one chat', {
          retryAfterMs: at - now,
        })
      }
      // The place is taken before the wait, so that two who wait get different ones.
      pace.evenAt = Math.max(at, pace.evenAt) + chatIntervalMs
      keep(pace.times, at)
      keep(overall, at)
      if (at > now) await new Promise<void>((resolve) => clock.after(at - now, resolve))
    },
  }
}

function earliest(times: readonly number[], { count, perMs }: Window): number {
  return (times[times.length - count] ?? Number.NEGATIVE_INFINITY) + perMs
}

function keep(times: number[], at: number): void {
  times.push(at)
  times.sort((a, b) => a - b)
  if (times.length > 30) times.shift()
}

/** Groups, supergroups and channels have negative ids; a public one may be named. */
function isGroup(chat: string): boolean {
  return chat.startsWith('-') || chat.startsWith('@')
}
