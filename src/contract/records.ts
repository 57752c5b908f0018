// The records of the store: rows, requests and results as plain data. What is done with them is in store.ts.
import type { Address } from './address.ts'
import type { Ask } from './agent.ts'
import type { Attachment, OutboundOp, Quoted } from './message.ts'
import type { ReasonCode } from './reasons.ts'
import type { ClaimOffer, ClaimOutcome, ClaimRules, NewNotification } from './sending.ts'
import type { ApprovalState, SendState, TurnState } from './states.ts'
import type { Effect, SendCause, Stopped } from './step.ts'

// ---- turns ------------------------------------------------------------------------------------------------

export interface TurnBody {
  readonly text: string
  readonly kind: 'message' | 'edit' | 'tap' | 'reaction' | 'schedule'
  readonly senderName?: string
  readonly meta?: Readonly<Record<string, string>>
  readonly attachments?: readonly Attachment[]
  readonly replyTo?: Quoted
  /** It came from a group: access is asked again with that when it is handed over. Absent: a direct chat. */
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
  /** Null: the body is not kept (refusals); `bodyDigest` is then what the ledger holds of it. */
  readonly body: TurnBody | null
  readonly bodyDigest: string
}

export interface ReceiveItem {
  readonly turn: NewTurn
  readonly state: 'queued' | 'refused' | 'consumed'
  readonly reason: ReasonCode | null
  /** The gate's configuration key or other detail for the ledger. */
  readonly detail?: Readonly<Record<string, string>>
  /** False: only counters and a ledger entry are written, no row (rate-limited drops, floods). */
  readonly keepRow: boolean
  readonly effects: readonly Effect[]
  /** A queued message follows the address's route, and may take a claim. Absent: it goes to the address's own session. */
  readonly claims?: ClaimRules
}

export interface ReceiveResult {
  /** Null when no row was kept. For a duplicate: the first one's. */
  readonly id: string | null
  readonly duplicate: boolean
  readonly state: TurnState
  readonly reason: ReasonCode | null
  readonly session: string | null
  /** One per effect, in order; empty for a duplicate. */
  readonly effects: readonly EffectResult[]
  /** It did not go to the address's own session: by a claim that it answers or took, or by the route. */
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
  /** How often it was handed over. */
  readonly attempts: number
  /** It may have been seen before: the next hand-over is marked. */
  readonly repeat: boolean
  /** It was seen before: the next hand-over is a continuation. */
  readonly resume: boolean
  /** Null once pruned, or never kept. */
  readonly body: TurnBody | null
  readonly receivedAt: number
  readonly updatedAt: number
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
  /** To `answered`: what goes with it is the one answer. Nothing is written for a turn that somebody else has answered. */
  readonly sole?: true
}

/** `stale`: the token is no longer the lane's, nothing was written. `noop`: already there or beyond. */
export type MoveOutcome = 'moved' | 'noop' | 'stale'

// ---- sends ------------------------------------------------------------------------------------------------

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
  /** Parts of one long message share a group; `part` counts from 0. */
  readonly group?: string
  readonly part?: number
  /** Stands for the content and where it goes. Open already: the first row is returned. Confirmed a moment ago: the row is born `deduplicated`. */
  readonly dedupKey?: string
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
  readonly to: 'queued' | 'sent' | 'failed' | 'unknown'
  readonly platformIds?: readonly string[]
  readonly reason?: ReasonCode
  readonly detail?: string
  /** With to: 'queued' or 'sent': the lane is not taken before now + this. */
  readonly notBeforeMs?: number
  /** With to: 'queued': replaces the op (the visible "may be a duplicate" note). */
  readonly op?: OutboundOp
}

// ---- approvals --------------------------------------------------------------------------------------------

export interface NewApproval {
  readonly id: string
  readonly hostId: string | null
  readonly agent: string
  readonly session: string
  readonly turn: string | null
  readonly ask: Ask
  readonly inputHash: string
  readonly expiresAt: number
}

export interface ApprovalRow extends NewApproval {
  /** Grows; ids are used again once they are settled. */
  readonly seq: number
  /** The node (its owner name) whose connector asked, and which passes the verdict on. */
  readonly asker: string | null
  readonly state: ApprovalState
  readonly behavior: 'allow' | 'deny' | null
  readonly cause: 'person' | 'expired' | 'unreachable' | null
  readonly decidedBy: string | null
  readonly decidedVia: string | null
  readonly decidedAt: number | null
  readonly createdAt: number
}

export interface Decide {
  readonly id: string
  readonly behavior: 'allow' | 'deny'
  readonly cause: 'person' | 'expired' | 'unreachable'
  readonly by: string
  readonly via: string
}

// ---- people -----------------------------------------------------------------------------------------------

export interface Grant {
  readonly integration: string
  readonly sender: string
  readonly right: 'talk' | 'approve'
  readonly by: string
  readonly at: number
}

export interface PairingRow {
  readonly code: string
  readonly integration: string
  readonly sender: string
  readonly senderName: string | null
  readonly conversation: string
  readonly replies: number
  readonly createdAt: number
  readonly expiresAt: number
}

export interface TokenRow {
  readonly id: string
  readonly hash: string
  readonly kind: string
  /** agent, user, session, role, label: whatever the kind needs. */
  readonly scope: Readonly<Record<string, string>>
  readonly createdAt: number
  readonly expiresAt: number | null
  readonly revokedAt: number | null
}

// ---- reading ----------------------------------------------------------------------------------------------

export interface TurnFilter {
  readonly states?: readonly TurnState[]
  /** Whether those that rest (seen, acknowledged) are given too; false: they are left out. */
  readonly resting?: false
  readonly agent?: string | { readonly not: readonly string[] }
  readonly integration?: string
  /** Within `integration`. */
  readonly conversation?: string
  readonly thread?: string
  readonly messageId?: string
  readonly session?: string
  readonly source?: string
  readonly sinceMs?: number
  readonly untilMs?: number
  readonly beforeSeq?: number
  readonly afterSeq?: number
  /** Newest first unless `oldestFirst`. */
  readonly oldestFirst?: boolean
  readonly limit: number
}

export interface SendFilter {
  readonly states?: readonly SendState[]
  readonly agent?: string
  readonly integration?: string
  /** Within `integration`. */
  readonly conversation?: string
  /** The turn that it answers. */
  readonly turn?: string
  readonly session?: string
  readonly approval?: string
  readonly sinceMs?: number
  readonly beforeSeq?: number
  readonly oldestFirst?: boolean
  readonly limit: number
}

export interface Counter {
  readonly integration: string
  /** `received`, a turn state, or `send:` + a send state. */
  readonly name: string
  /** '' where the state needs none. */
  readonly reason: string
  readonly count: number
}

export interface SessionRow {
  readonly id: string
  readonly key: string
  readonly agent: string
  readonly address: string
  readonly generation: number
  readonly createdAt: number
}

// ---- ledger -----------------------------------------------------------------------------------------------

export interface LedgerNote {
  readonly kind: 'config' | 'access' | 'boot' | 'secret' | 'token' | 'audit'
  readonly ref: string
  readonly detail: Readonly<Record<string, string>>
}

export interface LedgerEntry {
  readonly seq: number
  /** `<node>/<boot>`: one chain per node and boot. */
  readonly chain: string
  /** Position in the chain, from 1. */
  readonly n: number
  readonly at: number
  readonly kind: string
  readonly ref: string
  readonly integration: string
  readonly from: string
  readonly to: string
  readonly reason: string
  /** How many events it stands for: 1, or more for unkept drops. */
  readonly count: number
  /** SHA-256 of the body, so that pruning bodies keeps the chain. */
  readonly digest: string
  readonly detail: string
  readonly mac: string
}

export interface AuditReport {
  readonly ok: boolean
  readonly entries: number
  readonly chain: 'intact' | 'broken'
  readonly brokenAt?: { readonly seq: number; readonly problem: string }
  readonly head: string | null
  /** Present: entries up to this position were pruned, and it starts from what was kept of them. */
  readonly checkpoint?: { readonly through: number; readonly at: number; readonly entries: number }
  readonly conservation: { readonly received: number; readonly accounted: number; readonly ok: boolean }
}
