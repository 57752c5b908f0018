// An intake step: a pure function of the event and the known facts. It returns a decision and effects as data. Row and
// effects are one commit, so a redelivery (duplicate key) repeats nothing.
import type { Address } from '../message/address.ts'
import type { OutboundOp, SendReceipt } from '../message/message.ts'
import type { ReasonCode } from '../message/reasons.ts'
import type { Wording } from '../message/wording.ts'
import type { ClaimTexts } from '../platform/sending.ts'
import type { NewSend } from './send-records.ts'

export type Effect =
  /** A notice, a pairing code, an answer: goes through the outbox. */
  | {
      readonly kind: 'send'
      readonly to: Address
      readonly op: OutboundOp
      readonly cause: SendCause
      /** It shows what this approval asks. */
      readonly approval?: string
    }
  /** Compare-and-set on an approval. The loser is informed in the same commit; `{by}` is replaced by the winner. */
  | {
      readonly kind: 'decide'
      readonly approval: string
      readonly behavior: 'allow' | 'deny'
      readonly by: string
      readonly via: string
      /** `{how}` in the text: how it ended before. */
      readonly ifLate: { readonly to: Address; readonly text: string } | null
    }
  /** /new: a fresh session for this address. */
  | { readonly kind: 'new_session'; readonly agent: string; readonly at: Address }
  /** /stop: fails open turns of the session that the address leads to by then, as cancelled. */
  | {
      readonly kind: 'cancel_session'
      /** Only turns of this sender; null: all of them. */
      readonly sender: string | null
      /** The agent of the address's own session. */
      readonly agent: string
      readonly at: Address
      /** Agents that can be interrupted. */
      readonly stoppable: readonly string[]
      readonly texts: StopTexts
    }
  /** /status: the waiting and running turns where the address leads by then. */
  | {
      readonly kind: 'tell_session'
      readonly agent: string
      readonly at: Address
      readonly attached: readonly string[]
      readonly texts: StatusTexts
    }
  /** A tap on a claim's button. The message that offered it is edited in the same commit. */
  | {
      readonly kind: 'claim'
      readonly at: Address
      /** The message that carries the buttons. */
      readonly on: string
      readonly verdict: 'reply' | 'keep'
      readonly by: string
      /** Agents that can be reached. */
      readonly agents: readonly string[]
      readonly texts: ClaimTexts
      readonly canEdit: boolean
    }
  /** /back: the address leads to its own session again. */
  | { readonly kind: 'route_back'; readonly at: Address; readonly texts: BackTexts }
  /** /human: asks for a person to take the place over. */
  | {
      readonly kind: 'ask_person'
      readonly agent: string
      readonly at: Address
      /** `integration:sender`. */
      readonly by: string
      readonly texts: HumanTexts
    }
  /** A message was deleted or edited: its queued turns end as consumed: withdrawn. */
  | {
      readonly kind: 'withdraw'
      readonly at: Address
      readonly messageId: string
      /** Only messages of this sender; null: the platform does not tell who deleted it. */
      readonly sender: string | null
      /** Which versions: an edit keeps itself and newer ones. Absent: all. */
      readonly versions?: { readonly below: number } | { readonly not: number }
    }
  /**
   * The platform's later report about a send. The send fails, or gets its receipt and becomes `sent` if its outcome
   * was unknown.
   */
  | {
      readonly kind: 'later_word'
      readonly send: string
      readonly outcome: 'failed' | SendReceipt
      readonly detail: string | null
      /** The message, for a send whose answer was lost. */
      readonly platformId?: string
      /** It counts only if the message was sent to one of these. */
      readonly sentTo?: readonly string[]
      /** Sent only if the send fails by it. */
      readonly words: readonly NewSend[]
    }
  /**
   * A pairing code for a stranger. The store enforces the limits, and replaces {code} in the reply: one code per
   * sender.
   */
  | {
      readonly kind: 'pair'
      readonly integration: string
      readonly sender: string
      readonly senderName: string | null
      readonly conversation: string
      readonly code: string
      readonly expiresAt: number
      readonly reply: { readonly to: Address; readonly text: string }
    }

// The answer to a command is written in its commit, from the facts there. Messages of the same batch or of another node
// may arrive between the read and the commit. {agent}, {label} and the numbers are replaced.

export interface StopTexts {
  readonly none: string
  readonly one: string
  /** With {count}. */
  readonly many: string
  /** Appended when the agent cannot be interrupted. */
  readonly runsOn: string
  /** Turns of others continue. */
  readonly noneOfYours: string
}

/** With {queued} and {running}. */
export interface StatusTexts {
  readonly attached: string
  readonly offline: string
  /** Appended in a chat that leads elsewhere. */
  readonly thread: string
}

export interface BackTexts {
  readonly left: string
  /** The chat was its own already. */
  readonly home: string
}

/** With {agent} and {name}. */
export interface HumanTexts {
  readonly asked: string
  readonly before: string
  readonly held: string
}

/** The result of /stop. */
export interface Stopped {
  readonly agent: string
  readonly turns: readonly string[]
  readonly said: string
}

/** Why a row is in the outbox: who may have caused it, and whether equal content may be dropped. */
export type SendCause =
  | 'reply'
  | 'send_message'
  | 'channel_send'
  | 'notify_user'
  | 'prompt'
  | 'notice'
  | 'pairing'
  | 'operator'
  /** A message of a person who holds the conversation. */
  | 'takeover'

export type Decision =
  | { readonly go: 'continue' }
  | {
      readonly go: 'refuse'
      readonly reason: ReasonCode
      readonly key?: string
      readonly retryAfterMs?: number
    }
  | { readonly go: 'answer'; readonly text: Wording; readonly reason: ReasonCode }
  | { readonly go: 'consume'; readonly reason: ReasonCode; readonly answer?: string }

export interface StepResult {
  readonly decision: Decision
  readonly effects?: readonly Effect[]
}

export const CONTINUE: StepResult = { decision: { go: 'continue' } }
