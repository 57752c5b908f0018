// The records of sends: what is put into the outbox, what of it is stored, and how it may be moved. The verbs are in store.ts.
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
  /** The final text of the answer to `turn`: where its beginning is shown or about to be, that row becomes this. */
  readonly finishes?: true
  /** Parts of one long message share a group; `part` counts from 0. */
  readonly group?: string
  readonly part?: number
  /** Stands for the content and where it goes. Open already: the first row is returned. Confirmed a moment ago: the row is born `deduplicated`. */
  readonly dedupKey?: string
  /** The takeover whose holder says it. */
  readonly takeover?: string
  /** Becomes a claim on the confirmed message, in the commit that says `sent`. */
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
  /** Of a holder's words: under which takeover. */
  readonly takeover?: string
  /** What the platform told of it later; null: nothing. */
  readonly receipt: SendReceipt | null
  /** A try may have arrived, and the platform never said so. In `sending` with the reason `outcome_open` it is looked at again. */
  readonly open?: OpenOutcome
  /** From when later sends of the conversation go before it, while its outcome is open. */
  readonly yieldsAt?: number
  /** Its position in the transcript where that is not `seq`: it had failed, and an operator tried it again. */
  readonly place?: number
}

/** A send that was not delivered and of which the person has not heard. */
export interface Unnoticed {
  readonly send: SendRow
  /** When a person was last told of that conversation; null: never. */
  readonly noticedAt: number | null
}

/** Sends that were not delivered, and whether agents and persons have heard of them. */
export interface LaterWordVerbs {
  /**
   * Sends of a session that ended `failed` or `unknown` and of which its agent has not heard, oldest first; null: of
   * whatever session, one of them.
   */
  unreportedFailures(session: string | null): Promise<readonly SendRow[]>
  /** The agent was told. */
  markReported(sends: readonly string[]): Promise<void>
  /** Those behind that position, oldest first: a page of them, and none at the end. */
  unnoticedSends(afterSeq: number): Promise<readonly Unnoticed[]>
  /**
   * The person is told of these sends by `notice`, in one commit; null: they are not to be told any more. False: another
   * node did it.
   */
  noticeSends(sends: readonly string[], notice: NewSend | null): Promise<boolean>
}

export interface Enqueued {
  readonly id: string
  readonly seq: number
  readonly state: SendState
  /** True: the idempotency key was known, or the same content is on its way; the first row is returned. */
  readonly repeated: boolean
  /** Born `deduplicated`: the row whose content it repeats. */
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
      readonly leftover: readonly SendRow[]
      /** When the next row is due, if one waits. */
      readonly nextDueAt: number | null
    }
  | { readonly lane: string; readonly outcome: 'busy' | 'later' | 'lost'; readonly retryAt: number }

export interface SendMove {
  readonly lane: string
  readonly token: number
  readonly id: string
  /**
   * `sending`: the beginning of an answer stands there, as `platformIds`; if it was finished meanwhile it is queued. With
   * the reason `outcome_open`: a try may have arrived, and the row is looked at again at `lookAt`.
   */
  readonly to: 'queued' | 'sending' | 'sent' | 'failed' | 'unknown'
  readonly platformIds?: readonly string[]
  /** With to: 'sent': where it stands, when that is not what the row calls it. A claim is of that chat. */
  readonly conversation?: string
  readonly reason?: ReasonCode
  readonly detail?: string
  /** With to: 'queued' or 'sent': the lane is not taken before now + this. */
  readonly notBeforeMs?: number
  /** What is known of its open outcome; null: the outcome is not open any more. */
  readonly open?: OpenOutcome | null
  /** With the reason `outcome_open`: when it is looked at again. */
  readonly lookAt?: number
  /** With the reason `outcome_open`: from when later sends of the conversation go first. */
  readonly yieldsAt?: number | null
  /** With to: 'failed' or 'unknown': who is told of it later. */
  readonly tell?: { readonly agent: boolean; readonly person: boolean }
  /** With to: 'queued': replaces the op (the visible "may be a duplicate" note). */
  readonly op?: OutboundOp
}
