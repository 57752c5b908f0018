// What the store keeps of completeness: how far each integration was compared, the mark of each place, and which messages
// are known. The walk that uses them is src/core/history/; the reader of a platform is history.ts.

/** One integration whose platform keeps a history. */
export interface HistoryLinkRow {
  readonly integration: string
  /** Its first connect: nothing older is looked for. */
  readonly beganAt: number
  /** Everything said before this was received or refused; null: nothing was compared yet. */
  readonly until: number | null
  /** All places that could be read were compared up to here: rows and keys older than this are looked for no more. */
  readonly comparedAt: number | null
  readonly state: 'complete' | 'behind'
  readonly detail: string | null
}

export interface HistoryMark {
  readonly place: string
  /** The platform's own: history is asked for after it. */
  readonly position: string
  /** When that entry was said. */
  readonly at: number
}

/** The lease under which a position is moved: a node that slept through the end of it moves nothing back. */
export interface PositionFence {
  readonly name: string
  readonly token: number
}

export interface MarkMove extends HistoryMark {
  readonly integration: string
  readonly fence?: PositionFence
}

export interface HistorySettled {
  readonly integration: string
  readonly state: 'complete' | 'behind'
  readonly detail: string | null
  /** Absent: it stays. */
  readonly until?: number
  readonly comparedAt?: number
  readonly fence?: PositionFence
}

export interface MessageKey {
  readonly conversation: string
  readonly messageId: string
}

/**
 * For so long a message stays known, by its row or by the key of its drop, and longer while a history was not compared up
 * to it: what is older in a history is not taken for missed.
 */
export const HISTORY_ROWS_MS = 30 * 24 * 3_600_000

/** The edit version of a deletion: it is kept under the key of its message. */
export const DELETED_VERSION = -1

export interface HistoryStore {
  /** The row of an integration, made now if this is its first connect. */
  beginHistory(integration: string): Promise<HistoryLinkRow>
  settleHistory(settled: HistorySettled): Promise<void>
  historyLinks(): Promise<readonly HistoryLinkRow[]>
  historyMarks(integration: string, places: readonly string[]): Promise<readonly HistoryMark[]>
  /** Those whose last entry was said since then, the newest first; `after`: behind this one. */
  marksSince(
    integration: string,
    sinceMs: number,
    page: { readonly limit: number; readonly after?: Pick<HistoryMark, 'place' | 'at'> },
  ): Promise<readonly HistoryMark[]>
  /** The place is gone: if it ever comes back it begins anew. */
  forgetPlace(integration: string, place: string): Promise<void>
  /** Every version of these messages that was received or refused, rows or not. A deletion is DELETED_VERSION. */
  knownMessages(
    integration: string,
    keys: readonly MessageKey[],
  ): Promise<readonly (MessageKey & { readonly editVersion: number })[]>
}
