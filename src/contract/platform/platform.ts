// The contract of a platform adapter: a platform is received from and sent to. It has no store, session, retry,
// dedup or allowlist; those are the river's.

import type { Clock, Random } from '../clock.ts'
import type { Logger } from '../log.ts'
import type { Address } from '../message/address.ts'
import type { HistoryReader } from '../message/history.ts'
import type { MarkdownRenderer } from '../message/markdown.ts'
import type {
  Attachment,
  InboundEvent,
  OutboundOp,
  Receipt,
  SendReceipt,
  Signal,
} from '../message/message.ts'
import type { ReasonCode } from '../message/reasons.ts'
import type { TextLimit } from '../message/text-limit.ts'
import type { GateView } from '../operator/doctor-report.ts'
import type { SecurityFinding } from '../operator/security.ts'
import type { IntegrationSettings } from '../settings.ts'
import type { TurnState } from '../store/states.ts'
import type { SendCause } from '../store/step.ts'
import type { ChannelView } from './channel-servers.ts'
import type { Endpoint, SampleOrder, SampleRequest } from './endpoint.ts'

/** What a platform can do, as data: the core never calls and hopes. */
export interface Abilities {
  readonly threads: boolean
  readonly edits: boolean
  readonly reactions: boolean
  readonly files: boolean
  readonly buttons: boolean
  /** A person can answer one message in particular: its id comes back as `replyTo`. */
  readonly replies?: boolean
  readonly typing: boolean
  /** Draws the parts of a prompt's `ask`, whole: nobody needs to ask for the rest of its text. */
  readonly showsAsk?: boolean
  /** A long text can be shown whole as a file: a text op with `asFile`. */
  readonly textAsFile?: boolean
  /** Sending the same key twice shows one message: a crash between send and confirmation is simply sent again. */
  readonly idempotentSend: boolean
  /** A sender's id names no chat of theirs: they are reached where they spoke lately. */
  readonly senderIdIsNotAChat?: boolean
  /** Nothing can be said back (a one-way webhook): no notices are made for it. */
  readonly oneWay?: boolean
  /** Programs write here, not people: how their turns end is told by `notify_on`. */
  readonly unattended?: boolean
  /** It takes a text op with `template`, also where a free text would not be let through. */
  readonly templates?: boolean
  /** It tells when a message was deleted (`InboundDelete`): one that comes before its message is kept in mind. */
  readonly deletes?: boolean
}

/**
 * How an answer is shown while it is written. `signals`: by `signal` of kind `partial`, which leaves nothing behind.
 * `edits`: by a message that is changed. Its outbox row is the answer's own: `send` is given a text op with `partial` and
 * shows it, `revise` changes it (not more often than `everyMs`, one at a time, lossy), and `send` with `shown` makes it the
 * final text. Absent: an answer is shown when it is finished.
 */
export type Streaming = { readonly by: 'signals' } | { readonly by: 'edits'; readonly everyMs: number }

export interface Received {
  /** The turn's id; null when the body was not kept (rate-limited drops). */
  readonly id: string | null
  readonly state: TurnState
  readonly reason: ReasonCode | null
  readonly duplicate: boolean
  readonly session: string | null
  /** What to tell the sender at once, where the platform answers in the same breath (a webhook). */
  readonly answer?: string
  readonly retryAfterMs?: number
  /** Of a deletion: how many turns ended by it. 0: what was said is with an agent already, or nobody knows it. */
  readonly withdrawn?: number
}

/** The door in. Resolves after the commit that stores events and cursor: only then may "received" be said. */
export interface PlatformIntake {
  /**
   * Where there are several nodes a cursor is stored only while the integration's lease is held: else `conflict`. `waited`: these
   * lay there before the link was made (a mailbox). What known senders wrote then draws no limit, for it comes at once whenever
   * it was written; and what is older than a minute is late.
   */
  receive(
    events: readonly InboundEvent[],
    options?: { readonly cursor?: string; readonly waited?: boolean },
  ): Promise<readonly Received[]>
  /**
   * The live link was made, or made again: what was said while there was none is looked for in the history. Said each
   * time, also by a link that replaces one that still stands. Platforms without `history` need not say it.
   */
  connected?(): void
}

/** One message of a conversation as it was stored: what a page shows after a reload and a stream resumes from. */
export interface TranscriptEntry {
  /**
   * Position in this integration's transcript; grows, never reused. Outbound and inbound have their own. A send that failed
   * and is tried again stands at a new position and no longer at the old one: whoever passed that gets it behind it.
   */
  readonly seq: number
  readonly direction: 'in' | 'out'
  readonly id: string
  readonly conversation: string
  readonly thread?: string
  readonly at: number
  readonly text: string
  readonly state: string
  readonly reason: string | null
  readonly sender?: string
  readonly op?: OutboundOp
  readonly platformMessageId?: string
  readonly attachments?: readonly Attachment[]
  /** The message that it answers, by the platform's id: of what came in. */
  readonly replyTo?: string
  /** Of an outbound one: how far the platform said later that it came. */
  readonly receipt?: SendReceipt
  /** Of an inbound one: the facts that the adapter gave with it. */
  readonly meta?: Readonly<Record<string, string>>
}

/**
 * Answers oldest first. `afterSeq`: the oldest `limit` after it; otherwise the newest `limit` (before `beforeSeq`).
 * Without `beforeSeq` rows are held back as long as one before them may still appear: a position that moves only along
 * such answers passes nothing. With it whatever is there is told.
 */
export interface TranscriptQuery {
  readonly conversation?: string
  readonly direction?: 'in' | 'out'
  /** Only what this one said: with `direction: 'in'`. */
  readonly sender?: string
  /** Only what is still to be sent (`queued`, `sending`). */
  readonly onItsWay?: true
  readonly afterSeq?: number
  readonly beforeSeq?: number
  readonly limit: number
}

/** The one token table, as a platform with its own credential (web) may use it. Only hashes are kept. */
export interface TokenList {
  mint(order: {
    readonly kind: string
    readonly scope: Readonly<Record<string, string>>
    readonly ttlMs: number | null
    /** What the token begins with; absent: the kind. */
    readonly prefix?: string
  }): Promise<{ readonly token: string; readonly id: string; readonly expiresAt: number | null }>
  /** The live row behind a token; null when unknown, expired or revoked. */
  find(token: string): Promise<{
    readonly id: string
    readonly kind: string
    readonly scope: Readonly<Record<string, string>>
  } | null>
  /** Uses a one-time token up: the row for exactly one caller, null for every other. */
  consume(token: string): Promise<{
    readonly id: string
    readonly kind: string
    readonly scope: Readonly<Record<string, string>>
  } | null>
}

/**
 * Credentials that others gave us (callback URLs, headers of tool servers): encrypted, durable, forgotten when done.
 * Names are the integration's own.
 */
export interface IntegrationCredentials {
  /** Resolves after the commit. */
  put(name: string, value: string): Promise<void>
  get(name: string): Promise<string | null>
  remove(names: readonly string[]): Promise<void>
  names(): Promise<readonly string[]>
  /** How a turn names it, for a connector that has `deps.credentials`: `secret:…`. Safe to show to a model. */
  reference(name: string): string
}

export interface PlatformDeps {
  /**
   * As it was when the adapter was made. `access`, `scope` and `default` are those in force when they are read: a change of
   * them starts no adapter anew, nor does one of `ackReaction`, `textChunkLimit` and `source`, which are the core's.
   */
  readonly integration: IntegrationSettings
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
  /** What was said in this integration's conversations, oldest first. */
  readonly transcript: (query: TranscriptQuery) => Promise<readonly TranscriptEntry[]>
  /** Positions of what is queued or being sent, all of them, in no order. Absent where a test needs none. */
  readonly onItsWay?: () => Promise<readonly number[]>
  /** Reads a secret reference of this integration (`env:`, `file:`, `secret:`). Throws `config_invalid` if absent. */
  readonly secret: (reference: string) => string
  readonly tokens: TokenList
  /** The folder where this integration may keep downloaded attachments. */
  readonly filesDir: string
  /** Where the outside world reaches this server, if it does; a platform's webhook URL is made from it. */
  readonly publicUrl?: string | null
  /** Absent where a test needs none. */
  readonly credentials?: IntegrationCredentials
  /** The integration as the configuration in force has it: gates are asked with it, message by message. */
  readonly current?: () => IntegrationSettings | null
  /** Whether a sender may speak in a direct chat now: asked before anything is opened for one. Absent: everybody may. */
  readonly mayTalk?: (sender: string) => boolean
  /** For what only one node at a time may do for this integration (a poller, a socket). Absent: there is one node. */
  readonly lease?: LinkLease
  /** Where tries to read what others wrote are counted. Absent: in memory alone. */
  readonly tries?: InputTries
  /**
   * HMAC-SHA256 in hex, with a key of this integration that outlives restarts and is the same at every node. Absent where a
   * test needs none.
   */
  readonly sign?: (text: string) => string
  /** Where the files of this integration are found by all nodes. Absent: there is one node, and its folder is enough. */
  readonly mirror?: FileMirror
}

/**
 * Counts tries to read an input of others, durably, before it is read. `begin` answers how many there were since the last
 * `end`, this one included. Both throw `store_unavailable` while the store is away.
 */
export interface InputTries {
  begin(input: string): Promise<number>
  end(input: string): Promise<void>
}

/** Copies of files whose names the integration gave out, each once. Both throw `store_unavailable` while it is away. */
export interface FileMirror {
  /** Resolves when every node can get it. */
  put(name: string, bytes: Uint8Array): Promise<void>
  get(name: string): Promise<Uint8Array | null>
  /** When it was put there; null when there is none. A copy is as old as that. */
  since?(name: string): Promise<number | null>
  /** It is gone from there for good. */
  remove?(name: string): Promise<void>
}

export interface LinkLease {
  /** Takes or renews it for `ttlMs`. False: another node holds it. */
  take(ttlMs: number): Promise<boolean>
  release(): Promise<void>
}

/** A file on its way out. */
export interface NewFile {
  readonly name: string
  readonly mime: string
  readonly bytes: Uint8Array
}

/** An attachment as a file of ours, inside the integration's folder. */
export interface DownloadedFile {
  readonly path: string
  readonly name: string
  readonly mime: string
  readonly size: number
}

/** When the tries were made whose outcome is open. */
export interface Tried {
  /** When the first of them began. */
  readonly since: number
  /** When the last of them ended. */
  readonly endedAt: number
}

export interface SendRequest {
  readonly to: Address
  readonly op: OutboundOp
  /** Outbox id: what a resumable stream and a platform's own idempotency key are made of. */
  readonly key: string
  /** Position of the message; see TranscriptEntry.seq. */
  readonly seq: number
  /** When it is said, as its TranscriptEntry has it. */
  readonly at?: number
  /** Which part of a text that was cut, from 0; absent: it is whole. */
  readonly part?: number
  /** The turn that it answers, if any. */
  readonly turn?: string
  /** Why it is sent: a notice of Switchboard's own is not the agent's word. */
  readonly cause?: SendCause
  /**
   * The message that showed the beginning of it: it is made to show `op` and nothing new is posted. Doing so twice does no
   * harm. Throws `not_found` when that message is gone or cannot be changed any more: it is then sent anew, without this.
   */
  readonly shown?: readonly string[]
  /** With `reconcile`: when it was tried. */
  readonly tried?: Tried
}

export type ReadBack =
  | { readonly outcome: 'sent'; readonly receipt: Receipt }
  /** `absent`: it is not there. `unknown`: the platform cannot tell. */
  | { readonly outcome: 'absent' | 'unknown' }
  /** Until then the same send shows nothing twice: it can simply be made again. */
  | { readonly outcome: 'harmless'; readonly until: number }

/** Asked before a send is committed as `sending`: what waits for its place is `queued`. */
export interface Pace {
  /**
   * 0: it may go now, and its place is taken. Else how long to wait, and nothing is taken. `side`: it gives way, and goes
   * only where it takes no other message's place.
   */
  take(conversation: string, side: boolean): number
  /** Nothing was sent after all. */
  giveBack(conversation: string): void
}

/** What a trial showed. */
export interface PlatformTrial {
  /** What stands open by it; `key` is a key of the integration. */
  readonly found: readonly SecurityFinding[]
  /** What else there is to tell, a sentence each. */
  readonly told: readonly string[]
}

export interface PlatformAdapter {
  readonly abilities: Abilities
  /** Longer texts are cut by the outlet, on their Markdown tree, so that each part is whole. */
  readonly textLimit: TextLimit
  /** How Markdown is shown here: in a form of the platform's own, or `written`: whoever reads it gets it as it is. */
  readonly markdown: MarkdownRenderer | 'written'
  readonly sendFrom: 'any' | 'link-holder'
  /** Where a notification goes that names no chat, on a platform that has none. */
  readonly notifyPlace?: string
  /** When a message may go, where the platform limits that. Nothing waits inside `send`. */
  readonly pace?: Pace
  /** Whoever sends hears at once, by an HTTP status, that a message was refused: nobody is told by another one. */
  readonly answersRefusals?: true
  /** HTTP surface under /hooks/ID (or /chat for web). */
  readonly endpoint?: Endpoint
  /** HTTP surface under /inbox/SECRET: the secret was looked up and names this integration. */
  readonly inbox?: Endpoint
  /** Begins to receive. `cursor` is what was last stored with `intake.receive`. */
  start(intake: PlatformIntake, cursor: string | null): Promise<void>
  /** Resolves only when the platform confirmed; otherwise throws. `outcome_unknown` when it may have arrived. */
  send(request: SendRequest): Promise<Receipt>
  /**
   * Did the send with this key arrive? Asked after a crash, and when a try was written out and its answer is lost. Throws
   * when the platform does not answer now: it is asked again. Any other refusal (a 4xx) means that it cannot be asked.
   */
  reconcile?(request: SendRequest): Promise<ReadBack>
  /** Keeps a file that is to be sent; an op of kind `file` names it by what comes back. Absent: none can be sent. */
  keep?(file: NewFile): Promise<string>
  /** Fetches an attachment of a message that passed the gate. Throws `too_large` above the cap. */
  download?(attachment: Attachment): Promise<DownloadedFile>
  /** Removes the files that a person sent, named in these attachments or not, from here and from the mirror. Returns how many. */
  forget?(of: { readonly sender: string; readonly attachments: readonly Attachment[] }): Promise<number>
  /**
   * Shows what the agent is doing on a turn, apart from what it says: a new line, or (`line`) the one that stands changed.
   * Returns what names it. Silent, soon, and tried once: the river asks `pace` before, and gives it up for everything else.
   * Absent: nothing is shown, or `signal` is enough.
   */
  showStatus?(to: Address, text: string, line: string | null): Promise<string>
  /** Takes it away; one that is gone already is no failure. With `showStatus`. */
  removeStatus?(to: Address, line: string): Promise<void>
  /** Lossy by contract. */
  signal?(to: Address, signal: Signal): void
  /** How answers are shown while they are written. */
  readonly streaming?: Streaming
  /**
   * Shows more of an answer that is being written (`streaming.by: 'edits'`): `shown` is there, and `op.text` the text so far,
   * cut to `textLimit`. It gives way: what fails or is too much is left out, for the next or the final text comes anyway.
   */
  revise?(request: SendRequest & { readonly shown: readonly string[] }): Promise<void>
  /** The platform keeps a history that can be compared with the inbox. Absent: it "cannot be checked". */
  readonly history?: HistoryReader
  /**
   * The live link missed something that stands in the history, or `probe` found it deaf: make a new one, before the old one
   * is left where that can be done. Asked for once in ten minutes at most, and never because nobody spoke.
   */
  renew?(cause: string): void
  /**
   * Whether the live link still hears, found out by a round trip of its own (a ping and its answer, a canary); never by
   * whether somebody spoke. Asked now and then while the link is `up`. Throws: it could not be found out.
   */
  probe?(): Promise<'hears' | 'deaf'>
  /** The configuration changed and `deps.current()` has it. Absent: the adapter is started anew for a change. */
  configChanged?(): void
  /** Approvals of its agent are asked here too, as structured requests to RELAY_PLACE. Absent: never. */
  relaysApprovals?(): boolean
  /** The channel server behind it, for the agent's tools. Absent: it is none. */
  readonly channel?: ChannelView
  /** Whether its own gates, as far as configuration decides, still let through what came by it. Absent: it has none. */
  admitsNow?(): boolean
  /** Gates of its own, for doctor. */
  gates?(): readonly GateView[]
  /**
   * Its conversations are people who sign in here, and these are always there. An address that is none of them, no user and
   * nobody who has written is refused before anything is queued. Absent: the platform knows whom an address reaches.
   */
  readonly residents?: readonly string[]
  /**
   * Something happened in this conversation at another node (a message was sent or came in): whoever looks at it here
   * wants to know. Its presence means that signals are for those who look, wherever they do.
   */
  heard?(conversation: string): void
  /** Whether anybody looks (an open window, a stream) through this node. */
  listening?(): boolean
  /**
   * A request for a try through the real door. Absent: none can be made. Throws `input_invalid` with what can be asked
   * for, or why nobody but the sender itself can make one.
   */
  sample?(order: SampleOrder): Promise<SampleRequest>
  /** Tries on the real thing whether a forger would be believed. Asked for by an operator alone. Never throws. */
  trial?(): Promise<PlatformTrial>
  /** Who it is on its platform (`@kate_bot`), once that is known. */
  who?(): string | null
  /** Link health, for status and doctor. */
  link(): {
    /** `waiting`: another node holds it. */
    readonly state: 'up' | 'connecting' | 'down' | 'disabled' | 'waiting'
    readonly detail?: string
    /** When the present connection was made: a message after it that was missed shows that the link is deaf. */
    readonly since?: number
  }
  stop(): Promise<void>
}
