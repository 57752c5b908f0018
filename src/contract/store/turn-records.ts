// The records of turns: what is received, what is stored, and how it may move. The verbs are in store.ts.

import type { TokenUsage } from '../agent/turn-steps.ts'
import type { Address } from '../message/address.ts'
import type { Attachment, Quoted } from '../message/message.ts'
import type { ReasonCode } from '../message/reasons.ts'
import type { ClaimOutcome, ClaimRules } from '../platform/sending.ts'
import type { TakeoverRow } from '../platform/takeover.ts'
import type { ApprovalRow } from './records.ts'
import type { TurnState } from './states.ts'
import type { Effect, Stopped } from './step.ts'

export interface TurnBody {
  readonly text: string
  readonly kind: 'message' | 'edit' | 'delete' | 'tap' | 'reaction' | 'schedule'
  readonly senderName?: string
  readonly meta?: Readonly<Record<string, string>>
  readonly attachments?: readonly Attachment[]
  readonly replyTo?: Quoted
  /** It came from a group, for the access check at hand-over. Absent: a direct chat. */
  readonly chat?: 'group'
}

export interface NewTurn {
  readonly at: Address
  readonly platform: string
  /** With integration, conversation and editVersion the unique key that *is* the duplicate check. */
  readonly messageId: string
  readonly editVersion: number
  readonly source: string
  /** Null when no agent is bound (refused). */
  readonly agent: string | null
  readonly sender: string
  /** Null: the body is not stored (refusals); the ledger then has `bodyDigest`. */
  readonly body: TurnBody | null
  readonly bodyDigest: string
  /** It was missed and found in the history: the time it was really sent. */
  readonly lateAt?: number
}

export interface ReceiveItem {
  readonly turn: NewTurn
  /** `expired`: found in the history when it was older than the queue keeps messages. */
  readonly state: 'queued' | 'refused' | 'consumed' | 'expired'
  readonly reason: ReasonCode | null
  /** The gate's configuration key or other detail for the ledger. */
  readonly detail?: Readonly<Record<string, string>>
  /** False: only counters and a ledger entry are written, no row (rate-limited drops, floods). */
  readonly keepRow: boolean
  /** With `keepRow: false`: its key is stored, so that it does not count as missed when a history shows it. */
  readonly keepKey?: true
  /** Its platform reports deletions, which may arrive before it. */
  readonly mayBeDeleted?: true
  readonly effects: readonly Effect[]
  /**
   * A queued message follows the address's route, and may take a claim. Absent: it goes to the address's own session.
   */
  readonly claims?: ClaimRules
}

export interface ReceiveResult {
  /** Null when no row was stored. For a duplicate: the first one's. */
  readonly id: string | null
  readonly duplicate: boolean
  readonly state: TurnState
  readonly reason: ReasonCode | null
  readonly session: string | null
  /** One per effect, in order; empty for a duplicate. */
  readonly effects: readonly EffectResult[]
  /** It went to another session: by a claim that it answers or took, or by the route. */
  readonly routed?: {
    readonly by: 'answer' | 'claim' | 'route'
    readonly session: string
    readonly agent: string
    readonly label: string
  }
}

export type EffectResult =
  | { readonly kind: 'sent_to_outbox'; readonly id: string }
  | { readonly kind: 'decided'; readonly won: boolean; readonly approval: ApprovalRow | null }
  | { readonly kind: 'session'; readonly session: string }
  | ({ readonly kind: 'cancelled' } & Stopped)
  | { readonly kind: 'claimed'; readonly outcome: ClaimOutcome; readonly label: string | null }
  | { readonly kind: 'answered'; readonly said: string }
  /** A person was requested; `asked: false`: one was requested before, or holds the place. */
  | { readonly kind: 'person'; readonly asked: boolean; readonly takeover: TakeoverRow }
  /** The turns that ended because their message was deleted. */
  | { readonly kind: 'withdrawn'; readonly turns: readonly string[] }
  /** False: no such send, or no change. */
  | { readonly kind: 'reported'; readonly changed: boolean }
  /** `muted`: the stranger already had its two replies, or the cap is reached. */
  | { readonly kind: 'paired'; readonly outcome: 'new' | 'repeated' | 'muted' }

export interface TurnRow {
  readonly seq: number
  readonly id: string
  readonly session: string | null
  readonly agent: string | null
  readonly integration: string
  readonly platform: string
  readonly conversation: string
  readonly thread: string | null
  readonly address: string
  readonly source: string
  readonly sender: string
  readonly messageId: string
  readonly editVersion: number
  readonly state: TurnState
  readonly reason: ReasonCode | null
  /** The number of hand-overs. */
  readonly attempts: number
  /** It may have been seen before, so the next hand-over is marked. */
  readonly repeat: boolean
  /** It was seen before, so the next hand-over is a continuation. */
  readonly resume: boolean
  /** Null once pruned, or never stored. */
  readonly body: TurnBody | null
  readonly receivedAt: number
  /** It was missed and found in the history: the time it was really sent. Null: it arrived in time. */
  readonly lateAt: number | null
  readonly updatedAt: number
  /** The takeover that ended it; absent: none. */
  readonly takeover?: string
  /** A model's token use; absent: Switchboard itself called none. */
  readonly usage?: TokenUsage
}

export interface TurnMove {
  readonly lane: string
  readonly token: number
  readonly turn: string
  /** 'handed' again: the hand-over is confirmed (reason `taken`). */
  readonly to: 'queued' | 'handed' | 'seen' | 'answered' | 'refused' | 'failed'
  readonly reason?: ReasonCode
  readonly detail?: string
  /** With to: 'queued'. */
  readonly repeat?: boolean
  readonly resume?: boolean
  /** With to: 'queued': the lane is not taken before now + this. */
  readonly notBeforeMs?: number
  /** It was never really handed over, so the attempt does not count. */
  readonly uncounted?: boolean
  /** To `answered`: this is the only answer. Nothing is written for a turn that was answered already. */
  readonly sole?: true
}

/** `stale`: the token is no longer the lane's, nothing was written. `noop`: already there or beyond. */
export type MoveOutcome = 'moved' | 'noop' | 'stale'
