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

const OVERALL: readonly Window[] = [{ count: 30, perMs: 1_000 }]
// A few at once are fine (the parts of one long answer); a second each is the average.
const CHAT: readonly Window[] = [{ count: 5, perMs: 5_000 }]
const GROUP: readonly Window[] = [...CHAT, { count: 20, perMs: 60_000 }]
const LONGEST_WAIT_MS = 5_000
const FORGET_AFTER_MS = 60_000

export function createPace(clock: Clock): Pace {
  const sent = new Map<string, number[]>()
  const overall: number[] = []

  const earliest = (times: readonly number[], windows: readonly Window[], now: number): number => {
    let at = now
    for (const { count, perMs } of windows) {
      const last = times[times.length - count]
      if (last !== undefined) at = Math.max(at, last + perMs)
    }
    return at
  }

  const forget = (now: number) => {
    if (sent.size < 1_000) return
    for (const [chat, times] of sent) if ((times.at(-1) ?? 0) < now - FORGET_AFTER_MS) sent.delete(chat)
  }

  return {
    async turn(chat) {
      const now = clock.now()
      forget(now)
      const times = sent.get(chat) ?? []
      sent.set(chat, times)
      const at = Math.max(earliest(times, isGroup(chat) ? GROUP : CHAT, now), earliest(overall, OVERALL, now))
      if (at - now > LONGEST_WAIT_MS) {
        throw new SwitchboardError('rate_limited', 'kept below Telegram’s limit for one chat', {
          retryAfterMs: at - now,
        })
      }
      // The place is taken before the wait, so that two who wait get different ones.
      keep(times, at)
      keep(overall, at)
      if (at > now) await new Promise<void>((resolve) => clock.after(at - now, resolve))
    },
  }
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
