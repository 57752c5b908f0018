// OPEN OUTCOMES: decides what happens to an attempt that was written and never confirmed. An outage is not an outcome:
//
//   the platform can be asked ──▶ it is there: sent
//                             ──▶ it is not there, 30 s after the try ended: sent again without a label, with backoff, for
//                                 `send_expiry`; then `failed`
//                             ──▶ it does not answer: asked again with backoff, for `send_expiry`; then `unknown`
//   it cannot be asked        ──▶ at most four labelled resends, then `unknown`
//   a nonce still holds       ──▶ sent again at once: it shows nothing twice
//   it is not sent again      ──▶ the platform is asked as above: `failed` where it is not there, else `unknown`
//
// Pure: the row holds all known facts, so a crash in between changes nothing.
import {
  ABSENT_COUNTS_AFTER_MS,
  defined,
  LATER_SENDS_WAIT_MS,
  labelled,
  type OpenOutcome,
  type OutboundOp,
  RESEND_AFTER_MS,
  type ReadBack,
  type SendMove,
  type SendRow,
  type SwitchboardError,
} from '../../contract/index.ts'

export type SendStep = Omit<SendMove, 'lane' | 'token' | 'id'>

/** The platform's answer. `later`: it could not be asked now. */
export type Asked =
  | Exclude<ReadBack, { readonly outcome: 'sent' }>
  | { readonly outcome: 'later'; readonly error: SwitchboardError }

export interface OutcomeTimes {
  readonly absentCountsAfterMs: number
  readonly resendAfterMs: readonly number[]
  readonly laterSendsWaitMs: number
  /** The delay between two looks. It doubles each time, up to the maximum. */
  readonly lookBaseMs: number
  readonly lookMaxMs: number
}

export const OUTCOME_TIMES: OutcomeTimes = {
  absentCountsAfterMs: ABSENT_COUNTS_AFTER_MS,
  resendAfterMs: RESEND_AFTER_MS,
  laterSendsWaitMs: LATER_SENDS_WAIT_MS,
  lookBaseMs: 5_000,
  lookMaxMs: 60_000,
}

export interface OutcomeFacts {
  readonly times: OutcomeTimes
  readonly now: number
  readonly hold: boolean
  readonly sendExpiryMs: number
  /** The delay before the next attempt, where a repeat is harmless. */
  readonly retryMs: number
  /** Between 0 and 1. */
  readonly jitter: number
  /** Time of the last successful call to the platform; null: none known to this node. */
  readonly okAt: number | null
}

/** A wall clock that was set back must not lengthen the wait. */
export function openOutcomeOf({ open, updatedAt }: SendRow, now: number): OpenOutcome {
  const known = open ?? { since: updatedAt, endedAt: now, resends: 0, looks: 0 }
  return { ...known, since: Math.min(known.since, now), endedAt: Math.min(known.endedAt, now) }
}

/** Reopens the outcome for another attempt that may have arrived. */
export function openedAgain(row: SendRow, now: number): OpenOutcome {
  const { since, resends, absences } = openOutcomeOf(row, now)
  return { since, resends, endedAt: now, looks: 0, ...defined({ absences }) }
}

export function stepOf(
  row: SendRow,
  op: OutboundOp,
  open: OpenOutcome,
  asked: Asked,
  detail: string,
  facts: OutcomeFacts,
): SendStep {
  const { times, now } = facts
  const expiresAt = open.since + facts.sendExpiryMs
  const yields = { yieldsAt: yieldsAt(row, open, facts) }
  const park = (lookAt: number): SendStep => ({
    to: 'sending',
    reason: 'outcome_open',
    detail,
    open: { ...open, looks: open.looks + 1 },
    lookAt,
    ...yields,
  })
  const lookMs = Math.min(times.lookBaseMs * 2 ** open.looks, times.lookMaxMs)
  switch (asked.outcome) {
    case 'absent': {
      const { harmlessUntil: _, absences = 0, givenUp, ...known } = open
      const countsAt = open.endedAt + times.absentCountsAfterMs
      if (now < countsAt) return park(Math.min(now + lookMs, countsAt))
      if (givenUp) return { to: 'failed', reason: givenUp.reason, detail }
      const waits = times.resendAfterMs
      const resendAt = open.endedAt + (waits[Math.min(absences, waits.length - 1)] ?? 0)
      if (Math.max(now, resendAt) >= expiresAt)
        return { to: 'failed', reason: 'platform_unavailable', detail }
      if (now < resendAt) return park(resendAt)
      const absent = { ...known, absences: absences + 1, provenAbsent: true } as const
      return { to: 'queued', reason: 'platform_unavailable', detail, open: absent, ...yields }
    }
    case 'harmless': {
      if (open.givenUp || now + facts.retryMs >= asked.until) {
        return now >= expiresAt ? unknown(detail) : park(asked.until + 1)
      }
      const { retryMs: notBeforeMs } = facts
      const queued = { ...open, harmlessUntil: asked.until }
      return { to: 'queued', reason: 'platform_unavailable', detail, notBeforeMs, open: queued, ...yields }
    }
    case 'later': {
      if (now >= expiresAt) return unknown(detail)
      const waitMs = Math.max(asked.error.retryAfterMs ?? 0, Math.round(lookMs * (0.5 + facts.jitter / 2)))
      return park(Math.min(now + waitMs, expiresAt))
    }
    case 'unknown': {
      const again = facts.hold || open.givenUp ? null : labelled(op)
      const waitMs = times.resendAfterMs[open.resends]
      if (again === null || waitMs === undefined) return unknown(detail)
      if (now < open.endedAt + waitMs) return park(open.endedAt + waitMs)
      const { harmlessUntil: _, ...rest } = open
      return {
        to: 'queued',
        reason: 'outcome_open',
        detail,
        op: again,
        open: { ...rest, resends: open.resends + 1 },
        ...yields,
      }
    }
  }
}

function unknown(detail: string): SendStep {
  return { to: 'unknown', reason: 'unconfirmed', detail }
}

/** Set once the platform is known to answer other calls. The look before that success is its lower bound. */
function yieldsAt(row: SendRow, open: OpenOutcome, { okAt, times }: OutcomeFacts): number | null {
  if (row.yieldsAt !== undefined) return row.yieldsAt
  if (okAt === null || okAt <= open.endedAt) return null
  return Math.max(open.endedAt, row.updatedAt) + times.laterSendsWaitMs
}
