// The agent's status in a thread. Slack drops it after two minutes and with every answer, so it is repeated until the
// work ends. Only threads have a status.
import {
  type Address,
  asSwitchboardError,
  type Cancel,
  type Clock,
  formatAddress,
} from '../../contract/index.ts'
import { wordsIn } from '../../words/index.ts'
import type { SlackClient } from './api/client.ts'
import { isStamp } from './stamps.ts'

/** After this time the status ends, although the work continues. */
const AT_MOST_MS = 15 * 60_000
/** The least time between two texts for one thread. The newest one is shown. */
const WORDS_EVERY_MS = 3_000

export interface ThreadStatus {
  working(to: Address, on: boolean): void
  say(to: Address, text: string): void
  stop(): void
}

interface Shown {
  text: string
  readonly until: number
  /** When the agent's own text was last shown. */
  wordsAt: number | null
  again: Cancel
}

export function createThreadStatus(
  client: SlackClient,
  { clock, everyMs }: { readonly clock: Clock; readonly everyMs: number },
): ThreadStatus {
  const shown = new Map<string, Shown>()
  // No status before this time, because Slack asked to wait.
  let quietUntil = 0

  // Lossy by contract: a failed status is ignored.
  const set = ({ conversation, thread }: Address, status: string) => {
    if (clock.now() < quietUntil) return
    client
      .call(
        'assistant.threads.setStatus',
        { channel_id: conversation, thread_ts: thread, status },
        { repeatable: true },
      )
      .catch((thrown: unknown) => {
        const { retryAfterMs = 0 } = asSwitchboardError(thrown)
        quietUntil = Math.max(quietUntil, clock.now() + retryAfterMs)
      })
  }
  const keepUp = (to: Address, key: string) => {
    const line = shown.get(key)
    if (line === undefined) return
    set(to, line.text)
    if (clock.now() + everyMs >= line.until) return void shown.delete(key)
    line.again = clock.after(everyMs, () => keepUp(to, key))
  }
  /** An agent may change its text at any rate. The newest is shown from time to time. */
  const change = (to: Address, key: string, line: Shown, text: string) => {
    line.text = text
    line.again()
    const sinceMs = line.wordsAt === null ? WORDS_EVERY_MS : Math.abs(clock.now() - line.wordsAt)
    const show = () => {
      line.wordsAt = clock.now()
      keepUp(to, key)
    }
    if (sinceMs >= WORDS_EVERY_MS) show()
    else line.again = clock.after(WORDS_EVERY_MS - sinceMs, show)
  }

  return {
    working(to, on) {
      if (!isStamp(to.thread) || /^[UW]/.test(to.conversation)) return
      const key = formatAddress(to)
      const line = shown.get(key)
      if (on && line === undefined) {
        const until = clock.now() + AT_MOST_MS
        shown.set(key, {
          text: wordsIn().platforms.slack.working,
          until,
          wordsAt: null,
          again: () => undefined,
        })
        return keepUp(to, key)
      }
      if (on || line === undefined) return
      line.again()
      shown.delete(key)
      set(to, '')
    },
    say(to, text) {
      const words = text.replace(/\s+/g, ' ').trim().slice(0, 100)
      const key = formatAddress(to)
      const line = shown.get(key)
      if (isStamp(to.thread) && words !== '' && line !== undefined) change(to, key, line, words)
    },
    stop() {
      for (const { again } of shown.values()) again()
      shown.clear()
    },
  }
}
