// The store's verbs for retention: the ledger and its proof, restored backups, and pruning.
import type { AuditReport, LedgerEntry, LedgerHead, LedgerNote } from './records.ts'

/** When a database was restored, and when the backup was taken. */
export interface RestoredFrom {
  readonly at: number
  readonly takenAt: number
}

/** What an integration refused for one reason, among the newest entries of the ledger. */
export interface RecentRefusals {
  readonly integration: string
  readonly reason: string
  /** Messages refused since the requested time. */
  readonly count: number
  /** The configuration key that the newest refusal recorded. Null: none. */
  readonly key: string | null
}

export interface KeepingVerbs {
  note(notes: readonly LedgerNote[]): Promise<void>
  ledger(query: { readonly afterSeq: number; readonly limit: number }): Promise<readonly LedgerEntry[]>
  /**
   * Returns recent refusals, each with the key of the newest one. Only the newest entries of the ledger are read, so
   * on a busy gateway `count` is a lower bound.
   */
  recentRefusals(sinceMs: number): Promise<readonly RecentRefusals[]>
  verify(expectHead?: string): Promise<AuditReport>
  /** Returns the stored head of the chain, unproven, and the number of entries. */
  head(): Promise<LedgerHead>
  /** Returns the number of chains sealed with another key. */
  foreignChains(): Promise<number>
  /**
   * After a restore: moves up to `limit` open sends to `unknown`. Zero: none is left, open turns are marked as
   * repeats, and the time of the backup is recorded.
   */
  settleRestored(takenAt: number, by: string, limit: number): Promise<number>
  /** Null: it was never restored. */
  restored(): Promise<RestoredFrom | null>
  /** Deletes bodies of settled rows older than this; rows and ledger stay. Returns how many. */
  pruneBodies(olderThanMs: number, limit: number): Promise<number>
  /**
   * Deletes bodies of `not_mentioned` messages older than this, because no turn can need them any more. Returns how
   * many.
   */
  forgetOverheard(olderThanMs: number, limit: number): Promise<number>
  /**
   * Deletes settled rows older than this (and never younger than 30 days); counters and ledger stay. At most `limit`
   * of each kind; returns how many.
   */
  pruneRows(olderThanMs: number, limit: number): Promise<number>
  /** Replaces ledger entries older than this, whose rows are gone, by a checkpoint entry. Returns how many. */
  pruneLedger(olderThanMs: number, limit: number): Promise<number>
  /** Deletes tokens that expired longer ago than this; the ledger keeps that they were minted. Returns how many. */
  pruneTokens(expiredForMs: number, limit: number): Promise<number>

  /** Returns when it was stored; null when there is none. */
  fileTime(integration: string, name: string): Promise<number | null>
  /** Deletes files stored longer ago than this. Returns the number of parts: at most `limit`. */
  pruneFiles(olderThanMs: number, limit: number): Promise<number>
}
