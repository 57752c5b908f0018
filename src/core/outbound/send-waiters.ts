// Callers that wait for the confirmation of a send. They wake at once when this node settles it, and read again when
// its lane changes elsewhere.
import type { Clock, SendRow, Store } from '../../contract/index.ts'

export interface SendWaiters {
  /** Resolves with the row once it is settled, or with its state after `waitMs`. */
  wait(id: string, waitMs: number): Promise<SendRow | null>
  settled(id: string): void
  /** Whether a caller waits for this send. */
  has(id: string): boolean
  lookAgain(lane: string): void
  /** Ends all waits. */
  stop(): void
}

interface Waiter {
  readonly id: string
  lane: string | null
  wake: () => void
}

export function createSendWaiters(store: Pick<Store, 'send'>, clock: Clock): SendWaiters {
  const waiters = new Set<Waiter>()
  const byId = new Map<string, Set<Waiter>>()
  let stopped = false

  const leave = (waiter: Waiter) => {
    waiters.delete(waiter)
    const same = byId.get(waiter.id)
    same?.delete(waiter)
    if (same?.size === 0) byId.delete(waiter.id)
  }

  return {
    async wait(id, waitMs) {
      let over = waitMs <= 0
      // Registered before the first read, so no event falls in between.
      let news: Promise<void> = Promise.resolve()
      const waiter: Waiter = { id, lane: null, wake: () => undefined }
      const listen = () => {
        news = new Promise((resolve) => {
          waiter.wake = resolve
        })
      }
      listen()
      waiters.add(waiter)
      byId.set(id, (byId.get(id) ?? new Set()).add(waiter))
      // A timer decides, so a wall clock that is set back delays no caller.
      const cancel = clock.after(waitMs, () => {
        over = true
        waiter.wake()
      })
      try {
        for (;;) {
          const row = await store.send(id)
          const open = row?.state === 'queued' || row?.state === 'sending'
          if (!row || !open || stopped || over) return row
          waiter.lane = row.lane
          await news
          listen()
        }
      } finally {
        cancel()
        leave(waiter)
      }
    },
    settled(id) {
      for (const waiter of byId.get(id) ?? []) waiter.wake()
    },
    has: (id) => byId.has(id),
    lookAgain(lane) {
      for (const waiter of waiters) if (waiter.lane === lane) waiter.wake()
    },
    stop() {
      stopped = true
      for (const waiter of waiters) waiter.wake()
    },
  }
}
