// The sessions whose messages wait for a free process. Each is tried again every second. A session whose message was
// stopped, revoked or expired is forgotten after a while.
import type { Cancel, Clock } from '../../contract/index.ts'

export interface WaitingSessions {
  /** There was no free process for it. */
  refused(session: string, why: string): void
  found(session: string): void
  /** Null: no session waits. */
  words(): string | null
  stop(): void
}

/** Longer than the pause between two tries. */
const FORGET_MS = 15_000

/** `changed` is called when `words` may have changed. */
export function createWaitingSessions(clock: Clock, changed: () => void): WaitingSessions {
  const waiting = new Map<string, { readonly why: string; readonly cancel: Cancel }>()
  let told: string | null = null
  const words = () => {
    const first = [...waiting.values()].at(0)
    return first === undefined ? null : `${first.why}: messages wait for a place`
  }
  const look = () => {
    if (words() === told) return
    told = words()
    changed()
  }
  const found = (session: string) => {
    waiting.get(session)?.cancel()
    waiting.delete(session)
    look()
  }
  return {
    refused(session, why) {
      waiting.get(session)?.cancel()
      waiting.set(session, { why, cancel: clock.after(FORGET_MS, () => found(session)) })
      look()
    },
    found,
    words,
    stop() {
      for (const { cancel } of waiting.values()) cancel()
      waiting.clear()
    },
  }
}
