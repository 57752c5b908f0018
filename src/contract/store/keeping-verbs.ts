// The store's verbs about what stays: the ledger and its proof, what a restored backup owes, and what is pruned when.
import type { AuditReport, LedgerEntry, LedgerHead, LedgerNote } from './records.ts'

/** When a database was put back, and when the backup was taken. */
export interface RestoredFrom {
  readonly at: number
  readonly takenAt: number
}

/** The key of the configuration that a refusal was recorded with. */
/** What an integration refused for one reason, among the newest entries of the ledger. */
export interface RecentRefusals {
  readonly integration: string
  readonly reason: string
  /** Messages that were refused since the asked time. */
  readonly count: number
  /** The key of the configuration that the newest refusal recorded. Null: it recorded none. */
  readonly key: string | null
}

export interface KeepingVerbs {
  note(notes: readonly LedgerNote[]): Promise<void>
  ledger(query: { readonly afterSeq: number; readonly limit: number }): Promise<readonly LedgerEntry[]>
  /** The key that each integration's newest refusal for each reason recorded, as far back as the last entries tell. */
  /** Only the newest entries of the ledger are read, so on a busy gateway `count` is a lower bound. */
  recentRefusals(sinceMs: number): Promise<readonly RecentRefusals[]>
  verify(expectHead?: string): Promise<AuditReport>
  /** The head of the chain as it is written, unproven; and how many entries there are. */
  head(): Promise<LedgerHead>
  /** Chains that were sealed with another key than the one at hand. */
  foreignChains(): Promise<number>
  /**
   * After a backup was put back: up to `limit` sends that were open become `unknown`. Zero: none is left, open turns are
   * marked as repeats, and the database says from when it is.
   */
  settleRestored(takenAt: number, by: string, limit: number): Promise<number>
  /** Null: it was never restored. */
  restored(): Promise<RestoredFrom | null>
  /** Bodies of settled rows older than this are dropped; rows and ledger stay. Returns how many. */
  pruneBodies(olderThanMs: number, limit: number): Promise<number>
  /** Bodies of `not_mentioned` messages older than this are dropped: no turn can need them any more. Returns how many. */
  forgetOverheard(olderThanMs: number, limit: number): Promise<number>
  /**
   * Settled rows older than this (and never younger than 30 days) go for good; counters and ledger stay. At most `limit`
   * of each kind; returns how many.
   */
  pruneRows(olderThanMs: number, limit: number): Promise<number>
  /** Ledger entries older than this, of rows that are gone, go behind a checkpoint entry. Returns how many. */
  pruneLedger(olderThanMs: number, limit: number): Promise<number>
  /** Tokens that expired longer ago than this are forgotten; the ledger keeps that they were minted. Returns how many. */
  pruneTokens(expiredForMs: number, limit: number): Promise<number>

  /** When it was kept; null when there is none. */
  fileTime(integration: string, name: string): Promise<number | null>
  /** Files that were kept longer ago than this are forgotten. Returns how many parts: at most `limit`. */
  pruneFiles(olderThanMs: number, limit: number): Promise<number>
}
