// Completeness: what a platform with a history provides, so that one loop in the core can prove for all platforms that
// nothing was missed. An adapter only reads. Marks, comparison, order, limits and retries belong to the core.
//
// The core calls `places` (and `placeOf` for conversations it knows) after each connect, after downtime and slowly in
// the background. Then it reads each place after its mark. An entry that is not in the inbox was missed. It is received
// now and marked late. If the live link should have brought it, the link is renewed (`renew`).
import type { InboundMessage } from './message.ts'

/** A unit with its own history: a channel, a direct chat, a thread, a mailbox. */
export interface HistoryPlace {
  /** Stable and unique within the integration: the durable mark is stored under it. At most 500 characters. */
  readonly id: string
  /** Its name for people in status and doctor. Absent: its id. */
  readonly name?: string
  /**
   * The time from which the live link brings its messages (when we joined), if the platform tells it. Older messages
   * are not read. Absent: since the integration's first connect.
   */
  readonly since?: number
  /**
   * The time of its last message, if the listing tells it. A place without new messages since the last look is not
   * read.
   */
  readonly activeAt?: number
}

/** A conversation, or a thread of one, with recent messages. */
export interface KnownConversation {
  readonly conversation: string
  readonly thread?: string
}

export interface PlacesQuery {
  /** Places without messages since then may be omitted, because nothing can have been missed there. */
  readonly since: number
  /** `next` of the previous page. Absent: the first page. */
  readonly page?: string
}

export interface PlacesPage {
  readonly places: readonly HistoryPlace[]
  /** Absent: this is the last page. */
  readonly next?: string
  /** What could not be listed. The rest is compared, and the integration stays `behind` with these reasons. */
  readonly unlisted?: readonly Unlisted[]
}

export interface Unlisted {
  /** What was not listed, why, and what to do. */
  readonly detail: string
  /** A quick retry does not help: a scope or a route is missing. */
  readonly lasting: boolean
}

export interface HistoryQuery {
  readonly place: HistoryPlace
  /** The position of the last entry that was read. Null, or no longer known to the platform: from `since` on. */
  readonly after: string | null
  readonly since: number
  /** The maximum number of entries taken from one page. */
  readonly limit: number
}

/** One entry of a history, in its present form. */
export interface HistoryEntry {
  /** The platform's own, opaque position. The next query continues after it. At most 500 characters. */
  readonly position: string
  readonly at: number
  /**
   * The event that the live link would have brought, with the same conversation, thread and message id. `editVersion`
   * is that of the present text (0 or absent: never edited). `kind` is always `message`; the core decides whether it
   * is an edit. Null: the live link never brings such an entry (our own message, a join), and the mark passes it.
   */
  readonly event: (InboundMessage & { readonly kind: 'message'; readonly messageId: string }) | null
}

export type HistoryPage =
  | {
      /** Oldest first, all after `after`. */
      readonly entries: readonly HistoryEntry[]
      /** More entries follow, and are read at once. A page without progress ends the walk as a fault. */
      readonly more: boolean
      /** Places that were found on the way (a thread with new replies). */
      readonly places?: readonly HistoryPlace[]
      /**
       * The platform has nothing older than this, although older entries were requested. Earlier messages cannot be
       * checked.
       */
      readonly begins?: number
    }
  /**
   * `gone`: the place does not exist any more, or we left it; nothing more can be missed there. `forbidden`: it
   * exists, but we may not read it (a scope is missing); `detail` says what to do.
   */
  | { readonly unreadable: 'gone' | 'forbidden'; readonly detail: string }

/**
 * The interface of an adapter whose platform keeps a history. Other adapters omit it, and their integrations "cannot
 * be checked".
 */
export interface HistoryReader {
  /**
   * Returns one page of readable places. Throws as `send` does. `rate_limited` with `retryAfterMs` delays the whole
   * walk of this integration; other retryable errors are retried later. It never waits inside.
   */
  places(query: PlacesQuery): Promise<PlacesPage>
  /**
   * Returns a known conversation as a separate place, if the platform's listing omits it (direct chats of a bot,
   * recently active threads). Null: a place that `places` lists covers it. Absent: always.
   */
  placeOf?(known: KnownConversation): HistoryPlace | null
  /**
   * Returns the place whose history contains a message of the live link. After a connect, live messages of a place
   * wait until it was read, so that messages from the time without link come first. `read` may then run beside another
   * read. Null or absent: they do not wait. Omit it where the live link itself brings everything in order. Then
   * messages from before a connect count as missed only after a minute, like all others.
   */
  livePlace?(at: KnownConversation & { readonly messageId?: string }): HistoryPlace | null
  /** Returns one page of a place. Throws as `places` does. */
  read(query: HistoryQuery): Promise<HistoryPage>
}

/** Until when an integration is known to have missed nothing. */
export interface Completeness {
  /**
   * `complete`: every place was compared, up to `until`. `behind`: not compared since the last connect, or a place was
   * unreadable; `detail` says why. `unchecked`: there is no readable history.
   */
  readonly state: 'complete' | 'behind' | 'unchecked'
  /** Every message before this time (epoch milliseconds) was received or refused; null: nothing was compared yet. */
  readonly until: number | null
  readonly detail?: string
}
