// A recipe describes a sender's events as data: which of them make a message, of which conversation, with which id and
// text. All texts are templates over the body, `headers` and `event`.
import type { AuthType } from '../auth-options.ts'

export interface Recipe {
  /** The sender's proof if the configuration gives only `secret`; null: it must be configured. */
  readonly auth: AuthType | null
  /** A field that every body of this sender has. A body without it is refused. */
  readonly needs?: string
  /** The kind of an event. */
  readonly event: string
  /** Texts by kind. A kind without a text, or with an empty result, makes no message. */
  readonly texts: Readonly<Record<string, string>>
  /** For every other kind. */
  readonly other?: string
  /** Related events share a conversation, so that follow-ups reach the same session. */
  readonly conversation: string
  /** The same when the sender tries again. Absent: the headers decide. */
  readonly messageId?: string
  /** The author of the event, for display. It gives no access. */
  readonly author?: string
  /** A field whose text is JSON itself. Templates find it as `inside`. */
  readonly inside?: string
  /** A body without structure, or without a text by the templates, is taken as it is. */
  readonly takesAny?: true
}
