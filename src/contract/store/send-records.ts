// The records of sends: what is put into the outbox, what is stored, and how it may move. The verbs are in store.ts.
import type { Address } from '../message/address.ts'
import type { OutboundOp, SendReceipt } from '../message/message.ts'
import type { ReasonCode } from '../message/reasons.ts'
import type { ClaimOffer, NewNotification } from '../platform/sending.ts'
import type { OpenOutcome } from './open-outcome.ts'
import type { SendState } from './states.ts'
import type { SendCause } from './step.ts'

export interface NewSend {
  readonly to: Address
  readonly platform: string
  readonly op: OutboundOp
  readonly cause: SendCause
  readonly agent: string | null
  readonly session: string | null
  /** The turn it answers, if any. */
  readonly turn: string | null
  readonly approval?: string
  readonly dueAt?: number
  /** The same key again returns the first row. */
  readonly idempotencyKey?: string
  /** The final text of the answer to `turn`. If its beginning is shown or about to be, that row becomes this. */
  readonly finishes?: true
  /** Parts of one long message share a group; `part` counts from 0. */
  readonly group?: string
  readonly part?: number
  /**
   * Identifies the content and its target. If an equal row is open, it is returned. If one was just confirmed, the new
   * row starts as `deduplicated`.
   */
  readonly dedupKey?: string
  /** The takeover whose holder sends it. */
  readonly takeover?: string
  /** Becomes a claim on the confirmed message, in the commit that records `sent`. */
  readonly claim?: ClaimOffer
  /** Written to the notification log in the same commit. */
  readonly notification?: NewNotification
}

export interface SendRow {
  readonly seq: number
  readonly id: string
  readonly lane: string
  readonly to: string
  readonly integration: string
  readonly platform: string
  readonly conversation: string
  readonly thread: string | null
  readonly agent: string | null
  readonly session: string | null
  readonly turn: string | null
  readonly approval: string | null
  readonly cause: SendCause
  readonly op: OutboundOp | null
  readonly state: SendState
  readonly reason: ReasonCode | null
  readonly detail: string | null
  readonly attempts: number
  readonly platformIds: readonly string[]
  readonly group: string | null
  readonly part: number
  readonly dueAt: number
  readonly createdAt: number
  readonly updatedAt: number
  readonly claim?: ClaimOffer
  /** The takeover of a holder's message. */
  readonly takeover?: string
  /** The platform's later report; null: none. */
  readonly receipt: SendReceipt | null
  /**
   * An attempt may have arrived without confirmation. In `sending` with the reason `outcome_open`, the row is looked
   * at again.
   */
  readonly open?: OpenOutcome
  /** When later sends of the conversation may go first, while its outcome is open. */
  readonly yieldsAt?: number
  /** Its position in the transcript if that is not `seq`: it failed, and an operator tried it again. */
  readonly place?: number
}

/** An undelivered send of which the person has not heard. */
export interface Unnoticed {
  readonly send: SendRow
  /** When a person was last informed in that conversation; null: never. */
  readonly noticedAt: number | null
}

/** Undelivered sends, and whether agents and people have heard of them. */
export interface LaterWordVerbs {
  /**
   * Returns sends of a session that ended `failed` or `unknown` without a note to their agent, oldest first; null: one
   * such send of any session.
   */
  unreportedFailures(session: string | null): Promise<readonly SendRow[]>
  /** Records that the agent was informed. */
  markReported(sends: readonly string[]): Promise<void>
  /** Returns a page of sends after that position, oldest first; empty at the end. */
  unnoticedSends(afterSeq: number): Promise<readonly Unnoticed[]>
  /**
   * Informs the person of these sends by `notice`, in one commit; null: no notice any more. False: another node did
   * it.
   */
  noticeSends(sends: readonly string[], notice: NewSend | null): Promise<boolean>
}

export interface Enqueued {
  readonly id: string
  readonly seq: number
  readonly state: SendState
  /** True: the idempotency key was known, or the same content is on its way. The first row is returned. */
  readonly repeated: boolean
  /** For a row that starts as `deduplicated`: the row whose content it repeats. */
  readonly first?: string
}

export type TakenSend =
  | {
      readonly lane: string
      readonly outcome: 'taken'
      readonly token: number
      /** Moved queued → sending in this commit; null when nothing is due. */
      readonly sending: SendRow | null
      /** Only on a fresh acquisition: rows found in `sending`. While there are any, nothing is sent. */
      readonly unsettled: readonly SendRow[]
      /** When the next row is due, if one waits. */
      readonly nextDueAt: number | null
    }
  | { readonly lane: string; readonly outcome: 'busy' | 'later' | 'lost'; readonly retryAt: number }

export interface SendMove {
  readonly lane: string
  readonly token: number
  readonly id: string
  /**
   * `sending`: the beginning of an answer is shown, as `platformIds`; if it was finished meanwhile it is queued. With
   * the reason `outcome_open`: an attempt may have arrived, and the row is looked at again at `lookAt`.
   */
  readonly to: 'queued' | 'sending' | 'sent' | 'failed' | 'unknown'
  readonly platformIds?: readonly string[]
  /** With to: 'sent': the actual chat, if the row names it differently. A claim belongs to that chat. */
  readonly conversation?: string
  readonly reason?: ReasonCode
  readonly detail?: string
  /** With to: 'queued' or 'sent': the lane is not taken before now + this. */
  readonly notBeforeMs?: number
  /** The facts about its open outcome; null: the outcome is no longer open. */
  readonly open?: OpenOutcome | null
  /** With the reason `outcome_open`: when it is looked at again. */
  readonly lookAt?: number
  /** With the reason `outcome_open`: when later sends of the conversation may go first. */
  readonly yieldsAt?: number | null
  /** With to: 'failed' or 'unknown': who is informed later. */
  readonly tell?: { readonly agent: boolean; readonly person: boolean }
  /** With to: 'queued': replaces the op (the visible "may be a duplicate" note). */
  readonly op?: OutboundOp
}
