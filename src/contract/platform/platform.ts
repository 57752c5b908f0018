// The contract of a platform adapter: a platform is received from and sent to. It has no store, session, retry,
// deduplication or allowlist, which belong to the core.

import type { Address } from '../message/address.ts'
import type { HistoryReader } from '../message/history.ts'
import type { MarkdownRenderer } from '../message/markdown.ts'
import type { Attachment, OutboundOp, Receipt, Signal } from '../message/message.ts'
import type { TextLimit } from '../message/text-limit.ts'
import type { GateView, SecurityFinding } from '../operator/findings.ts'
import type { SendCause } from '../store/step.ts'
import type { ChannelView } from './channel-servers.ts'
import type { Endpoint, SampleOrder, SampleRequest } from './endpoint.ts'
import type { PlatformIntake } from './platform-deps.ts'

/** A platform. Four members are required; each of the others is a group of what belongs together. */
export interface PlatformAdapter {
  readonly abilities: Abilities
  /** Starts to receive. `cursor` is the value last stored with `intake.receive`. */
  start(intake: PlatformIntake, cursor: string | null): Promise<void>
  /**
   * Resolves only when the platform confirmed; otherwise throws. Throws `outcome_unknown` when it may have arrived.
   */
  send(request: SendRequest): Promise<Receipt>
  stop(): Promise<void>
  /** The HTTP requests of the platform. Absent: the adapter fetches what it receives. */
  readonly endpoint?: Endpoint
  /** The link to the platform. Absent: it has none that could fail, and counts as `up`. */
  readonly link?: PlatformLink
  /** When a message may go, where the platform limits that. `send` itself never waits. */
  readonly pace?: Pace
  /**
   * Returns whether the send with this key arrived. Called after a crash, and when the answer to an attempt was lost.
   * Throws when the platform does not answer now, and is called again. Any other refusal (a 4xx) means that it cannot
   * be asked.
   */
  reconcile?(request: SendRequest): Promise<ReadBack>
  /** Shows a signal, such as typing. Lossy by contract. */
  signal?(to: Address, signal: Signal): void
  /** How answers are shown while they are written. Absent: an answer is shown when it is finished. */
  readonly streaming?: Streaming
  /** Shows what the agent is doing on a turn. Absent: nothing is shown, or `signal` is enough. */
  readonly status?: StatusLine
  readonly files?: PlatformFiles
  /** The platform keeps a history that can be compared with the inbox. Absent: it "cannot be checked". */
  readonly history?: HistoryReader
  /** People who watch through this node, where a send alone reaches none of them. */
  readonly watchers?: Watchers
  /** The channel server behind it, for the agent's tools. Absent: none. */
  readonly channel?: ChannelView
  readonly checks?: PlatformChecks
  /** The configuration changed, and `deps.current()` returns it. Absent: a change restarts the adapter. */
  configChanged?(): void
}

/** What a platform can do, as data: the core never calls and hopes. An absent ability is one that it lacks. */
export interface Abilities {
  /** The outlet cuts longer texts on their Markdown tree, so that each part is well-formed. */
  readonly textLimit: TextLimit
  /** How Markdown is shown here: in a form of the platform's own, or `written` (the default): as it is. */
  readonly markdown?: MarkdownForm
  readonly threads?: boolean
  readonly edits?: boolean
  readonly reactions?: boolean
  readonly files?: boolean
  readonly buttons?: boolean
  /** A person can answer one particular message: its id comes back as `replyTo`. */
  readonly replies?: boolean
  readonly typing?: boolean
  /** Draws all parts of a prompt's `ask`, so no request for the rest of its text is needed. */
  readonly showsAsk?: boolean
  /** A long text can be shown whole as a file: a text op with `asFile`. */
  readonly textAsFile?: boolean
  /**
   * Sending the same key twice shows one message. After a crash between send and confirmation, the message is simply
   * sent again.
   */
  readonly idempotentSend?: boolean
  /** A sender's id names no chat of theirs. They are reached where they wrote lately. */
  readonly senderIdIsNotAChat?: boolean
  /** Nothing can be sent back (a one-way webhook), so no notices are made for it. */
  readonly oneWay?: boolean
  /** Programs write here, not people. `notify_on` reports the end of their turns. */
  readonly unattended?: boolean
  /** It takes a text op with `template`, even where free text is refused. */
  readonly templates?: boolean
  /** It reports deleted messages (`InboundDelete`). A deletion that arrives before its message is remembered. */
  readonly deletes?: boolean
  /** `link-holder`: only the node with the integration's lease can send. Absent: any node can. */
  readonly sendFrom?: 'any' | 'link-holder'
  /** The target of a notification that names no chat, on a platform that has none. */
  readonly notifyPlace?: string
  /**
   * Its conversations are people who sign in here, and these always exist. An address that is none of them, no user
   * and no earlier writer is refused before anything is queued. Absent: the platform knows whom an address reaches.
   */
  readonly residents?: readonly string[]
}

export type MarkdownForm = MarkdownRenderer | 'written'

export interface PlatformLink {
  /** Returns link health, for status and doctor. */
  state(): LinkState
  /** Returns its name on the platform (`@kate_bot`), once known. */
  who?(): string | null
  /**
   * The live link missed a message in the history, or `probe` found it deaf: make a new link, if possible before the
   * old one ends. Called at most once in ten minutes, and never because of silence.
   */
  renew?(cause: string): void
  /**
   * Whether the live link still hears, by its own round trip (a ping and its answer, a canary), never by whether
   * people wrote. Called now and then while the link is `up`. Throws: it could not be determined.
   */
  probe?(): Promise<'hears' | 'deaf'>
}

export interface LinkState {
  /** `waiting`: another node holds it. */
  readonly state: 'up' | 'connecting' | 'down' | 'disabled' | 'waiting'
  readonly detail?: string
  /** Start of the present connection. A missed message after it shows that the link is deaf. */
  readonly since?: number
}

/**
 * `signals`: an answer in progress is shown by `signal` of kind `partial`, which leaves no message. `edits`: by a
 * message that is changed. The answer's own outbox row is used: `send` gets a text op with `partial` and shows it.
 * `revise` changes it. `send` with `shown` makes it the final text.
 */
export type Streaming = { readonly by: 'signals' } | StreamingByEdits

export interface StreamingByEdits {
  readonly by: 'edits'
  /** The least time between two changes of a message. */
  readonly everyMs: number
  /**
   * Shows more of an answer in progress: `shown` is the message, and `op.text` the text so far, cut to `textLimit`.
   * Called for one change at a time. Low priority: failed or excess updates are dropped, because the next or final
   * text follows.
   */
  revise(request: SendRequest & { readonly shown: readonly string[] }): Promise<void>
}

/** The line that says what the agent is doing on a turn, apart from its messages. */
export interface StatusLine {
  /**
   * Shows a new line, or (`line`) changes the present one. Returns its id. It must be silent and fast, and is tried
   * once. The core asks `pace` first, and gives it up for anything else.
   */
  show(to: Address, text: string, line: string | null): Promise<string>
  /** Removes the line; a missing one is no failure. */
  remove(to: Address, line: string): Promise<void>
}

export interface PlatformFiles {
  /** Stores a file to be sent and returns its name for an op of kind `file`. Absent: no files can be sent. */
  keep?(file: NewFile): Promise<string>
  /** Fetches an attachment of a message that passed the gate. Throws `too_large` above the limit. */
  download?(attachment: Attachment): Promise<DownloadedFile>
  /**
   * Removes a person's files, whether or not these attachments name them, from here and from the mirror. Returns how
   * many.
   */
  forget?(of: { readonly sender: string; readonly attachments: readonly Attachment[] }): Promise<number>
}

export interface Watchers {
  /**
   * A message was sent or received in this conversation at another node, so its watchers here need an update. If
   * implemented, signals are forwarded from other nodes.
   */
  heard(conversation: string): void
  /** Whether a person watches (an open window, a stream) through this node. */
  listening(): boolean
}

/** What an operator may ask. */
export interface PlatformChecks {
  /** Its own gates, for doctor. */
  gates?(): readonly GateView[]
  /**
   * Returns a request for a test through the real endpoint. Absent: none can be made. Throws `input_invalid` with the
   * possible requests, or why only the sender itself can make one.
   */
  sample?(order: SampleOrder): Promise<SampleRequest>
  /**
   * Tests on the real service whether a forged sender would be believed. Called only for an operator. Never throws.
   */
  trial?(): Promise<PlatformTrial>
}

/** A file on its way out. */
export interface NewFile {
  readonly name: string
  readonly mime: string
  readonly bytes: Uint8Array
}

/** An attachment as a local file, inside the integration's folder. */
export interface DownloadedFile {
  readonly path: string
  readonly name: string
  readonly mime: string
  readonly size: number
}

/** When the attempts with an open outcome were made. */
export interface Tried {
  /** Start of the first attempt. */
  readonly since: number
  /** End of the last attempt. */
  readonly endedAt: number
}

export interface SendRequest {
  readonly to: Address
  readonly op: OutboundOp
  /** Outbox id: the basis of a resumable stream and of a platform's own idempotency key. */
  readonly key: string
  /** Position of the message; see TranscriptEntry.seq. */
  readonly seq: number
  /** Its time, as in its TranscriptEntry. */
  readonly at?: number
  /** The part number of a cut text, from 0; absent: it is whole. */
  readonly part?: number
  /** The turn that it answers, if any. */
  readonly turn?: string
  /** Why it is sent: a notice of Switchboard itself is not the agent's message. */
  readonly cause?: SendCause
  /**
   * The message that showed its beginning. It is changed to show `op`, and nothing new is posted. Repeating that does
   * no harm. Throws `not_found` when that message is gone or cannot be changed any more; it is then sent anew, without
   * this.
   */
  readonly shown?: readonly string[]
  /** With `reconcile`: when it was attempted. */
  readonly tried?: Tried
}

export type ReadBack =
  | { readonly outcome: 'sent'; readonly receipt: Receipt }
  /** `absent`: it did not arrive. `unknown`: the platform cannot tell. */
  | { readonly outcome: 'absent' | 'unknown' }
  /** Until then a repeat shows no second copy, so it can simply be sent again. */
  | { readonly outcome: 'harmless'; readonly until: number }

/** Checked before a send is committed as `sending`. A send that must wait stays `queued`. */
export interface Pace {
  /**
   * Returns 0 when it may go now, and takes its place. Otherwise returns the delay, and takes nothing. `side`: low
   * priority; it goes only where it takes no other message's place.
   */
  take(conversation: string, side: boolean): number
  /** Returns a place, because nothing was sent. */
  giveBack(conversation: string): void
}

/** The result of a trial. */
export interface PlatformTrial {
  /** The risks found; `key` is a key of the integration. */
  readonly found: readonly SecurityFinding[]
  /** Further remarks, one sentence each. */
  readonly told: readonly string[]
}
