// Messages and events: plain data without functions, secrets or vendor types.
import type { ReasonCode } from './reasons.ts'

export interface Sender {
  /** The platform's stable id, which gates check. Never a display name. */
  readonly id: string
  readonly name?: string
  readonly isBot?: boolean
  /**
   * No person, but the integration itself. The sender's limit of the tunables does not apply; that of a binding does.
   */
  readonly isSource?: true
  /** It speaks for many people, so the sender's limit counts each conversation separately. */
  readonly limitedByConversation?: true
}

export interface Attachment {
  readonly id: string
  readonly kind: 'image' | 'audio' | 'video' | 'file'
  readonly name?: string
  readonly mime?: string
  readonly size?: number
  /** Opaque to all but the adapter that made it. Fetched only after the gate. */
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
  /** Absent: a fresh id is made, and the message is never a duplicate. */
  readonly messageId?: string
  /**
   * 0 for a first version; each edit counts up (or is the platform's edit time). With conversation and id it is the
   * duplicate key. Where ids are unique in a thread only, or missing, it must distinguish messages. An edit without a
   * version is identified by its text.
   */
  readonly editVersion?: number
  /**
   * An edit whose text arrived already with its message, because a history shows only the present text. Its key is
   * stored, so the live link adds nothing and no agent gets it. Only the core creates it.
   */
  readonly included?: true
  readonly text: string
  /** Set by the adapter; undefined where the platform has no mentions. */
  readonly mentioned?: boolean
  readonly replyTo?: Quoted
  readonly attachments?: readonly Attachment[]
  /** Further facts for the model: string to string. */
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
 * A message was deleted. A turn of it that is still queued ends as `consumed: withdrawn` and loses its body; one that
 * was handed over continues. It applies only to messages of `sender`. An empty id: the platform does not tell who
 * deleted it, and it applies to any sender. Deletions are not found in a history.
 */
export interface InboundDelete extends InboundBase {
  readonly kind: 'delete'
  /** The deleted message. */
  readonly messageId: string
}

/** Bytes that passed verification but did not parse. Recorded as `refused: unparsable`. */
export interface InboundUnparsable extends InboundBase {
  readonly kind: 'unparsable'
  readonly messageId?: string
  readonly problem: string
}

/** An event that the configuration filters out (a ping, an unwanted event): counted, not stored. */
export interface InboundFiltered extends InboundBase {
  readonly kind: 'filtered'
  readonly messageId?: string
}

/**
 * The adapter's own gate (the five of a channel server, its token bucket) refused it. Recorded as refused, never
 * handed over.
 */
export interface InboundBarred extends InboundBase {
  readonly kind: 'barred'
  readonly messageId?: string
  readonly reason: ReasonCode
  /** The configuration key that would admit it. */
  readonly key: string
}

/** A verdict that a channel server pushed. It counts only on platform `mcp`, and only if that server was asked. */
export interface InboundVerdict extends InboundBase {
  readonly kind: 'verdict'
  readonly messageId?: string
  readonly approval: string
  readonly behavior: 'allow' | 'deny'
}

/**
 * The platform's later report about a message of ours: it was sent, bounced, arrived or was read. The adapter
 * recognises our message by the outbox id. The report reaches no agent as a turn. Reports may arrive late, twice and
 * out of order. Any report but `failed` also settles a send whose answer was lost.
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
   * The claimed recipients, where reports can be forged. The report counts only if the message was sent to one of
   * these conversations. Absent: the platform vouches for it.
   */
  readonly sentTo?: readonly string[]
}

/** How far a message came, by the platform's later reports. It only moves forward. */
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

/** The meta key under which an integration stores the tool servers of a delivery. Internal, and shown to no agent. */
export const MCP_SERVERS_REF = 'mcp_servers_ref'

export type Urgency = 'low' | 'normal' | 'high'

export interface Choice {
  readonly label: string
  /** Returns as the value of a tap. */
  readonly value: string
}

export type OutboundOp =
  | {
      readonly kind: 'text'
      readonly text: string
      /** Not Markdown: shown literally. */
      readonly plain?: true
      readonly replyTo?: string
      readonly urgency?: Urgency
      readonly choices?: readonly Choice[]
      /** Through a channel server: its outbound tool as configured when the text was accepted. */
      readonly tool?: string
      /** Reports a failed turn. A program in front gets this instead of the text. */
      readonly failure?: { readonly message: string; readonly code?: string }
      /** Too long for a message: shown as a file of this name, with this caption (`abilities.textAsFile`). */
      readonly asFile?: { readonly name: string; readonly caption: string }
      /** The beginning of an answer that is still being written. The same row ends with the whole text. */
      readonly partial?: true
      /** Not worth a second copy: not sent again once an attempt may have arrived, and never after a day. */
      readonly once?: true
      /**
       * A message template approved by the platform (`abilities.templates`). The template is sent; `text` is for
       * readers here.
       */
      readonly template?: Template
    }
  | {
      readonly kind: 'prompt'
      readonly approval: string
      readonly text: string
      readonly choices: readonly Choice[]
      /** The question in parts, for platforms that draw a card. Others show `text`, which is complete. */
      readonly ask?: { readonly toolName: string; readonly description: string; readonly input: string }
      /** When it is denied without a decision. */
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
  /** A tool of a channel server, called for an agent. The name stays as it was when the send was ordered. */
  | {
      readonly kind: 'call'
      readonly tool: string
      readonly input: Readonly<Record<string, unknown>>
      /** The text for readers of the outbox. */
      readonly text: string
      /**
       * Destinations that only the allowlist opens (`<server>:<id>`). They are checked again at the moment of sending.
       */
      readonly allowed?: readonly { readonly platform: string; readonly target: string }[]
    }

/** A message template of the platform, by its name there. */
export interface Template {
  readonly name: string
  readonly language: string
  /** Values for the template's placeholders, in order. */
  readonly parameters: readonly string[]
}

/** Returns the text of an op for people. */
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

/** The platform's confirmation. Only this makes a send `sent`. */
export interface Receipt {
  readonly platformIds: readonly string[]
  /** The chat of the message, when the target had another name (a person's id that leads to their direct chat). */
  readonly conversation?: string
}

/** Lossy, never queued: typing, a status line, a partial text. */
export type Signal =
  | { readonly kind: 'typing'; readonly on: boolean }
  /** What the agent is doing on this turn. `call`: a tool call, which has its own signal too. */
  | { readonly kind: 'status'; readonly turn: string; readonly text: string; readonly call?: true }
  /** The answer to a message so far, whole each time. The answer itself comes as a message. */
  | { readonly kind: 'partial'; readonly turn: string; readonly messageId: string; readonly text: string }
  | {
      readonly kind: 'turn_state'
      readonly turn: string
      readonly messageId: string
      readonly state: string
      readonly reason?: string
    }
  /** A tool that the agent ran by itself, for watchers: arguments or result as display text. */
  | {
      readonly kind: 'tool'
      readonly messageId: string
      readonly event: 'tool_call' | 'tool_result'
      readonly call: string | null
      readonly name: string | null
      readonly text: string
    }
