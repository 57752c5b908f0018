// The end of a delivery. `idle` is the last event, so it waits until no answer of the turn is being sent. It is stored
// as owed until the callback took it, refused it or expired, so it survives a crash.
import {
  asSwitchboardError,
  type Cancel,
  type Clock,
  type Logger,
  type PlatformDeps,
  rowPosition,
} from '../../contract/index.ts'
import type { CallbackLines } from './callback-line.ts'
import { CALLBACK_LIFE_MS, type KeptDelivery, type RecentDeliveries } from './recent-deliveries.ts'

export interface Endings {
  end(kept: KeptDelivery, state: string): void
  /** A message for it was sent or failed. It may have been the last. */
  lookAgain(kept: KeptDelivery): void
  /** Ends a delivery of an earlier run if its turn is over. */
  resume(kept: KeptDelivery): Promise<void>
  /** Whether its turn is open here or at another node. */
  isOpen(kept: KeptDelivery): Promise<boolean>
  stop(): void
}

const LOOK_AGAIN_MS = 50
const LONGEST_LOOK_MS = 30_000
/** A send that is stuck for another reason must not keep the turn open for ever. */
const WAIT_FOR_SENDS_MS = 60_000
const PAGE = 200
/** The clocks of the nodes that stored message and callback may differ by this much. */
const CLOCKS_DIFFER_MS = 60_000
const OPEN = ['queued', 'sending']
/** States in which nothing more is expected of the agent. */
export const OVER: readonly string[] = ['answered', 'failed', 'expired']

export function createEndings(deps: {
  readonly clock: Clock
  readonly log: Logger
  readonly transcript: PlatformDeps['transcript']
  readonly recent: RecentDeliveries
  readonly lines: CallbackLines
}): Endings {
  // `reported`: the callback was informed, or never will be. Only storing it is left.
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
        // A callback that no longer exists gets nothing more.
        if (!kept.gone) await tell(kept)
        state.reported = true
      }
      // Stored before it is dropped. If it cannot be stored now, that is repeated.
      await deps.recent.close(kept)
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

  /** A reminder for tomorrow waits in the same channel and must not delay the end of today's turn. */
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

  /** True until the outbox gives up. */
  const isOwing = async ({ conversation, owing }: KeptDelivery): Promise<boolean> => {
    const seq = owing === null ? null : rowPosition(owing)
    if (seq === null) return false
    const at = { afterSeq: seq - 1, beforeSeq: seq + 1, limit: 1 }
    const [row] = await deps.transcript({ conversation, direction: 'out', ...at })
    return row?.id === owing && OPEN.includes(row.state)
  }

  /** A final refusal by the callback ends the report. */
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

  /** Searches backwards until it is found, or until messages are older than the delivery. */
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
      // Something changed, so the looks become frequent again.
      state.looks = 0
      // Later, because the outbox stores the result of the send after this call.
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
