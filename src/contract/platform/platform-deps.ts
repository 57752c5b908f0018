// What a platform adapter is given: its settings, the intake, its conversations, secrets, files and lease.

import type { Clock, Random } from '../clock.ts'
import type { Logger } from '../log.ts'
import type { Attachment, InboundEvent, OutboundOp, SendReceipt } from '../message/message.ts'
import type { ReasonCode } from '../message/reasons.ts'
import type { IntegrationSettings } from '../settings.ts'
import type { TurnState } from '../store/states.ts'

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
