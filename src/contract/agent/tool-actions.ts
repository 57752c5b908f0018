// What an agent's tools can do, for every carrier of the call: MCP at /mcp, an attached shim, an in-process loop. The
// caller comes from the credential or the delivery, never from arguments.

import type { Template } from '../message/message.ts'
import type { NewFile } from '../platform/platform.ts'

export interface ToolCaller {
  readonly agent: string
  /** The session of the credential; null: all of the agent's sessions. */
  readonly session: string | null
  readonly user: string | null
  /** The current turn, if the carrier knows it. */
  readonly turn: string | null
  /** Stays the same over retries of one call: the same key again is the same send. */
  readonly idempotencyKey: string | null
  /** The caller is on this machine, so paths mean the same to both. */
  readonly local?: boolean
  /** The working folder of a local caller. Absent: unknown. */
  readonly folder?: string
  /**
   * The caller has no session token, and turns of several places may be open there. Absent: `turn` and `session` are
   * complete.
   */
  readonly host?: OpenAtHost
}

/** The open work at the origin of a call. */
export interface OpenAtHost {
  /** Turns that were handed over or seen there, and not acknowledged. */
  readonly open: readonly string[]
  /** At least one turn was ever handed to it. */
  readonly used: boolean
}

export interface ToolOutcome {
  /** At most the tool's `maxResultChars`. */
  readonly text: string
  readonly isError: boolean
  readonly structured: Readonly<Record<string, unknown>>
  /** Follows the text in a separate block. */
  readonly note?: string
  /** Files as bytes, for a caller to whom paths of this machine mean nothing. */
  readonly files?: readonly NewFile[]
}

export interface CallToJudge {
  readonly tool: string
  /** One of Switchboard's own tools. */
  readonly own: boolean
  readonly input?: Readonly<Record<string, unknown>>
}

/** The name under which trust judges a local file in a reply. */
export const FILE_IN_REPLY = 'a file in a reply'

/** Our reading tools, by their own declaration (a test compares it), and file reads for an ACP agent. */
export const OWN_READS: readonly string[] = [
  ...['fetch_messages', 'get_roster', 'download_attachment', 'pending_messages'],
  ...['channel_list', 'channel_status'],
  ...['service_tools', 'fs/read_text_file', FILE_IN_REPLY],
]

/**
 * `chatId` is an address. For a session credential it may also be the session's id, which means its own conversation.
 * `messageId` and `replyTo` are the platform's; a turn's id stands for its message.
 */
export interface ToolActions {
  /** Posts to any allowed target. Errors and texts match the original exactly. */
  sendMessage(
    caller: ToolCaller,
    input: {
      readonly platform: string
      readonly target: string
      readonly body: string
      readonly thread?: string
      readonly integration?: string
      readonly template?: Template
    },
  ): Promise<ToolOutcome>
  /** Notifies the user who owns the token. */
  notifyUser(
    caller: ToolCaller,
    input: {
      readonly message: string
      readonly channel?: string
      readonly urgency?: 'low' | 'normal' | 'high'
      readonly claimThread?: boolean
      readonly claimThreadLabel?: string
    },
  ): Promise<ToolOutcome>
  /** Answers in the conversation that `chat_id` names, if it is the turn's own or an allowed one. */
  reply(
    caller: ToolCaller,
    input: {
      readonly chatId: string
      readonly text: string
      readonly plain?: true
      readonly replyTo?: string
      readonly files?: readonly string[]
    },
  ): Promise<ToolOutcome>
  react(
    caller: ToolCaller,
    input: { readonly chatId: string; readonly messageId: string; readonly emoji: string },
  ): Promise<ToolOutcome>
  editMessage(
    caller: ToolCaller,
    input: {
      readonly chatId: string
      readonly messageId: string
      readonly text: string
      readonly plain?: true
    },
  ): Promise<ToolOutcome>
  downloadAttachment(
    caller: ToolCaller,
    /** All attachments of a message, or the one that `fileId` names. */
    input: { readonly chatId: string; readonly messageId: string } | { readonly fileId: string },
  ): Promise<ToolOutcome>
  fetchMessages(
    caller: ToolCaller,
    input: { readonly chatId: string; readonly limit: number },
  ): Promise<ToolOutcome>
  getRoster(caller: ToolCaller, input: { readonly chatId: string }): Promise<ToolOutcome>
  /** Asks for a person to take the conversation over. */
  handoff(
    caller: ToolCaller,
    input: { readonly chatId: string; readonly reason: string; readonly summary?: string },
  ): Promise<ToolOutcome>
  /** Records evidence that a message was seen. */
  ack(caller: ToolCaller, input: { readonly messageId: string }): Promise<ToolOutcome>
  pendingMessages(caller: ToolCaller): Promise<ToolOutcome>
  /** Lists the channel servers registered for the caller's binding. */
  channelList(caller: ToolCaller): Promise<ToolOutcome>
  /** Calls the outbound tool of a channel server. */
  channelSend(
    caller: ToolCaller,
    input: {
      readonly server: string
      readonly content?: string
      readonly arguments?: Readonly<Record<string, unknown>>
    },
  ): Promise<ToolOutcome>
  channelStatus(caller: ToolCaller, input: { readonly server?: string }): Promise<ToolOutcome>
  /** Lists the tools that the service behind a conversation lent with its newest delivery. */
  serviceTools(caller: ToolCaller, input: { readonly chatId: string }): Promise<ToolOutcome>
  callServiceTool(
    caller: ToolCaller,
    input: {
      readonly chatId: string
      readonly name: string
      readonly arguments?: Readonly<Record<string, unknown>>
    },
  ): Promise<ToolOutcome>
  /**
   * Returns why a call would be refused in any case: by the allow list, or by the trust of its place. Null: it would
   * not be. It is checked before a person is asked, and for tools that are not ours.
   */
  refusalOf?(caller: ToolCaller, call: CallToJudge): Promise<string | null>
}
