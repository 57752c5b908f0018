// SENDING: takes one row of the outbox to its end. `sending` is committed before the platform is called, and `sent`
// only after it confirmed. An attempt that may have arrived, even one that a crash cut off, is settled by the rules of
// open-outcomes.ts. The sender (sender.ts) owns the lanes.
import {
  asSwitchboardError,
  type Clock,
  defined,
  isSideAct,
  isStreamLane,
  mayHaveArrived,
  type OpenOutcome,
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
import { wordsIn } from '../../words/index.ts'
import type { Link, Links } from '../links.ts'
import type { StoreRetry } from '../store-retry.ts'
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

/** A lane that this node holds, with its token. */
export interface HeldLane {
  readonly lane: string
  readonly token: number
}

export interface SendLane extends HeldLane {
  /** When the next row of the lane is due; null: there is none. */
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
  /** Why the configuration admits no message to this integration; null: it does. */
  readonly closedBy: (integration: string) => ReasonCode | null
  /** Why a row may not be sent any more, or not yet. Permission is checked again at the moment of sending. */
  readonly refusedNow: (row: SendRow) => Promise<ReasonCode | 'later' | null>
  readonly streams: Pick<Streams, 'shown' | 'written' | 'ended'>
  /** A message was not delivered. Its agent and the person have yet to be informed. */
  readonly undelivered: () => void
  /** Replaces the default times, for tests. */
  readonly outcomeTimes?: Partial<OutcomeTimes>
  /** Another node has the lane. */
  readonly letGo: (lane: string) => void
  readonly wakeAfter: (work: Work, delayMs: number) => void
}

export interface Sending {
  sendOne(lane: SendLane, row: SendRow): Promise<SendEnd>
  /** Settles a row that a crash left in `sending`, or an open outcome that is due for a look. */
  recoverSend(lane: HeldLane, row: SendRow): Promise<void>
  move(lane: HeldLane, row: SendRow, ...steps: readonly SendStep[]): Promise<void>
}

/** `more`: the lane may have more to send at once. `waits`: not now. `open`: check the lane again. */
export type SendEnd = 'more' | 'waits' | 'open'

/** Delay while this node does not yet know whether a row may be sent. */
const NOT_KNOWN_MS = 5_000
/** A row that is sent later than this was held back. */
const LATE_MS = 2_000
/** How long a question waits for the parts of an answer, and how often it checks. */
const AMID_MS = 20_000
const AMID_LOOK_MS = 2_000
const AMID_ROWS = 100
/** A notice with one attempt is not worth sending after a day. */
const ONCE_MS = 24 * 3_600_000
/** Messages that an agent sent itself. */
const TOLD_TO_AGENTS: readonly SendCause[] = [
  'reply',
  'send_message',
  'channel_send',
  'notify_user',
  'prompt',
]
/** Reasons without a notice, because no notice may be sent there either. */
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
      // No notice: the question has ended, and the chats that showed it were updated.
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
    // The row waited beyond the time in which the platform recognises the repeat.
    if (row.open?.harmlessUntil !== undefined && clock.now() > row.open.harmlessUntil) {
      await settle(lane, row, row.detail ?? 'the platform never confirmed it')
      return 'open'
    }
    const isBeginning = isPartialOp(row.op)
    // The turn has ended, so the agent will not finish the answer, and none of it is shown.
    if (isBeginning && (await endOf(row, { store, written: deps.streams.written }))) {
      // The final text may have arrived since the take. Then the row holds the whole answer.
      const isWhole = !isPartialOp((await store.send(row.id))?.op ?? row.op)
      const unfinished = { reason: 'given_up', detail: 'the answer was not finished' } as const
      await move(lane, row, isWhole ? { to: 'queued' } : { to: 'failed', ...unfinished })
      return 'more'
    }
    // A running edit must not arrive after the final text.
    if (row.turn !== null && row.platformIds.length > 0) await deps.streams.ended(row.turn)
    let receipt: Receipt
    try {
      deps.crashPoint?.('outbox.before-send')
      receipt = await link.adapter.send(requestOf(row, row.op))
    } catch (thrown) {
      return sendFailed(lane, row, asSwitchboardError(thrown, 'platform_unavailable'))
    }
    // The send is confirmed from here on. A later failure is not the platform's, and must not be recorded as such.
    deps.crashPoint?.('outbox.after-send')
    link.lastOutAt = clock.now()
    link.okAt = link.lastOutAt
    if (isBeginning) {
      await move(lane, row, { to: 'sending', platformIds: receipt.platformIds, ...openEnds(row) })
      deps.crashPoint?.('outbox.after-beginning')
      deps.streams.shown(row, receipt.platformIds)
      return 'more'
    }
    // The message has arrived and nothing follows it. The confirmation is written together with the next write.
    await confirm(lane, row, receipt, lane.nextDueAt === null && !deps.waiters.has(row.id))
    deps.crashPoint?.('outbox.after-receipt')
    return 'more'
  }

  /** For a question that is sent late or again: why it needs no answer any more; null: it is open. */
  const askedInVain = async (row: SendRow): Promise<string | null> => {
    const isLate = row.attempts > 1 || clock.now() - row.createdAt > LATE_MS
    if (row.op?.kind !== 'prompt' || row.approval === null || !isLate) return null
    const approval = await store.approval(row.approval)
    // Approval ids are reused.
    if (approval && approval.createdAt > row.createdAt)
      return `the question is over, and is not ${askedWord(row)}`
    if (approval?.state === 'pending') return null
    return `the question is over (${approval?.state ?? 'gone'}), and is not ${askedWord(row)}`
  }

  /**
   * A question to a direct chat goes by the person's id, and an answer by the chat's id: two lanes of one chat. The
   * question waits while the parts of an answer are being sent.
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

  /** Permission is checked again at the moment of sending, because the configuration may have changed. */
  const refusal = async (row: SendRow) => deps.closedBy(row.integration) ?? (await deps.refusedNow(row))

  const sendFailed = async (lane: HeldLane, tried: SendRow, error: SwitchboardError): Promise<SendEnd> => {
    const isShown = tried.platformIds.length > 0
    const row = error.code === 'outcome_unknown' ? withOpenTry(tried) : tried
    if (error.code === 'outcome_unknown' && !isShown && !repeatsShowNothing(row)) {
      await settle(lane, row, error.message)
      return 'open'
    }
    // The message with the beginning is gone. The final text is sent as a new message.
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

  /** Side acts cause no notices, so the outcome of their attempts is not stored. */
  const withOpenTry = (row: SendRow): SendRow =>
    isSideAct(row) ? row : { ...row, open: openedAgain(row, clock.now()) }

  /**
   * The row is not sent again. It is `failed` only if no attempt can have arrived. Otherwise the platform is asked,
   * and if it cannot tell, the row is `unknown`.
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
    const why = detail ?? `given up: ${wordsIn().reasons[reason]}`
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

  /** Repeating it shows the same result. */
  const repeatsShowNothing = ({ op, integration }: SendRow) =>
    op?.kind === 'edit' ||
    op?.kind === 'react' ||
    links.get(integration)?.adapter.abilities.idempotentSend === true

  const recoverSend = async (lane: HeldLane, row: SendRow) => {
    const known = row.reason === 'outcome_open' ? row.detail : null
    const detail = known ?? 'interrupted before the platform confirmed'
    if (row.reason === 'outcome_open') return settle(lane, row, detail)
    const tried = withOpenTry(row)
    if (row.op && repeatsShowNothing(row) && !isStreamLane(row.lane))
      return move(lane, row, { to: 'queued', ...openOf(tried, row) })
    return settle(lane, tried, detail)
  }

  /** Advances a row with an open outcome. */
  const settle = async (lane: HeldLane, row: SendRow, detail: string): Promise<void> => {
    const link = links.get(row.integration)
    if (!link || !row.op) {
      // The message may have arrived, and no platform is left to ask.
      const unknown = { to: 'unknown', reason: 'unconfirmed', detail: 'the integration is gone' } as const
      return end(lane, row, unknown, true)
    }
    if (isStreamLane(row.lane) && row.platformIds.length > 0) {
      const step = isPartialOp(row.op)
        ? await endOf(row, { store, written: deps.streams.written })
        : ({ to: 'queued' } as const)
      return step === null ? undefined : move(lane, row, step)
    }
    const open = openOutcomeOf(row, clock.now())
    const answer = await ask(link, requestOf(row, row.op), open)
    if (answer.outcome === 'sent') {
      // The beginning of the stream is shown. Text written meanwhile follows.
      if (isStreamLane(row.lane))
        return move(lane, row, { to: 'sending', platformIds: answer.receipt.platformIds, open: null })
      return confirm(lane, row, answer.receipt)
    }
    const { unknownPolicy, sendExpiryMs } = deps.settings().tunables
    const step = stepOf(row, row.op, open, answer, detail, {
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

  /** Asks the platform about a send whose answer was lost. */
  const ask = async (
    link: Link,
    request: SendRequest,
    open: OpenOutcome,
  ): Promise<Asked | Extract<ReadBack, { readonly outcome: 'sent' }>> => {
    const { reconcile } = link.adapter
    if (!reconcile) return { outcome: 'unknown' }
    try {
      const readBack = await reconcile({ ...request, tried: { since: open.since, endedAt: open.endedAt } })
      if (readBack.outcome === 'sent' || readBack.outcome === 'absent') link.okAt = clock.now()
      return readBack
    } catch (thrown) {
      const error = asSwitchboardError(thrown, 'platform_unavailable')
      const isAway = error.nature.retryable || error.code === 'outcome_unknown'
      return isAway ? { outcome: 'later', error } : { outcome: 'unknown' }
    }
  }

  const confirm = (lane: HeldLane, row: SendRow, { platformIds, conversation }: Receipt, unhurried = false) =>
    written(lane, row, [{ to: 'sent', platformIds, ...defined({ conversation }) }], unhurried)

  /** Ends a row that was not delivered, or may not have been. Its agent and the person are informed. */
  const end = (lane: HeldLane, row: SendRow, step: SendStep, quiet = false) =>
    move(lane, row, { ...step, tell: whoIsTold(row, quiet) })

  /** `quiet`: no notice may or can be sent there. */
  const whoIsTold = (row: SendRow, quiet: boolean) => {
    const isSaid = row.op !== null && row.op.kind !== 'react' && !isSideAct(row) && !isPartialOp(row.op)
    const isAgents = row.agent !== null && row.session !== null && TOLD_TO_AGENTS.includes(row.cause)
    const oneWay = links.get(row.integration)?.adapter.abilities.oneWay === true
    const isAnswer = row.cause === 'reply' || row.cause === 'prompt'
    return {
      // A waiting caller gets the result directly.
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
    // A part that fails for good takes the later parts with it.
    if (last === 'failed' && row.group !== null) deps.waiters.lookAgain(lane.lane)
    else if (last !== 'queued' && last !== 'sending') deps.waiters.settled(row.id)
  }

  return { sendOne, recoverSend, move }
}

const askedWord = ({ open }: SendRow) => (open === undefined ? 'asked' : 'asked again')

/** The changed part of the open outcome. It does not change when others go first. */
function openOf({ open, yieldsAt }: SendRow, before: SendRow): Pick<SendStep, 'open' | 'yieldsAt'> {
  return open === undefined || open === before.open ? {} : { open, yieldsAt: yieldsAt ?? null }
}

/** An earlier attempt may have left an open outcome on the row. */
function openEnds({ open }: SendRow): { readonly open?: null } {
  return open === undefined ? {} : { open: null }
}
