// The sessions whose messages wait for a free process. One that waits is tried again each second. One whose message was
// stopped, revoked or expired is tried no more, and is forgotten after a while.
import type { Cancel, Clock } from '../../contract/index.ts'

export interface WaitingSessions {
  /** There was no place for it. */
  refused(session: string, why: string): void
  found(session: string): void
  /** Null: none waits. */
  words(): string | null
  stop(): void
}

/** Longer than the pause between two tries of a message that waits. */
const FORGET_MS = 15_000

/** `changed` hears when `words` may be others. */
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
