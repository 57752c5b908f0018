// What flows in the river: plain data, no function, no secret, no vendor type.
import type { ReasonCode } from './reasons.ts'

export interface Sender {
  /** The platform's stable id: what gates look at. Never a display name. */
  readonly id: string
  readonly name?: string
  readonly isBot?: boolean
  /**
   * No person is named: it is the integration itself, whose own limit decides. The sender's limit of the tunables does not
   * count; that of a binding does.
   */
  readonly isSource?: true
  /** It speaks for many: the sender's limit counts each conversation by itself. */
  readonly limitedByConversation?: true
}

export interface Attachment {
  readonly id: string
  readonly kind: 'image' | 'audio' | 'video' | 'file'
  readonly name?: string
  readonly mime?: string
  readonly size?: number
  /** Opaque to everyone but the adapter that made it. Fetched only after the gate. */
  readonly ref: string
}

export interface Quoted {
  readonly messageId: string
  readonly text?: string
  readonly sender?: string
}

interface InboundBase {
  readonly conversation: string
  readonly thread?: string
  readonly chat: 'direct' | 'group'
  readonly sender: Sender
  readonly at: number
}

export interface InboundMessage extends InboundBase {
  readonly kind: 'message' | 'edit'
  /** Absent: a fresh id is made, and the message is never taken for a duplicate. */
  readonly messageId?: string
  /**
   * 0 for a first version; each edit counts up (or is the platform's edit time). With conversation and id it is the
   * duplicate key: where ids are unique in a thread only, or not at all, it holds what tells two messages apart.
   * An edit without one is told from the others by its text.
   */
  readonly editVersion?: number
  /**
   * An edit whose text came already, with the message itself, which a history showed only as it stands now: its key is kept, so
   * that the live link brings nothing new by it, and no agent is handed it. Made by the core alone.
   */
  readonly included?: true
  readonly text: string
  /** Resolved by the adapter; undefined where the platform has no such thing. */
  readonly mentioned?: boolean
  readonly replyTo?: Quoted
  readonly attachments?: readonly Attachment[]
  /** Extra facts for the model: string to string. */
  readonly meta?: Readonly<Record<string, string>>
}

export interface InboundTap extends InboundBase {
  readonly kind: 'tap'
  /** Unique per tap on the platform. */
  readonly messageId: string
  /** The message that carries the button. */
  readonly on: string
  readonly value: string
}

export interface InboundReaction extends InboundBase {
  readonly kind: 'reaction'
  readonly messageId: string
  readonly on: string
  readonly emoji: string
}

/**
 * A message was taken back. A turn of it that is still queued ends `consumed: withdrawn` and loses its body; one that was
 * handed over goes on. It counts for messages of `sender` alone; an empty id: the platform does not tell who deleted it,
 * and its word counts for anybody's. Deletions are not found in a history.
 */
export interface InboundDelete extends InboundBase {
  readonly kind: 'delete'
  /** Of the message that is gone. */
  readonly messageId: string
}

/** Bytes that passed verification but did not parse. Recorded as `refused: unparsable`. */
export interface InboundUnparsable extends InboundBase {
  readonly kind: 'unparsable'
  readonly messageId?: string
  readonly problem: string
}

/** The configuration says that it means nothing to an agent (a ping, an event nobody asked for): counted, not kept. */
export interface InboundFiltered extends InboundBase {
  readonly kind: 'filtered'
  readonly messageId?: string
}

/** The adapter's own gate (the five of a channel server, its token bucket) said no: recorded as refused, never handed on. */
export interface InboundBarred extends InboundBase {
  readonly kind: 'barred'
  readonly messageId?: string
  readonly reason: ReasonCode
  /** The key of the configuration that would let it in. */
  readonly key: string
}

/** A verdict that a channel server pushed: it counts on platform `mcp` alone, and only if that server was asked. */
export interface InboundVerdict extends InboundBase {
  readonly kind: 'verdict'
  readonly messageId?: string
  readonly approval: string
  readonly behavior: 'allow' | 'deny'
}

/**
 * The platform's later word on a message of ours: it was taken, bounced, arrived or was read. The adapter knows it for its own
 * by the outbox id; it reaches no agent as a turn. Words may come late, twice and out of order. Any but `failed` also settles a
 * send whose answer was lost.
 */
export interface InboundReport extends InboundBase {
  readonly kind: 'report'
  readonly messageId?: string
  /** The outbox id of the message. */
  readonly send: string
  readonly outcome: 'failed' | SendReceipt
  /** In the platform's own words. */
  readonly detail?: string
  /** The platform's id of the message, for a send whose answer was lost. */
  readonly platformId?: string
  /**
   * Whose message it says that it was, where anybody can write such a word: it counts only if the message was sent to one of
   * these conversations. Absent: the platform vouches for it.
   */
  readonly sentTo?: readonly string[]
}

/** How far a message is known to have come, by the platform's later word. It moves forward only. */
export const SEND_RECEIPTS = ['sent', 'delivered', 'read'] as const
export type SendReceipt = (typeof SEND_RECEIPTS)[number]

export type InboundEvent =
  | InboundMessage
  | InboundTap
  | InboundReaction
  | InboundDelete
  | InboundUnparsable
  | InboundFiltered
  | InboundBarred
  | InboundVerdict
  | InboundReport

/** Meta that names where an integration keeps the tool servers of a delivery. It is for us, and shown to no agent. */
export const MCP_SERVERS_REF = 'mcp_servers_ref'

export type Urgency = 'low' | 'normal' | 'high'

export interface Choice {
  readonly label: string
  /** Comes back as the value of a tap. */
  readonly value: string
}

export type OutboundOp =
  | {
      readonly kind: 'text'
      readonly text: string
      /** It is no Markdown: shown as it is written. */
      readonly plain?: true
      readonly replyTo?: string
      readonly urgency?: Urgency
      readonly choices?: readonly Choice[]
      /** Through a channel server: its outbound tool as it was configured when the text was accepted. */
      readonly tool?: string
      /** It tells of a turn that failed: what a program in front is told instead of these words. */
      readonly failure?: { readonly message: string; readonly code?: string }
      /** It is too long for a message: shown as a file of this name, with these words beside it (`abilities.textAsFile`). */
      readonly asFile?: { readonly name: string; readonly caption: string }
      /** The beginning of an answer that is still being written: the same row ends with the whole text. */
      readonly partial?: true
      /** Not worth a second copy: once a try may have arrived it is not sent again, and after a day not at all. */
      readonly once?: true
      /** Words that the platform has approved beforehand (`abilities.templates`): these are sent, `text` is what people read here. */
      readonly template?: Template
    }
  | {
      readonly kind: 'prompt'
      readonly approval: string
      readonly text: string
      readonly choices: readonly Choice[]
      /** What is asked, in parts: for platforms that draw a card. Others show `text`, which says it all. */
      readonly ask?: { readonly toolName: string; readonly description: string; readonly input: string }
      /** When it is denied if nobody decides. */
      readonly expiresAt?: number
    }
  | { readonly kind: 'edit'; readonly on: string; readonly text: string; readonly plain?: true }
  | { readonly kind: 'react'; readonly on: string; readonly emoji: string }
  | {
      readonly kind: 'file'
      readonly name: string
      readonly mime: string
      readonly ref: string
      readonly caption?: string
    }
  /** A tool of a channel server, called for an agent. The name stays what it was when the send was ordered. */
  | {
      readonly kind: 'call'
      readonly tool: string
      readonly input: Readonly<Record<string, unknown>>
      /** What people read in the outbox: the text that is sent. */
      readonly text: string
      /** Destinations that only the allowlist opens (`<server>:<id>`): asked again at the moment of sending. */
      readonly allowed?: readonly { readonly platform: string; readonly target: string }[]
    }

/** A form of words that the platform keeps, by its name there. */
export interface Template {
  readonly name: string
  readonly language: string
  /** Filled in where the form has a place for them, in order. */
  readonly parameters: readonly string[]
}

/** What a person reads of it, in one string. */
export function opText(op: OutboundOp): string {
  switch (op.kind) {
    case 'text':
    case 'prompt':
    case 'edit':
    case 'call':
      return op.text
    case 'react':
      return op.emoji
    case 'file':
      return op.caption ?? op.name
  }
}

/** The platform's confirmation. `sent` is said only when there is one. */
export interface Receipt {
  readonly platformIds: readonly string[]
  /** The chat where it stands, when the target had another name (a person's id that leads to their direct chat). */
  readonly conversation?: string
}

/** Lossy, never queued: typing, a status line, a partial text. */
export type Signal =
  | { readonly kind: 'typing'; readonly on: boolean }
  /** What the agent is doing on this turn. `call`: a tool call, which a signal of its own tells, too. */
  | { readonly kind: 'status'; readonly turn: string; readonly text: string; readonly call?: true }
  /** The answer to a message as far as it is written, whole each time; the answer itself comes as a message. */
  | { readonly kind: 'partial'; readonly turn: string; readonly messageId: string; readonly text: string }
  | {
      readonly kind: 'turn_state'
      readonly turn: string
      readonly messageId: string
      readonly state: string
      readonly reason?: string
    }
  /** The agent ran a tool by itself, for whoever wants to follow: arguments or result as display text. */
  | {
      readonly kind: 'tool'
      readonly messageId: string
      readonly event: 'tool_call' | 'tool_result'
      readonly call: string | null
      readonly name: string | null
      readonly text: string
    }
