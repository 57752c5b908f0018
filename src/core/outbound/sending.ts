// SENDING: one row of the outbox to its end. `sending` is committed before the platform is called, `sent` only when it
// confirmed. What a crash left in `sending` is settled by the platform's own idempotency, by asking it, or, where it cannot
// tell, by policy and with a visible note. The lanes are the sender's (sender.ts).
import {
  asSwitchboardError,
  type Clock,
  defined,
  isSideAct,
  type ReasonCode,
  type Receipt,
  type SendMove,
  type SendRow,
  type Settings,
  type Store,
  type SwitchboardError,
  sideActLifeMs,
  type Work,
} from '../../contract/index.ts'
import type { StoreRetry } from '../store-retry.ts'
import { onceMore } from './duplicate-note.ts'
import type { Links } from './links.ts'
import { notArrived, requestOf } from './send-request.ts'
import type { SendWaiters } from './send-waiters.ts'
import { endOf, isPartialOp, settleStream } from './stream-rows.ts'
import type { Streams } from './streams.ts'

/** A lane that this node holds, by its token. */
export interface HeldLane {
  readonly lane: string
  readonly token: number
}

export interface SendLane extends HeldLane {
  /** When the next one in it is due; null: there is none. */
  readonly nextDueAt: number | null
}

export interface SendingDeps {
  readonly store: Store
  readonly clock: Clock
  readonly settings: () => Settings
  readonly links: Links
  readonly storeRetry: Pick<StoreRetry, 'persist'>
  readonly waiters: SendWaiters
  readonly crashPoint?: (name: string) => void
  /** Between 0 and 1. */
  readonly jitter: () => number
  /** Why the configuration lets nothing through to this integration. */
  readonly closedDoor: (integration: string) => ReasonCode | null
  /** Why a row may not be sent any more, or not yet: permission is asked again at the moment of sending. */
  readonly refusedNow: (row: SendRow) => Promise<ReasonCode | 'later' | null>
  readonly streams: Pick<Streams, 'shown' | 'written' | 'ended'>
  /** Another node has the lane. */
  readonly letGo: (lane: string) => void
  readonly wakeAfter: (work: Work, delayMs: number) => void
}

export interface Sending {
  /** True when the lane may have more to send at once. */
  sendOne(lane: SendLane, row: SendRow): Promise<boolean>
  /** What a crash left in `sending`. */
  settleLeftover(lane: HeldLane, row: SendRow): Promise<void>
  move(lane: HeldLane, row: SendRow, ...steps: readonly SendStep[]): Promise<void>
}

export type SendStep = Omit<SendMove, 'lane' | 'token' | 'id'>

/** Whether it may be sent is not known at this node yet. */
const NOT_KNOWN_MS = 5_000

export function createSending(deps: SendingDeps): Sending {
  const { store, clock, links } = deps

  /** True when the lane may have more to send at once. */
  const sendOne = async (lane: SendLane, row: SendRow): Promise<boolean> => {
    const link = links.get(row.integration)
    const refused = await refusal(row)
    if (refused === 'later') {
      await move(lane, row, { to: 'queued', reason: 'platform_unavailable', notBeforeMs: NOT_KNOWN_MS })
      deps.wakeAfter({ lane: lane.lane, scope: row.integration }, NOT_KNOWN_MS)
      return false
    }
    if (refused || !link || !row.op) {
      await move(lane, row, { to: 'failed', reason: refused ?? 'integration_missing' })
      return true
    }
    const isBeginning = isPartialOp(row.op)
    // Nobody will finish it any more, and nothing of it is shown.
    if (isBeginning && (await endOf(row, { store, written: deps.streams.written }))) {
      await move(lane, row, { to: 'failed', reason: 'given_up', detail: 'the answer was not finished' })
      return true
    }
    // An edit that is under way must not come after the final text.
    if (row.turn !== null && row.platformIds.length > 0) await deps.streams.ended(row.turn)
    let receipt: Receipt
    try {
      deps.crashPoint?.('outbox.before-send')
      receipt = await link.adapter.send(requestOf(row, row.op))
    } catch (thrown) {
      return sendFailed(lane, row, asSwitchboardError(thrown, 'platform_unavailable'))
    }
    // From here on it is confirmed: what fails now is not the platform, and must not be said of the message.
    deps.crashPoint?.('outbox.after-send')
    link.lastOutAt = clock.now()
    if (isBeginning) {
      await move(lane, row, { to: 'sending', platformIds: receipt.platformIds })
      deps.crashPoint?.('outbox.after-beginning')
      deps.streams.shown(row, receipt.platformIds)
      return true
    }
    // It is there, and nothing is behind it: what is left is to write that down, with whatever is written next.
    await confirm(lane, row, receipt, lane.nextDueAt === null && !deps.waiters.has(row.id))
    deps.crashPoint?.('outbox.after-receipt')
    return true
  }

  /** Permission is checked again at the moment of sending: the configuration may have changed meanwhile. */
  const refusal = async (row: SendRow) => deps.closedDoor(row.integration) ?? (await deps.refusedNow(row))

  const sendFailed = async (lane: HeldLane, row: SendRow, error: SwitchboardError) => {
    const isShown = row.platformIds.length > 0
    if (error.code === 'outcome_unknown' && isPartialOp(row.op)) {
      await settleLeftover(lane, row)
      return true
    }
    if (error.code === 'outcome_unknown' && !isShown) {
      const known = await lookedUp(row)
      if (known.outcome === 'sent') await confirm(lane, row, known.receipt)
      else if (known.outcome === 'unknown') await settleUnknown(lane, row, error.message)
      else return sendFailed(lane, row, notArrived(error))
      return true
    }
    const { sendMaxAttempts, sendRetryBaseMs, sendRetryMaxMs } = deps.settings().tunables
    // The message that showed its beginning is gone: the final text is sent anew.
    if (isShown && !error.nature.retryable && error.code !== 'outcome_unknown') {
      await move(lane, row, { to: 'queued', platformIds: [], detail: error.message })
      return true
    }
    if (!error.nature.retryable && error.code !== 'outcome_unknown') {
      const reason = error.code === 'window_closed' ? 'window_closed' : 'platform_rejected'
      await move(lane, row, { to: 'failed', reason, detail: error.message })
      return true
    }
    if (row.attempts >= sendMaxAttempts) {
      await move(lane, row, { to: 'failed', reason: 'max_attempts', detail: error.message })
      return true
    }
    const backoffMs =
      Math.min(sendRetryBaseMs * 2 ** (row.attempts - 1), sendRetryMaxMs) * (0.5 + deps.jitter() / 2)
    const notBeforeMs = Math.max(error.retryAfterMs ?? 0, Math.round(backoffMs))
    if (isSideAct(row) && clock.now() + notBeforeMs - row.createdAt > sideActLifeMs(row)) {
      await move(lane, row, { to: 'failed', reason: 'given_up', detail: error.message })
      return true
    }
    const reason = error.code === 'rate_limited' ? 'platform_busy' : 'platform_unavailable'
    await move(lane, row, { to: 'queued', reason, detail: error.message, notBeforeMs })
    deps.wakeAfter({ lane: lane.lane, scope: row.integration }, notBeforeMs)
    return false
  }

  const settleLeftover = async (lane: HeldLane, row: SendRow) => {
    const adapter = links.get(row.integration)?.adapter
    if (!adapter || !row.op) {
      // It may have arrived, and nobody is left who could tell.
      return move(lane, row, { to: 'unknown', reason: 'unconfirmed', detail: 'the integration is gone' })
    }
    const { written } = deps.streams
    const stream = await settleStream(row, requestOf(row, row.op), { adapter, store, written })
    if (stream === 'wait') return
    if (stream !== null && stream !== 'unknown') return move(lane, row, stream)
    if (stream === null && adapter.abilities.idempotentSend) return move(lane, row, { to: 'queued' })
    if (stream !== null || !adapter.reconcile)
      return settleUnknown(lane, row, 'interrupted before the platform confirmed')
    const found = await lookedUp(row)
    if (found.outcome === 'sent') return confirm(lane, row, found.receipt)
    if (found.outcome === 'absent') return move(lane, row, { to: 'queued' })
    return settleUnknown(lane, row, 'the platform could not tell whether it arrived')
  }

  /** What the platform itself says became of a send whose answer is lost. */
  const lookedUp = async (row: SendRow) => {
    const unknown = { outcome: 'unknown' } as const
    const adapter = links.get(row.integration)?.adapter
    if (!adapter?.reconcile || !row.op) return unknown
    return adapter.reconcile(requestOf(row, row.op)).catch(() => unknown)
  }

  const confirm = (lane: HeldLane, row: SendRow, { platformIds, conversation }: Receipt, unhurried = false) =>
    written(lane, row, [{ to: 'sent', platformIds, ...defined({ conversation }) }], unhurried)

  /** Resent at most once with a visible note, or left for the operator. */
  const settleUnknown = async (lane: HeldLane, row: SendRow, detail: string) => {
    const again = row.op ? onceMore(row.op, row.attempts) : null
    const unknown = { to: 'unknown', reason: 'unconfirmed', detail } as const
    // In one commit: whoever waits for the row, or sends the same, must not find it given up in between.
    if (deps.settings().tunables.unknownPolicy === 'note' && again)
      await move(lane, row, unknown, { to: 'queued', op: again, reason: 'unconfirmed' })
    else await move(lane, row, unknown)
  }

  const move = (lane: HeldLane, row: SendRow, ...steps: readonly SendStep[]) => written(lane, row, steps)

  const written = async (
    lane: HeldLane,
    row: SendRow,
    steps: readonly SendStep[],
    unhurried = false,
  ): Promise<void> => {
    const moves = steps.map((to): SendMove => ({ lane: lane.lane, token: lane.token, id: row.id, ...to }))
    const [outcome] = await deps.storeRetry.persist('settle a send', () =>
      store.moveSends(moves, { unhurried }),
    )
    if (outcome === 'stale') deps.letGo(lane.lane)
    const last = steps.at(-1)?.to
    // A part that fails for good takes the parts behind it along.
    if (last === 'failed' && row.group !== null) deps.waiters.lookAgain(lane.lane)
    else if (last !== 'queued' && last !== 'sending') deps.waiters.settled(row.id)
  }

  return { sendOne, settleLeftover, move }
}
