// The contract of a platform adapter: a platform is received from and sent to. It has no store, session, retry,
// deduplication or allowlist, which belong to the core.

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
import type { GateView, SecurityFinding } from '../operator/findings.ts'
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
  /** A person can answer one particular message: its id comes back as `replyTo`. */
  readonly replies?: boolean
  readonly typing: boolean
  /** Draws all parts of a prompt's `ask`, so no request for the rest of its text is needed. */
  readonly showsAsk?: boolean
  /** A long text can be shown whole as a file: a text op with `asFile`. */
  readonly textAsFile?: boolean
  /**
   * Sending the same key twice shows one message. After a crash between send and confirmation, the message is simply
   * sent again.
   */
  readonly idempotentSend: boolean
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
}

/**
 * How an answer is shown while it is written. `signals`: by `signal` of kind `partial`, which leaves no message.
 * `edits`: by a message that is changed. The answer's own outbox row is used: `send` gets a text op with `partial` and
 * shows it. `revise` changes it (at most every `everyMs`, one at a time, lossy). `send` with `shown` makes it the
 * final text. Absent: an answer is shown when it is finished.
 */
export type Streaming = { readonly by: 'signals' } | { readonly by: 'edits'; readonly everyMs: number }

export interface Received {
  /** The turn's id; null when the body was not stored (rate-limited drops). */
  readonly id: string | null
  readonly state: TurnState
  readonly reason: ReasonCode | null
  readonly duplicate: boolean
  readonly session: string | null
  /** The immediate answer to the sender, where the platform answers in the same request (a webhook). */
  readonly answer?: string
  readonly retryAfterMs?: number
  /** For a deletion: the number of turns it ended. 0: the message is with an agent already, or unknown. */
  readonly withdrawn?: number
}

/**
 * Receives a platform's events. Resolves after the commit that stores events and cursor. Only then may the adapter
 * confirm receipt.
 */
export interface PlatformIntake {
  /**
   * With several nodes, a cursor is stored only while the integration's lease is held; otherwise throws `conflict`.
   * `waited`: these messages existed before the link was made (a mailbox). Those of known senders then draw no limit,
   * because they arrive together, and those older than a minute are late.
   */
  receive(
    events: readonly InboundEvent[],
    options?: { readonly cursor?: string; readonly waited?: boolean },
  ): Promise<readonly Received[]>
  /**
   * The live link was made, or made again. Messages from the time without link are then read from the history. Call it
   * each time, even if the link replaces one that still works. Platforms without `history` need not call it.
   */
  connected?(): void
}

/** One stored message of a conversation: what a page shows after a reload, and where a stream resumes. */
export interface TranscriptEntry {
  /**
   * Position in this integration's transcript; grows, never reused. Outbound and inbound have separate positions. A
   * failed send that is tried again moves to a new position, so a reader that passed the old one gets it again.
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
  /** The message that it answers, by the platform's id; for inbound messages. */
  readonly replyTo?: string
  /** For an outbound message: how far it came, by the platform's later report. */
  readonly receipt?: SendReceipt
  /** For an inbound message: the adapter's further facts. */
  readonly meta?: Readonly<Record<string, string>>
}

/**
 * Returns entries oldest first. `afterSeq`: the oldest `limit` after it; otherwise the newest `limit` (before
 * `beforeSeq`). Without `beforeSeq`, rows are held back while an earlier one may still appear, so paging by `afterSeq`
 * never skips a row. With it, all present rows are returned.
 */
export interface TranscriptQuery {
  readonly conversation?: string
  readonly direction?: 'in' | 'out'
  /** Only messages of this sender: with `direction: 'in'`. */
  readonly sender?: string
  /** Only messages still to be sent (`queued`, `sending`). */
  readonly onItsWay?: true
  readonly afterSeq?: number
  readonly beforeSeq?: number
  readonly limit: number
}

/** The token table for a platform with its own credential (web). Only hashes are stored. */
export interface TokenList {
  mint(order: {
    readonly kind: string
    readonly scope: Readonly<Record<string, string>>
    readonly ttlMs: number | null
    /** The token's prefix; absent: the kind. */
    readonly prefix?: string
  }): Promise<{ readonly token: string; readonly id: string; readonly expiresAt: number | null }>
  /** Returns the live row behind a token; null when unknown, expired or revoked. */
  find(token: string): Promise<{
    readonly id: string
    readonly kind: string
    readonly scope: Readonly<Record<string, string>>
  } | null>
  /** Uses a one-time token: returns the row to exactly one caller, and null to every other. */
  consume(token: string): Promise<{
    readonly id: string
    readonly kind: string
    readonly scope: Readonly<Record<string, string>>
  } | null>
}

/**
 * Credentials from others (callback URLs, headers of tool servers): encrypted, durable, deleted when done. Names are
 * the integration's own.
 */
export interface IntegrationCredentials {
  /** Resolves after the commit. */
  put(name: string, value: string): Promise<void>
  get(name: string): Promise<string | null>
  remove(names: readonly string[]): Promise<void>
  names(): Promise<readonly string[]>
  /**
   * Returns the name for use in a turn, for a connector that has `deps.credentials`: `secret:…`. Safe to show to a
   * model.
   */
  reference(name: string): string
}

export interface PlatformDeps {
  /**
   * The settings when the adapter was made. `access`, `scope` and `default` always return the present values, so a
   * change of them does not restart the adapter. Neither does a change of `ackReaction`, `textChunkLimit` and
   * `source`, which belong to the core.
   */
  readonly integration: IntegrationSettings
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
  /** Reads messages of this integration's conversations, oldest first. */
  readonly transcript: (query: TranscriptQuery) => Promise<readonly TranscriptEntry[]>
  /** Returns the positions of all queued and sending messages, in no order. Absent where a test needs none. */
  readonly onItsWay?: () => Promise<readonly number[]>
  /** Reads a secret reference of this integration (`env:`, `file:`, `secret:`). Throws `config_invalid` if absent. */
  readonly secret: (reference: string) => string
  readonly tokens: TokenList
  /** The folder where this integration may keep downloaded attachments. */
  readonly filesDir: string
  /** The public address of this server, if any. A platform's webhook URL is made from it. */
  readonly publicUrl?: string | null
  /** Absent where a test needs none. */
  readonly credentials?: IntegrationCredentials
  /** The integration in the present configuration, for checks per message. */
  readonly current?: () => IntegrationSettings | null
  /**
   * Whether a sender may write in a direct chat now. Checked before anything is opened for one. Absent: any sender
   * may.
   */
  readonly mayTalk?: (sender: string) => boolean
  /**
   * For work that only one node at a time may do for this integration (a poller, a socket). Absent: there is one node.
   */
  readonly lease?: LinkLease
  /** Counts attempts to read external input. Absent: in memory only. */
  readonly tries?: InputTries
  /**
   * HMAC-SHA256 in hex, with a key of this integration that survives restarts and is the same on every node. Absent
   * where a test needs none.
   */
  readonly sign?: (text: string) => string
  /** Where all nodes find the files of this integration. Absent: there is one node, and its folder suffices. */
  readonly mirror?: FileMirror
}

/**
 * Durably counts attempts to read an external input, before it is read. `begin` returns the number since the last
 * `end`, including this one. Both throw `store_unavailable` while the store is unavailable.
 */
export interface InputTries {
  begin(input: string): Promise<number>
  end(input: string): Promise<void>
}

/**
 * Copies of files whose names the integration assigned, each once. Both throw `store_unavailable` while the store is
 * unavailable.
 */
export interface FileMirror {
  /** Resolves when every node can get it. */
  put(name: string, bytes: Uint8Array): Promise<void>
  get(name: string): Promise<Uint8Array | null>
  /** Returns when it was put there; null when there is none. A copy is as old as that. */
  since?(name: string): Promise<number | null>
  /** Deletes it for good. */
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

export interface PlatformAdapter {
  readonly abilities: Abilities
  /** The outlet cuts longer texts on their Markdown tree, so that each part is well-formed. */
  readonly textLimit: TextLimit
  /** How Markdown is shown here: in a form of the platform's own, or `written`: as it is. */
  readonly markdown: MarkdownRenderer | 'written'
  readonly sendFrom: 'any' | 'link-holder'
  /** The target of a notification that names no chat, on a platform that has none. */
  readonly notifyPlace?: string
  /** When a message may go, where the platform limits that. `send` itself never waits. */
  readonly pace?: Pace
  /** An HTTP status tells senders at once that a message was refused, so no further message is sent. */
  readonly answersRefusals?: true
  /** HTTP surface under /hooks/ID (or /chat for web). */
  readonly endpoint?: Endpoint
  /** HTTP surface under /inbox/SECRET: the secret was looked up and names this integration. */
  readonly inbox?: Endpoint
  /** Starts to receive. `cursor` is the value last stored with `intake.receive`. */
  start(intake: PlatformIntake, cursor: string | null): Promise<void>
  /**
   * Resolves only when the platform confirmed; otherwise throws. Throws `outcome_unknown` when it may have arrived.
   */
  send(request: SendRequest): Promise<Receipt>
  /**
   * Returns whether the send with this key arrived. Called after a crash, and when the answer to an attempt was lost.
   * Throws when the platform does not answer now, and is called again. Any other refusal (a 4xx) means that it cannot
   * be asked.
   */
  reconcile?(request: SendRequest): Promise<ReadBack>
  /** Stores a file to be sent and returns its name for an op of kind `file`. Absent: no files can be sent. */
  keep?(file: NewFile): Promise<string>
  /** Fetches an attachment of a message that passed the gate. Throws `too_large` above the limit. */
  download?(attachment: Attachment): Promise<DownloadedFile>
  /**
   * Removes a person's files, whether or not these attachments name them, from here and from the mirror. Returns how
   * many.
   */
  forget?(of: { readonly sender: string; readonly attachments: readonly Attachment[] }): Promise<number>
  /**
   * Shows what the agent is doing on a turn, apart from its messages: a new line, or (`line`) a change of the present
   * one. Returns its id. It must be silent and fast, and is tried once. The core asks `pace` first, and gives it up
   * for anything else. Absent: nothing is shown, or `signal` is enough.
   */
  showStatus?(to: Address, text: string, line: string | null): Promise<string>
  /** Removes the line; a missing one is no failure. With `showStatus`. */
  removeStatus?(to: Address, line: string): Promise<void>
  /** Lossy by contract. */
  signal?(to: Address, signal: Signal): void
  /** How answers are shown while they are written. */
  readonly streaming?: Streaming
  /**
   * Shows more of an answer in progress (`streaming.by: 'edits'`): `shown` is the message, and `op.text` the text so
   * far, cut to `textLimit`. Low priority: failed or excess updates are dropped, because the next or final text
   * follows.
   */
  revise?(request: SendRequest & { readonly shown: readonly string[] }): Promise<void>
  /** The platform keeps a history that can be compared with the inbox. Absent: it "cannot be checked". */
  readonly history?: HistoryReader
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
  /** The configuration changed, and `deps.current()` returns it. Absent: a change restarts the adapter. */
  configChanged?(): void
  /** Approvals of its agent are asked here too, as structured requests to RELAY_PLACE. Absent: never. */
  relaysApprovals?(): boolean
  /** The channel server behind it, for the agent's tools. Absent: none. */
  readonly channel?: ChannelView
  /**
   * Whether its own gates, as far as configuration decides, still admit its earlier messages. Absent: it has no gates.
   */
  admitsNow?(): boolean
  /** Its own gates, for doctor. */
  gates?(): readonly GateView[]
  /**
   * Its conversations are people who sign in here, and these always exist. An address that is none of them, no user
   * and no earlier writer is refused before anything is queued. Absent: the platform knows whom an address reaches.
   */
  readonly residents?: readonly string[]
  /**
   * A message was sent or received in this conversation at another node, so its watchers here need an update. If
   * implemented, signals are forwarded from other nodes.
   */
  heard?(conversation: string): void
  /** Whether a person watches (an open window, a stream) through this node. */
  listening?(): boolean
  /**
   * Returns a request for a test through the real endpoint. Absent: none can be made. Throws `input_invalid` with the
   * possible requests, or why only the sender itself can make one.
   */
  sample?(order: SampleOrder): Promise<SampleRequest>
  /**
   * Tests on the real service whether a forged sender would be believed. Called only for an operator. Never throws.
   */
  trial?(): Promise<PlatformTrial>
  /** Returns its name on the platform (`@kate_bot`), once known. */
  who?(): string | null
  /** Returns link health, for status and doctor. */
  link(): {
    /** `waiting`: another node holds it. */
    readonly state: 'up' | 'connecting' | 'down' | 'disabled' | 'waiting'
    readonly detail?: string
    /** Start of the present connection. A missed message after it shows that the link is deaf. */
    readonly since?: number
  }
  stop(): Promise<void>
}
