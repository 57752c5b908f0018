// The store's verbs. Each takes plain data, returns a result, and is atomic; there is no transaction to hold.
// One writer per node gathers the verbs of a loop turn into one commit; one verb's failure never rolls back its
// neighbours. The lane row is the lock: a lane is one session (inbox) or one conversation (outbox); it has an owner,
// a fencing token that only grows, and a time until. Every settle presents the token, so a frozen node that wakes up
// can write nothing. Every verb that changes something leaves its ledger entries and counters in the same commit.
import type { Address } from './address.ts'
import type { Ask } from './agent.ts'
import type { Attachment, OutboundOp, Quoted } from './message.ts'
import type { TranscriptEntry, TranscriptQuery } from './platform.ts'
import type { ReasonCode } from './reasons.ts'
import type { ApprovalState, SendState, TurnState } from './states.ts'
import type { Effect, SendCause } from './step.ts'

// ---- turns ------------------------------------------------------------------------------------------------

export interface TurnBody {
  readonly text: string
  readonly kind: 'message' | 'edit' | 'tap' | 'reaction' | 'schedule'
  readonly senderName?: string
  readonly meta?: Readonly<Record<string, string>>
  readonly attachments?: readonly Attachment[]
  readonly replyTo?: Quoted
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
  /** Null: the body is not kept (refusals); its digest still is. */
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
}

export type EffectResult =
  | { readonly kind: 'sent_to_outbox'; readonly id: string }
  | { readonly kind: 'decided'; readonly won: boolean; readonly approval: ApprovalRow | null }
  | { readonly kind: 'session'; readonly session: string }
  | { readonly kind: 'cancelled'; readonly turns: readonly string[] }
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

export interface LaneRequest {
  readonly lane: string
  /** Present: we hold it. Absent: acquire it if it is free and due. */
  readonly token?: number
  /** How many turns may be in flight in this lane (inbox only). */
  readonly window?: number
}

export type TakenTurns =
  | {
      readonly lane: string
      readonly outcome: 'taken'
      readonly token: number
      /** Moved queued → handed in this commit, oldest first, attempts counted. */
      readonly handed: readonly TurnRow[]
      /** Only on a fresh acquisition: what the former owner left in `handed` or `seen`. While there are any, nothing is handed. */
      readonly leftover: readonly TurnRow[]
      /** More are queued behind the window. */
      readonly more: boolean
      /** No open turn is left in the lane (release it). */
      readonly empty: boolean
    }
  /** `busy`: another owner until `retryAt`. `later`: not before `retryAt`. `lost`: our token is no longer the lane's. */
  | { readonly lane: string; readonly outcome: 'busy' | 'later' | 'lost'; readonly retryAt: number }

export interface TurnMove {
  readonly lane: string
  readonly token: number
  readonly turn: string
  readonly to: 'queued' | 'seen' | 'answered' | 'failed'
  readonly reason?: ReasonCode
  readonly detail?: string
  /** With to: 'queued'. */
  readonly repeat?: boolean
  readonly resume?: boolean
  /** With to: 'queued': the lane is not taken before now + this. */
  readonly notBeforeMs?: number
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
}

export interface Enqueued {
  readonly id: string
  readonly seq: number
  readonly state: SendState
  /** True: the idempotency key was known and the first row is returned. */
  readonly repeated: boolean
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
  /** With to: 'queued': the lane is not taken before now + this. */
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
  readonly agent?: string
  readonly integration?: string
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
  readonly conservation: { readonly received: number; readonly accounted: number; readonly ok: boolean }
}

// ---- wake-ups ---------------------------------------------------------------------------------------------

/** Told after the commit, on this node and (PostgreSQL) on the others. Lossy: sweeps find what a hint missed. */
export type Hint =
  | { readonly kind: 'turns'; readonly lane: string; readonly scope: string }
  | { readonly kind: 'sends'; readonly lane: string; readonly scope: string }
  | { readonly kind: 'approval'; readonly id: string }
  | { readonly kind: 'turn'; readonly id: string }
  | { readonly kind: 'access' }

export interface Work {
  readonly lane: string
  /** Agent (inbox) or integration (outbox). */
  readonly scope: string
}

export interface Store {
  /** Short random name of this database, part of every row id. */
  readonly tag: string
  /** `sqlite` or `postgres`, and what the live connection says about durability. */
  durability(): Promise<{ readonly kind: 'sqlite' | 'postgres'; readonly detail: string }>

  // intake
  /** Rows, sessions, effects, cursor, ledger and counters in one commit. */
  receive(
    items: readonly ReceiveItem[],
    cursor?: { readonly integration: string; readonly value: string },
  ): Promise<readonly ReceiveResult[]>
  cursor(integration: string): Promise<string | null>

  // dispatch
  takeTurns(lanes: readonly LaneRequest[], leaseMs: number): Promise<readonly TakenTurns[]>
  moveTurns(moves: readonly TurnMove[]): Promise<readonly MoveOutcome[]>
  /** Enqueues and moves in one commit. A stale move writes nothing at all. */
  accept(
    sends: readonly NewSend[],
    moves: readonly TurnMove[],
  ): Promise<{ readonly outcome: 'accepted' | 'stale'; readonly sends: readonly Enqueued[] }>
  /** Operator: failed or expired → queued; anything open → failed: cancelled. Null when the state does not allow it. */
  operateTurn(id: string, verb: 'retry' | 'cancel', by: string): Promise<TurnRow | null>
  /** queued longer than `olderThanMs` → expired. Returns what it moved (at most `limit`). */
  expireTurns(olderThanMs: number, limit: number): Promise<readonly TurnRow[]>

  // outlet
  enqueue(sends: readonly NewSend[]): Promise<readonly Enqueued[]>
  takeSends(lanes: readonly LaneRequest[], leaseMs: number): Promise<readonly TakenSend[]>
  moveSends(moves: readonly SendMove[]): Promise<readonly MoveOutcome[]>
  /** Operator: failed or unknown → queued, or → failed: buried. Null when the state does not allow it. */
  operateSend(id: string, verb: 'retry' | 'bury', by: string): Promise<SendRow | null>

  // lanes
  /** Lanes with open, due work that nobody holds; `after` pages on. */
  findWork(
    kind: 'turns' | 'sends',
    scopes: readonly string[],
    options: { readonly limit: number; readonly after?: string },
  ): Promise<readonly Work[]>
  renewLanes(
    kind: 'turns' | 'sends',
    lanes: readonly { readonly lane: string; readonly token: number }[],
    leaseMs: number,
  ): Promise<readonly boolean[]>
  releaseLanes(
    kind: 'turns' | 'sends',
    lanes: readonly { readonly lane: string; readonly token: number }[],
  ): Promise<void>
  /** A named lease (poller, schedule, socket). Null when another node holds it. */
  lease(name: string, ttlMs: number): Promise<{ readonly token: number } | null>
  releaseLease(name: string, token: number): Promise<void>

  // approvals
  /** Row and prompts in one commit. `collision`: the id is pending already, choose another. */
  ask(approval: NewApproval, prompts: readonly NewSend[]): Promise<'asked' | 'collision'>
  /** Compare-and-set on a pending row. Cause `expired` ends in state `expired`, every other in `decided`. */
  decide(decide: Decide): Promise<{ readonly won: boolean; readonly approval: ApprovalRow | null }>
  /** decided → relayed | undeliverable, pending → withdrawn. Null when it was not in the state before. */
  settleApproval(id: string, to: 'relayed' | 'undeliverable' | 'withdrawn'): Promise<ApprovalRow | null>
  approval(id: string): Promise<ApprovalRow | null>
  approvals(filter: {
    readonly states?: readonly ApprovalState[]
    readonly agent?: string
    readonly dueBefore?: number
    readonly limit: number
  }): Promise<readonly ApprovalRow[]>

  // people
  grants(): Promise<readonly Grant[]>
  grant(grant: Omit<Grant, 'at'>): Promise<void>
  revoke(integration: string, sender: string, right: 'talk' | 'approve', by: string): Promise<boolean>
  pairings(): Promise<readonly PairingRow[]>
  /** Grants `talk` (and `approve` to the first one of an integration) and forgets the code. Null: no such code. */
  approvePairing(
    code: string,
    by: string,
  ): Promise<{ readonly pairing: PairingRow; readonly approver: boolean } | null>
  denyPairing(code: string, by: string): Promise<boolean>
  addToken(token: Omit<TokenRow, 'createdAt' | 'revokedAt'>, by: string): Promise<void>
  tokenByHash(hash: string): Promise<TokenRow | null>
  tokens(): Promise<readonly TokenRow[]>
  revokeToken(id: string, by: string): Promise<boolean>
  /** Ciphertexts by name; the store never sees a plain one. `replaceSecrets` swaps all at once (rotation). */
  secrets(): Promise<Readonly<Record<string, string>>>
  replaceSecrets(change: Readonly<Record<string, string | null>>, by: string): Promise<void>

  // reading
  turn(id: string): Promise<TurnRow | null>
  turns(filter: TurnFilter): Promise<readonly TurnRow[]>
  send(id: string): Promise<SendRow | null>
  sends(filter: SendFilter): Promise<readonly SendRow[]>
  session(id: string): Promise<SessionRow | null>
  /** The session an address leads to now; null if it never spoke. */
  sessionAt(agent: string, at: Address): Promise<SessionRow | null>
  transcript(integration: string, query: TranscriptQuery): Promise<readonly TranscriptEntry[]>
  counters(): Promise<readonly Counter[]>
  /** Open turns per agent and state, counted on the index of open turns (never on the whole table). */
  openTurns(): Promise<readonly { readonly agent: string; readonly state: TurnState; readonly count: number }[]>

  // ledger
  note(notes: readonly LedgerNote[]): Promise<void>
  ledger(query: { readonly afterSeq: number; readonly limit: number }): Promise<readonly LedgerEntry[]>
  verify(expectHead?: string): Promise<AuditReport>
  /** Bodies of settled rows older than this are dropped; rows and ledger stay. Returns how many. */
  pruneBodies(olderThanMs: number, limit: number): Promise<number>

  onHint(listen: (hint: Hint) => void): void
  close(): Promise<void>
}
