// Completeness: what a platform that keeps a history tells the river, so that one loop in the core can prove for all of
// them that nothing was missed. An adapter only reads; marks, comparison, order, limits and retries are the core's.
//
// The core asks `places` (and `placeOf` for what it knows itself) after each connect, after downtime and slowly in the
// background, then reads each place after its mark. What is there and is not in the inbox was missed: it is
// received now, marked late, and where the live link should have brought it the link is renewed (`renew`).
import type { InboundMessage } from './message.ts'

/** Something whose history can be asked for by itself: a channel, a direct chat, a thread, a mailbox. */
export interface HistoryPlace {
  /** Stable, and unique within the integration: the durable mark is kept under it. At most 500 characters. */
  readonly id: string
  /** What people call it in status and doctor. Absent: its id. */
  readonly name?: string
  /**
   * From when on the live link brings what is said there (when we joined), where the platform tells. Nothing older is
   * looked for. Absent: since the integration's first connect.
   */
  readonly since?: number
  /** When something was last said there, where the listing tells: what has not moved since the last look is not asked. */
  readonly activeAt?: number
}

/** A conversation, or a thread of one, in which something was received or sent lately. */
export interface KnownConversation {
  readonly conversation: string
  readonly thread?: string
}

export interface PlacesQuery {
  /** Where nothing was said since then, nothing can have been missed: such places may be left out. */
  readonly since: number
  /** `next` of the page before. Absent: the first page. */
  readonly page?: string
}

export interface PlacesPage {
  readonly places: readonly HistoryPlace[]
  /** Absent: that was the last page. */
  readonly next?: string
  /** What could not be listed. The rest is compared, and the integration stays `behind` with these reasons. */
  readonly unlisted?: readonly Unlisted[]
}

export interface Unlisted {
  /** What was not listed, why, and what to do. */
  readonly detail: string
  /** Asking again soon brings nothing: a scope or a route is missing. */
  readonly lasting: boolean
}

export interface HistoryQuery {
  readonly place: HistoryPlace
  /** The position of the last entry that was looked at. Null, or unknown to the platform by now: from `since` on. */
  readonly after: string | null
  readonly since: number
  /** More entries than this are not taken from one page. */
  readonly limit: number
}

/** One entry of a history, as it stands there now. */
export interface HistoryEntry {
  /** The platform's own, opaque: the next query goes on after it. At most 500 characters. */
  readonly position: string
  readonly at: number
  /**
   * The same event, with the same conversation, thread and message id, that the live link would have brought; `editVersion` is
   * that of the text as it stands (0 or absent: never edited), and `kind` is always `message`: whether it is an edit for us
   * the core knows. Null: the live link brings no such thing (our own words, somebody joined); the mark passes it.
   */
  readonly event: (InboundMessage & { readonly kind: 'message'; readonly messageId: string }) | null
}

export type HistoryPage =
  | {
      /** Oldest first, all after `after`. */
      readonly entries: readonly HistoryEntry[]
      /** There is more after the last of them: asked for at once. A page that moves nothing on ends the walk as a fault. */
      readonly more: boolean
      /** Places that were found on the way (a thread with new replies). */
      readonly places?: readonly HistoryPlace[]
      /** The platform keeps nothing older than this, and was asked for older: what stood before cannot be told. */
      readonly begins?: number
    }
  /**
   * `gone`: it does not exist any more, or we are no longer in it; nothing more can be missed there.
   * `forbidden`: it exists and we may not read it (a scope is missing); `detail` says what to do.
   */
  | { readonly unreadable: 'gone' | 'forbidden'; readonly detail: string }

/** What an adapter of a platform that keeps a history offers. Others offer none of it and "cannot be checked". */
export interface HistoryReader {
  /**
   * One page of what can be asked. Throws as `send` does: `rate_limited` with `retryAfterMs` makes the whole walk of this
   * integration wait, anything else that is retryable is tried again later; nothing waits inside.
   */
  places(query: PlacesQuery): Promise<PlacesPage>
  /**
   * What the river knows of, as a place of its own: what the platform's listing does not show (direct chats of a bot,
   * threads active lately). Null: a place that `places` lists covers it. Absent: always.
   */
  placeOf?(known: KnownConversation): HistoryPlace | null
  /**
   * The place in whose history a message of the live link stands. After a connect the live messages of a place wait until it
   * was read, so that what was said while there was no link comes first; `read` may then be asked while another read is on.
   * Null or absent: they do not wait. Leave it out where the live link itself brings everything in order: then what was said
   * before a connect is missed only when it is a minute old, as is everything else.
   */
  livePlace?(at: KnownConversation & { readonly messageId?: string }): HistoryPlace | null
  /** One page of a place. Throws as `places` does. */
  read(query: HistoryQuery): Promise<HistoryPage>
}

/** How far an integration is known to have missed nothing. */
export interface Completeness {
  /**
   * `complete`: every place was compared, up to `until`. `behind`: not since the last connect, or a place could not be
   * read; `detail` says why. `unchecked`: it keeps no history that we may read.
   */
  readonly state: 'complete' | 'behind' | 'unchecked'
  /** Everything said before this (epoch milliseconds) was received or refused; null: nothing was compared yet. */
  readonly until: number | null
  readonly detail?: string
}
