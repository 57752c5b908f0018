// SENDING: one row of the outbox to its end. `sending` is committed before the platform is called, `sent` only when it
// confirmed. A try that may have arrived, also one that a crash cut off, is settled as open-outcomes.ts says. The lanes are
// the sender's (sender.ts).
import {
  asSwitchboardError,
  type Clock,
  defined,
  isSideAct,
  isStreamLane,
  mayHaveArrived,
  type OpenOutcome,
  REASONS,
  type ReadBack,
  type ReasonCode,
  type Receipt,
  type SendCause,
  type SendMove,
  type SendRequest,
  type SendRow,
  type Settings,
  type StoreBesideOutlet,
  type SwitchboardError,
  sideActLifeMs,
  type Work,
} from '../../contract/index.ts'
import type { StoreRetry } from '../store-retry.ts'
import type { Link, Links } from './links.ts'
import {
  type Asked,
  OUTCOME_TIMES,
  type OutcomeTimes,
  openedAgain,
  openOutcomeOf,
  type SendStep,
  stepOf,
} from './open-outcomes.ts'
import { requestOf } from './send-request.ts'
import type { SendWaiters } from './send-waiters.ts'
import { endOf, isPartialOp } from './stream-rows.ts'
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
  readonly store: StoreBesideOutlet
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
  /** Something was not delivered: its agent and the person have yet to hear of it. */
  readonly undelivered: () => void
  /** Other times than the usual ones, for tests. */
  readonly outcomeTimes?: Partial<OutcomeTimes>
  /** Another node has the lane. */
  readonly letGo: (lane: string) => void
  readonly wakeAfter: (work: Work, delayMs: number) => void
}

export interface Sending {
  sendOne(lane: SendLane, row: SendRow): Promise<SendEnd>
  /** What a crash left in `sending`, or whose outcome is open and which is to be looked at now. */
  settleLeftover(lane: HeldLane, row: SendRow): Promise<void>
  move(lane: HeldLane, row: SendRow, ...steps: readonly SendStep[]): Promise<void>
}

/** `more`: the lane may have more to send at once. `waits`: not now. `open`: the lane is to be looked at again. */
export type SendEnd = 'more' | 'waits' | 'open'

/** Whether it may be sent is not known at this node yet. */
const NOT_KNOWN_MS = 5_000
/** What is sent later than that was kept back by something. */
const LATE_MS = 2_000
/** How long a question waits for the parts of an answer, and how often it looks. */
const AMID_MS = 20_000
const AMID_LOOK_MS = 2_000
const AMID_ROWS = 100
/** A notice that is tried once is not worth sending after a day. */
const ONCE_MS = 24 * 3_600_000
/** What an agent said itself. */
const TOLD_TO_AGENTS: readonly SendCause[] = [
  'reply',
  'send_message',
  'channel_send',
  'notify_user',
  'prompt',
]
/** Nothing is said where the reason is that nothing may be said there. */
const UNNOTICED: readonly ReasonCode[] = [
  'not_allowed',
  'held',
  'window_closed',
  'integration_missing',
  'integration_disabled',
]

export function createSending(deps: SendingDeps): Sending {
  const { store, clock, links } = deps

  const sendOne = async (lane: SendLane, row: SendRow): Promise<SendEnd> => {
    const link = links.get(row.integration)
    const refused = await refusal(row)
    if (refused === 'later') {
      await move(lane, row, { to: 'queued', reason: 'platform_unavailable', notBeforeMs: NOT_KNOWN_MS })
      deps.wakeAfter({ lane: lane.lane, scope: row.integration }, NOT_KNOWN_MS)
      return 'waits'
    }
    if (refused || !link || !row.op) return giveUp(lane, row, { reason: refused ?? 'integration_missing' })
    if (row.op.kind === 'text' && row.op.once && clock.now() - row.createdAt > ONCE_MS)
      return giveUp(lane, row, { reason: 'given_up' })
    const over = await askedInVain(row)
    if (over !== null) {
      // Nobody is told: the question has its end, and whoever it was shown to was told of that.
      const to = mayHaveArrived(row.open) ? 'unknown' : 'failed'
      await move(lane, row, { to, reason: 'given_up', detail: over })
      return 'more'
    }
    if (await isAmidAnswer(row)) {
      const detail = 'it waits for the end of a long answer in that chat'
      await move(lane, row, { to: 'queued', detail, notBeforeMs: AMID_LOOK_MS })
      deps.wakeAfter({ lane: lane.lane, scope: row.integration }, AMID_LOOK_MS)
      return 'waits'
    }
    // It waited for longer than the platform would tell it from its first try.
    if (row.open?.harmlessUntil !== undefined && clock.now() > row.open.harmlessUntil) {
      await settle(lane, row, row.detail ?? 'the platform never confirmed it')
      return 'open'
    }
    const isBeginning = isPartialOp(row.op)
    // Nobody will finish it any more, and nothing of it is shown.
    if (isBeginning && (await endOf(row, { store, written: deps.streams.written }))) {
      // Or its final text came since it was taken: then the row holds the whole.
      const isWhole = !isPartialOp((await store.send(row.id))?.op ?? row.op)
      const unfinished = { reason: 'given_up', detail: 'the answer was not finished' } as const
      await move(lane, row, isWhole ? { to: 'queued' } : { to: 'failed', ...unfinished })
      return 'more'
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
    link.okAt = link.lastOutAt
    if (isBeginning) {
      await move(lane, row, { to: 'sending', platformIds: receipt.platformIds, ...openEnds(row) })
      deps.crashPoint?.('outbox.after-beginning')
      deps.streams.shown(row, receipt.platformIds)
      return 'more'
    }
    // It is there, and nothing is behind it: what is left is to write that down, with whatever is written next.
    await confirm(lane, row, receipt, lane.nextDueAt === null && !deps.waiters.has(row.id))
    deps.crashPoint?.('outbox.after-receipt')
    return 'more'
  }

  /** A question that is asked late, or again: why nobody needs to answer it any more; null: it is open. */
  const askedInVain = async (row: SendRow): Promise<string | null> => {
    const isLate = row.attempts > 1 || clock.now() - row.createdAt > LATE_MS
    if (row.op?.kind !== 'prompt' || row.approval === null || !isLate) return null
    const asked = await store.approval(row.approval)
    // Ids are used again.
    if (asked && asked.createdAt > row.createdAt) return `the question is over, and is not ${askedWord(row)}`
    if (asked?.state === 'pending') return null
    return `the question is over (${asked?.state ?? 'gone'}), and is not ${askedWord(row)}`
  }

  /**
   * A question to a person's direct chat goes by the person's id, and an answer there by the chat's: two lanes of one chat. It
   * is not put between the parts of an answer, for as long as those go on.
   */
  const isAmidAnswer = async (row: SendRow): Promise<boolean> => {
    if (row.op?.kind !== 'prompt' || clock.now() - row.createdAt > AMID_MS) return false
    const { integration, conversation } = row
    const open = await store.sends({ integration, states: ['queued', 'sending'], limit: AMID_ROWS })
    const turns = new Set(
      open.flatMap((one) =>
        one.group === null || one.turn === null || one.reason !== null || one.conversation === conversation
          ? []
          : [one.turn],
      ),
    )
    for (const id of turns) {
      const turn = await store.turn(id)
      if (turn?.sender === conversation && turn.body?.chat !== 'group') return true
    }
    return false
  }

  /** Permission is checked again at the moment of sending: the configuration may have changed meanwhile. */
  const refusal = async (row: SendRow) => deps.closedDoor(row.integration) ?? (await deps.refusedNow(row))

  const sendFailed = async (lane: HeldLane, tried: SendRow, error: SwitchboardError): Promise<SendEnd> => {
    const isShown = tried.platformIds.length > 0
    const row = error.code === 'outcome_unknown' ? withOpenTry(tried) : tried
    if (error.code === 'outcome_unknown' && !isShown && !repeatsShowNothing(row)) {
      await settle(lane, row, error.message)
      return 'open'
    }
    // The message that showed its beginning is gone: the final text is sent anew.
    if (isShown && !error.nature.retryable && error.code !== 'outcome_unknown') {
      await move(lane, row, { to: 'queued', platformIds: [], detail: error.message })
      return 'more'
    }
    if (!error.nature.retryable && error.code !== 'outcome_unknown') {
      const reason = error.code === 'window_closed' ? 'window_closed' : 'platform_rejected'
      return giveUp(lane, row, { reason, detail: error.message }, error.placeGone)
    }
    const notBeforeMs = Math.max(error.retryAfterMs ?? 0, retryMs(row))
    const lifeMs = isSideAct(row) ? sideActLifeMs(row) : deps.settings().tunables.sendExpiryMs
    if (clock.now() + notBeforeMs - Math.max(row.createdAt, row.dueAt) > lifeMs) {
      const reason = isSideAct(row) ? 'given_up' : 'platform_unavailable'
      return giveUp(lane, row, { reason, detail: error.message })
    }
    const reason = error.code === 'rate_limited' ? 'platform_busy' : 'platform_unavailable'
    await move(lane, row, { to: 'queued', reason, detail: error.message, notBeforeMs, ...openOf(row, tried) })
    deps.wakeAfter({ lane: lane.lane, scope: row.integration }, notBeforeMs)
    return 'waits'
  }

  /** A side act is never told of: what became of its tries is not kept. */
  const withOpenTry = (row: SendRow): SendRow =>
    isSideAct(row) ? row : { ...row, open: openedAgain(row, clock.now()) }

  /**
   * It is not sent again. `failed` only where no try of it can have arrived: else the platform is asked, and where it cannot
   * tell the row is `unknown`.
   */
  const giveUp = async (
    lane: HeldLane,
    row: SendRow,
    { reason, detail }: { readonly reason: ReasonCode; readonly detail?: string },
    placeGone = false,
  ): Promise<SendEnd> => {
    const quiet = placeGone || UNNOTICED.includes(reason)
    if (!row.open || !mayHaveArrived(row.open)) {
      await end(lane, row, { to: 'failed', reason, ...defined({ detail }) }, quiet)
      return 'more'
    }
    const why = detail ?? `given up: ${REASONS[reason].text}`
    if (row.platformIds.length > 0 || repeatsShowNothing(row))
      await end(lane, row, { to: 'unknown', reason: 'unconfirmed', detail: why }, quiet)
    else await settle(lane, { ...row, open: { ...row.open, givenUp: { reason, quiet } } }, why)
    return 'open'
  }

  const retryMs = (row: SendRow) => {
    const { sendRetryBaseMs, sendRetryMaxMs } = deps.settings().tunables
    const backoffMs = Math.min(sendRetryBaseMs * 2 ** Math.max(0, row.attempts - 1), sendRetryMaxMs)
    return Math.round(backoffMs * (0.5 + deps.jitter() / 2))
  }

  /** Doing it twice shows the same. */
  const repeatsShowNothing = ({ op, integration }: SendRow) =>
    op?.kind === 'edit' ||
    op?.kind === 'react' ||
    links.get(integration)?.adapter.abilities.idempotentSend === true

  const settleLeftover = async (lane: HeldLane, row: SendRow) => {
    const known = row.reason === 'outcome_open' ? row.detail : null
    const detail = known ?? 'interrupted before the platform confirmed'
    if (row.reason === 'outcome_open') return settle(lane, row, detail)
    const tried = withOpenTry(row)
    if (row.op && repeatsShowNothing(row) && !isStreamLane(row.lane))
      return move(lane, row, { to: 'queued', ...openOf(tried, row) })
    return settle(lane, tried, detail)
  }

  /** Brings a row on whose outcome is open. */
  const settle = async (lane: HeldLane, row: SendRow, detail: string): Promise<void> => {
    const link = links.get(row.integration)
    if (!link || !row.op) {
      // It may have arrived, and nobody is left who could tell.
      const unknown = { to: 'unknown', reason: 'unconfirmed', detail: 'the integration is gone' } as const
      return end(lane, row, unknown, true)
    }
    if (isStreamLane(row.lane) && row.platformIds.length > 0) {
      const shown = isPartialOp(row.op)
        ? await endOf(row, { store, written: deps.streams.written })
        : ({ to: 'queued' } as const)
      return shown === null ? undefined : move(lane, row, shown)
    }
    const open = openOutcomeOf(row, clock.now())
    const asked = await ask(link, requestOf(row, row.op), open)
    if (asked.outcome === 'sent') {
      // Of a stream its beginning stands there: what was written meanwhile is to be shown.
      if (isStreamLane(row.lane))
        return move(lane, row, { to: 'sending', platformIds: asked.receipt.platformIds, open: null })
      return confirm(lane, row, asked.receipt)
    }
    const { unknownPolicy, sendExpiryMs } = deps.settings().tunables
    const step = stepOf(row, row.op, open, asked, detail, {
      times: { ...OUTCOME_TIMES, ...deps.outcomeTimes },
      now: clock.now(),
      hold: unknownPolicy === 'hold',
      sendExpiryMs,
      retryMs: retryMs(row),
      jitter: deps.jitter(),
      okAt: link.okAt,
    })
    if (step.to === 'unknown' || step.to === 'failed') return end(lane, row, step, open.givenUp?.quiet)
    await move(lane, row, step)
    const dueMs = step.lookAt === undefined ? (step.notBeforeMs ?? 0) : step.lookAt - clock.now()
    deps.wakeAfter({ lane: lane.lane, scope: row.integration }, dueMs)
  }

  /** What the platform itself says became of a send whose answer is lost. */
  const ask = async (
    link: Link,
    request: SendRequest,
    open: OpenOutcome,
  ): Promise<Asked | Extract<ReadBack, { readonly outcome: 'sent' }>> => {
    const { reconcile } = link.adapter
    if (!reconcile) return { outcome: 'unknown' }
    try {
      const told = await reconcile({ ...request, tried: { since: open.since, endedAt: open.endedAt } })
      if (told.outcome === 'sent' || told.outcome === 'absent') link.okAt = clock.now()
      return told
    } catch (thrown) {
      const error = asSwitchboardError(thrown, 'platform_unavailable')
      const isAway = error.nature.retryable || error.code === 'outcome_unknown'
      return isAway ? { outcome: 'later', error } : { outcome: 'unknown' }
    }
  }

  const confirm = (lane: HeldLane, row: SendRow, { platformIds, conversation }: Receipt, unhurried = false) =>
    written(lane, row, [{ to: 'sent', platformIds, ...defined({ conversation }) }], unhurried)

  /** It was not delivered, or nobody knows: that is told to its agent, and to the person. */
  const end = (lane: HeldLane, row: SendRow, step: SendStep, quiet = false) =>
    move(lane, row, { ...step, tell: whoIsTold(row, quiet) })

  /** `quiet`: nothing may or can be said there. */
  const whoIsTold = (row: SendRow, quiet: boolean) => {
    const isSaid = row.op !== null && row.op.kind !== 'react' && !isSideAct(row) && !isPartialOp(row.op)
    const isAgents = row.agent !== null && row.session !== null && TOLD_TO_AGENTS.includes(row.cause)
    const oneWay = links.get(row.integration)?.adapter.abilities.oneWay === true
    const isAnswer = row.cause === 'reply' || row.cause === 'prompt'
    return {
      // Whoever waits for it hears it there.
      agent: isSaid && isAgents && !deps.waiters.has(row.id),
      person: isSaid && isAnswer && !oneWay && !quiet,
    }
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
    if (steps.some(({ tell }) => tell?.agent || tell?.person)) deps.undelivered()
    const last = steps.at(-1)?.to
    // A part that fails for good takes the parts behind it along.
    if (last === 'failed' && row.group !== null) deps.waiters.lookAgain(lane.lane)
    else if (last !== 'queued' && last !== 'sending') deps.waiters.settled(row.id)
  }

  return { sendOne, settleLeftover, move }
}

const askedWord = ({ open }: SendRow) => (open === undefined ? 'asked' : 'asked again')

/** What is to be written of its open outcome, where that changed. When others go first is not changed by it. */
function openOf({ open, yieldsAt }: SendRow, before: SendRow): Pick<SendStep, 'open' | 'yieldsAt'> {
  return open === undefined || open === before.open ? {} : { open, yieldsAt: yieldsAt ?? null }
}

/** The try before it may have left a mark on the row. */
function openEnds({ open }: SendRow): { readonly open?: null } {
  return open === undefined ? {} : { open: null }
}
