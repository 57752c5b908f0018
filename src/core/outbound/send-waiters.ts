// Those who wait for a send to be confirmed: told at once when this node settles it, and made to look again when
// something happens in its lane elsewhere.
import type { Clock, SendRow, Store } from '../../contract/index.ts'

export interface SendWaiters {
  /** The row once it settled, or as it stands after `waitMs`. */
  wait(id: string, waitMs: number): Promise<SendRow | null>
  settled(id: string): void
  /** Somebody waits for it. */
  has(id: string): boolean
  lookAgain(lane: string): void
  /** Nobody waits any longer. */
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
      // Registered before the first look, so that nothing falls in between.
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
      // By a timer alone: a wall clock that is set back keeps nobody waiting.
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
