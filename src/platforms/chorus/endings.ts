// The end of a delivery: `idle` is the last event, so it waits until nothing that answers the turn is on its way. It is
// owed until the callback took it, refused it or is over, and that survives a crash: so long it stays on the shelf.
import {
  asSwitchboardError,
  type Cancel,
  type Clock,
  type Logger,
  type PlatformDeps,
  rowPosition,
} from '../../contract/index.ts'
import type { CallbackLines } from './callback-line.ts'
import { CALLBACK_LIFE_MS, type KeptDelivery, type RecentDeliveries } from './delivery-book.ts'

export interface Endings {
  end(kept: KeptDelivery, state: string): void
  /** Something was sent or failed for it: maybe that was the last. */
  lookAgain(kept: KeptDelivery): void
  /** Of an earlier life: ends it if its turn is over. */
  resume(kept: KeptDelivery): Promise<void>
  /** Its turn is known, maybe to another node, and not over. */
  isOpen(kept: KeptDelivery): Promise<boolean>
  stop(): void
}

const LOOK_AGAIN_MS = 50
const LONGEST_LOOK_MS = 30_000
/** What is stuck for another reason must not keep the turn open for ever. */
const WAIT_FOR_SENDS_MS = 60_000
const PAGE = 200
/** Of the nodes that took message and callback down. */
const CLOCKS_DIFFER_MS = 60_000
const OPEN = ['queued', 'sending']
/** States in which nothing more is expected of the agent. */
export const OVER: readonly string[] = ['answered', 'failed', 'expired']

export function createEndings(deps: {
  readonly clock: Clock
  readonly log: Logger
  readonly transcript: PlatformDeps['transcript']
  readonly book: RecentDeliveries
  readonly lines: CallbackLines
}): Endings {
  /** `reported`: its callback was told, or never will be, and nothing is left but to write it down. */
  const ending = new Map<
    KeptDelivery,
    { since: number; looks: number; reported: boolean; cancel: Cancel; busy: boolean }
  >()
  let stopped = false

  const look = async (kept: KeptDelivery): Promise<void> => {
    const state = ending.get(kept)
    if (!state || state.busy || stopped) return
    state.busy = true
    state.cancel()
    try {
      if (!state.reported) {
        if (!(await mayEnd(kept, state.since))) return later(kept)
        // A callback that is no more is told nothing more.
        if (!kept.gone) await tell(kept)
        state.reported = true
      }
      // Written before it is let go: what cannot be written now is written later.
      await deps.book.close(kept)
      ending.delete(kept)
    } catch (thrown) {
      if (!state.reported && deps.clock.now() - kept.at >= CALLBACK_LIFE_MS) {
        state.reported = true
        deps.log.warn({ problem: String(thrown) }, 'the end of a delivery was not told: its callback is over')
      }
      later(kept, asSwitchboardError(thrown).retryAfterMs)
    } finally {
      state.busy = false
    }
  }

  const mayEnd = async (kept: KeptDelivery, since: number): Promise<boolean> => {
    if (await isOwing(kept)) return false
    return !(await isSending(kept.conversation)) || deps.clock.now() - since >= WAIT_FOR_SENDS_MS
  }

  /** A reminder that is due tomorrow waits in the same channel and must not hold up the end of today's turn. */
  const isSending = async (conversation: string): Promise<boolean> => {
    const now = deps.clock.now()
    const waiting = { conversation, direction: 'out', onItsWay: true, limit: PAGE } as const
    for (let beforeSeq = Number.MAX_SAFE_INTEGER; ; ) {
      const rows = await deps.transcript({ ...waiting, beforeSeq })
      if (rows.some((row) => OPEN.includes(row.state) && row.at <= now)) return true
      const [oldest] = rows
      if (!oldest || rows.length < PAGE) return false
      beforeSeq = oldest.seq
    }
  }

  /** As long as the outbox says so: it gives up in the end, and then there is nothing to wait for. */
  const isOwing = async ({ conversation, owing }: KeptDelivery): Promise<boolean> => {
    const seq = owing === null ? null : rowPosition(owing)
    if (seq === null) return false
    const at = { afterSeq: seq - 1, beforeSeq: seq + 1, limit: 1 }
    const [row] = await deps.transcript({ conversation, direction: 'out', ...at })
    return row?.id === owing && OPEN.includes(row.state)
  }

  /** What the callback refuses for good is told as well as it can be. */
  const tell = (kept: KeptDelivery) =>
    deps.lines
      .post(kept, { type: 'lifecycle', status: 'idle', event_id: `${kept.name}.idle` })
      .catch((thrown: unknown) => {
        if (asSwitchboardError(thrown).code !== 'platform_rejected') throw thrown
      })

  const later = (kept: KeptDelivery, askedMs = 0) => {
    const state = ending.get(kept)
    if (!state || stopped) return
    const pauseMs = Math.min(LOOK_AGAIN_MS * 2 ** state.looks++, LONGEST_LOOK_MS)
    state.cancel = deps.clock.after(Math.max(askedMs, pauseMs), () => void look(kept))
  }

  const end = (kept: KeptDelivery, state: string) => {
    kept.ended = state
    if (ending.has(kept) || kept.done) return
    ending.set(kept, {
      since: deps.clock.now(),
      looks: 0,
      reported: false,
      cancel: () => undefined,
      busy: false,
    })
    void look(kept)
  }

  /** Backwards until it is found, or until what is older than the delivery itself. */
  const turnOf = async ({ conversation, messageId, at }: KeptDelivery) => {
    const page = { conversation, direction: 'in', limit: PAGE } as const
    let beforeSeq: number | undefined
    for (;;) {
      const rows = await deps.transcript(beforeSeq === undefined ? page : { ...page, beforeSeq })
      const found = rows.find((one) => one.platformMessageId === messageId)
      const [oldest] = rows
      if (found || !oldest || rows.length < PAGE || oldest.at < at - CLOCKS_DIFFER_MS) return found ?? null
      beforeSeq = oldest.seq
    }
  }

  return {
    end,
    lookAgain(kept) {
      const state = ending.get(kept)
      if (!state) return
      // Something moved: what was looked for ever more seldom is looked for soon again.
      state.looks = 0
      // Not at once: the outbox writes down what was sent after this.
      deps.clock.after(0, () => void look(kept))
    },
    async resume(kept) {
      const row = await turnOf(kept)
      if (row && OVER.includes(row.state)) end(kept, row.state)
    },
    async isOpen(kept) {
      const row = await turnOf(kept)
      return row !== null && !OVER.includes(row.state) && row.state !== 'consumed'
    },
    stop() {
      stopped = true
      for (const { cancel } of ending.values()) cancel()
    },
  }
}
