// The store's records other than turns and sends (turn-records.ts, send-records.ts): approvals, people, filters of
// readers, and the ledger. The verbs are in store.ts.
import type { Ask } from '../agent/agent.ts'
import type { ApprovalState, SendState, TurnState } from './states.ts'

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
  /** Grows; ids are reused once they are settled. */
  readonly seq: number
  /** The node (its owner name) whose connector asked, and which passes the verdict on. */
  readonly asker: string | null
  readonly state: ApprovalState
  readonly behavior: 'allow' | 'deny' | null
  readonly cause: 'person' | 'expired' | 'unreachable' | null
  readonly decidedBy: string | null
  readonly decidedVia: string | null
  /** When it ended: decided, expired or withdrawn. */
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

/** `user:ID`: the sender is that user. The configuration wins if it assigns the sender to another user. */
export type Right = 'talk' | 'approve' | `user:${string}`

export interface Grant {
  readonly integration: string
  readonly sender: string
  readonly right: Right
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
  /** agent, user, session, role, label: as the kind needs. */
  readonly scope: Readonly<Record<string, string>>
  readonly createdAt: number
  readonly expiresAt: number | null
  readonly revokedAt: number | null
  /** Precise to an hour. Null: never; 0: unknown, because it was minted before use was recorded. */
  readonly lastUsedAt: number | null
}

export type NewToken = Omit<TokenRow, 'createdAt' | 'revokedAt' | 'lastUsedAt'>

// ---- reading ----------------------------------------------------------------------------------------------

export interface TurnFilter {
  readonly states?: readonly TurnState[]
  /** False: resting turns (seen, acknowledged) are omitted. */
  readonly resting?: false
  readonly agent?: string | { readonly not: readonly string[] }
  readonly integration?: string
  /** Within `integration`. */
  readonly conversation?: string
  readonly thread?: string
  readonly messageId?: string
  readonly session?: string
  readonly source?: string
  readonly sender?: string
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
  /** `received`, a turn state, `send:` + a send state, or `found:late`: missed, and found in a history. */
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
  /** The number of events it represents: 1, or more for drops without a row. */
  readonly count: number
  /** SHA-256 of the body, so that pruning bodies keeps the chain. */
  readonly digest: string
  readonly detail: string
  readonly mac: string
}

export interface LedgerHead {
  /** Null: nothing was ever written. */
  readonly head: string | null
  readonly entries: number
}

export interface AuditReport {
  readonly ok: boolean
  readonly entries: number
  readonly chain: 'intact' | 'broken'
  readonly brokenAt?: { readonly seq: number; readonly problem: string }
  readonly head: string | null
  /** Present: entries up to this position were pruned, and verification starts from their summary. */
  readonly checkpoint?: { readonly through: number; readonly at: number; readonly entries: number }
  readonly conservation: { readonly received: number; readonly accounted: number; readonly ok: boolean }
}
