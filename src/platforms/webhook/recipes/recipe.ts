// A recipe says, as data, what the events of one sender mean: which make a message, of which conversation, with which id,
// and a short text that a person and an agent can read. All texts are templates over body, `headers` and `event`.
import type { AuthType } from '../auth-options.ts'

export interface Recipe {
  /** How its sender proves itself where the configuration says only `secret`; null: it must say. */
  readonly auth: AuthType | null
  /** The field of the body without which its words would be blanks: a body that lacks it is none of its sender's. */
  readonly needs?: string
  /** The kind of an event. */
  readonly event: string
  /** Texts by kind; one that comes out empty means nothing to an agent, and so does a kind that has none. */
  readonly texts: Readonly<Record<string, string>>
  /** For every other kind. */
  readonly other?: string
  /** What belongs together has one conversation, so that follow-ups reach the same session. */
  readonly conversation: string
  /** The same when the sender tries again. Absent: none is sent, and the headers decide. */
  readonly messageId?: string
  /** Whom a person would name as its author. Shown, and no gate. */
  readonly author?: string
  /** A field whose text is JSON itself: templates find it as `inside`. */
  readonly inside?: string
  /** A body without structure is taken as it is, and so is one that the texts make nothing of. */
  readonly takesAny?: true
}
