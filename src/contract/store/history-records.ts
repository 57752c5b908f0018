// The stored state of completeness: how far each integration was compared, the mark of each place, and which messages
// are known. The walk is in src/core/history/; the platform's reader is in history.ts.

/** One integration whose platform keeps a history. */
export interface HistoryLinkRow {
  readonly integration: string
  /** Its first connect. Older messages are not read. */
  readonly beganAt: number
  /** Every message before this was received or refused; null: nothing was compared yet. */
  readonly until: number | null
  /** All readable places were compared up to here. Older rows and keys are no longer needed. */
  readonly comparedAt: number | null
  readonly state: 'complete' | 'behind'
  readonly detail: string | null
}

export interface HistoryMark {
  readonly place: string
  /** The platform's own position; history is read after it. */
  readonly position: string
  /** Time of that entry. */
  readonly at: number
}

/** The lease under which a position is moved, so that a node that slept past its lease moves nothing back. */
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
  /** Absent: unchanged. */
  readonly until?: number
  readonly comparedAt?: number
  readonly fence?: PositionFence
}

export interface MessageKey {
  readonly conversation: string
  readonly messageId: string
}

/**
 * How long a message stays known, by its row or by the key of its drop; longer while a history was not compared up to
 * it. Older entries of a history do not count as missed.
 */
export const HISTORY_ROWS_MS = 30 * 24 * 3_600_000

/** The edit version of a deletion, which is stored under the key of its message. */
export const DELETED_VERSION = -1

export interface HistoryStore {
  /** Returns the row of an integration, and creates it at its first connect. */
  beginHistory(integration: string): Promise<HistoryLinkRow>
  settleHistory(settled: HistorySettled): Promise<void>
  historyLinks(): Promise<readonly HistoryLinkRow[]>
  historyMarks(integration: string, places: readonly string[]): Promise<readonly HistoryMark[]>
  /** Returns places whose last entry is newer, newest first; `after`: only those after this one. */
  marksSince(
    integration: string,
    sinceMs: number,
    page: { readonly limit: number; readonly after?: Pick<HistoryMark, 'place' | 'at'> },
  ): Promise<readonly HistoryMark[]>
  /** The place is gone. If it returns, it starts from the beginning. */
  forgetPlace(integration: string, place: string): Promise<void>
  /**
   * Returns every version of these messages that was received or refused, with or without a row. A deletion is
   * DELETED_VERSION.
   */
  knownMessages(
    integration: string,
    keys: readonly MessageKey[],
  ): Promise<readonly (MessageKey & { readonly editVersion: number })[]>
}
