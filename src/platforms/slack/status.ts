// What the agent is doing, as the status of a thread: Slack forgets it after two minutes and with every answer, so it is
// said again until the work ends. Only threads have one.
import { type Address, type Cancel, type Clock, formatAddress } from '../../contract/index.ts'
import type { SlackClient } from './client.ts'
import { isStamp } from './stamps.ts'

const WORKING = 'is working on it…'
/** Work that takes longer goes on, but nobody believes the line any more. */
const AT_MOST_MS = 15 * 60_000

export interface ThreadStatus {
  working(to: Address, on: boolean): void
  say(to: Address, text: string): void
  stop(): void
}

interface Shown {
  text: string
  readonly until: number
  again: Cancel
}

export function createThreadStatus(
  client: SlackClient,
  { clock, everyMs }: { readonly clock: Clock; readonly everyMs: number },
): ThreadStatus {
  const shown = new Map<string, Shown>()

  // Lossy by contract: a status that fails is not told to anybody.
  const set = ({ conversation, thread }: Address, status: string) => {
    client
      .call(
        'assistant.threads.setStatus',
        { channel_id: conversation, thread_ts: thread, status },
        { repeatable: true },
      )
      .catch(() => undefined)
  }
  const keepUp = (to: Address, key: string) => {
    const line = shown.get(key)
    if (line === undefined) return
    set(to, line.text)
    if (clock.now() + everyMs >= line.until) return void shown.delete(key)
    line.again = clock.after(everyMs, () => keepUp(to, key))
  }
  const begin = (to: Address, text: string) => {
    const key = formatAddress(to)
    const before = shown.get(key)
    before?.again()
    shown.set(key, { text, until: before?.until ?? clock.now() + AT_MOST_MS, again: () => undefined })
    keepUp(to, key)
  }

  return {
    working(to, on) {
      if (!isStamp(to.thread) || /^[UW]/.test(to.conversation)) return
      const key = formatAddress(to)
      const line = shown.get(key)
      if (on && line === undefined) return begin(to, WORKING)
      if (on || line === undefined) return
      line.again()
      shown.delete(key)
      set(to, '')
    },
    say(to, text) {
      const words = text.replace(/\s+/g, ' ').trim().slice(0, 100)
      if (isStamp(to.thread) && words !== '' && shown.has(formatAddress(to))) begin(to, words)
    },
    stop() {
      for (const { again } of shown.values()) again()
      shown.clear()
    },
  }
}
