// What an agent's tools can do, whoever carries the call: MCP at /mcp, an attached shim, an in-process loop.
// The caller comes from the credential or the delivery, never from arguments.

import type { Template } from '../message/message.ts'
import type { NewFile } from '../platform/platform.ts'

export interface ToolCaller {
  readonly agent: string
  /** The session that the credential is good for; null: all of the agent's own. */
  readonly session: string | null
  readonly user: string | null
  /** The turn in work, when the carrier knows it. */
  readonly turn: string | null
  /** Carries over retries of one call: the same key again is the same send. */
  readonly idempotencyKey: string | null
  /** The caller is on this machine: paths mean the same to both. */
  readonly local?: boolean
  /** Where a caller of this machine works; absent: it did not say. */
  readonly folder?: string
  /** It has no session's token, and turns of several places may be open there. Absent: `turn` and `session` say it all. */
  readonly host?: OpenAtHost
}

/** What is being worked on where a call came from. */
export interface OpenAtHost {
  /** Turns that were handed or seen there, and not acknowledged. */
  readonly open: readonly string[]
  /** Some turn was ever handed to it. */
  readonly used: boolean
}

export interface ToolOutcome {
  /** At most what the tool's `maxResultChars` says. */
  readonly text: string
  readonly isError: boolean
  readonly structured: Readonly<Record<string, unknown>>
  /** Said behind the text, in a block of its own. */
  readonly note?: string
  /** Files that go along as bytes, for a caller that paths of this machine mean nothing to. */
  readonly files?: readonly NewFile[]
}

export interface CallToJudge {
  readonly tool: string
  /** One of Switchboard's own tools. */
  readonly own: boolean
  readonly input?: Readonly<Record<string, unknown>>
}

/**
 * `chatId` is an address; for a caller whose credential is good for one session also that session's id, which means its own
 * conversation. `messageId` and `replyTo` are the platform's; the id of a turn stands for the message that it came from.
 */
/** What trust judges where a reply attaches a file of this machine. */
export const FILE_IN_REPLY = 'a file in a reply'

/** What of ours only reads: tools, as they say of themselves (a test compares it), and files read for an ACP agent. */
export const OWN_READS: readonly string[] = [
  ...['fetch_messages', 'get_roster', 'download_attachment', 'pending_messages'],
  ...['channel_list', 'channel_status'],
  ...['service_tools', 'fs/read_text_file', FILE_IN_REPLY],
]

export interface ToolDesk {
  /** Posts to any allowed target. Errors and texts are the seed's, to the letter. */
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
  /** Tells the user who owns the token. */
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
  /** Answers in the conversation that `chat_id` names, if that is the turn's own, or else allowed. */
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
    /** All of a message, or the one that `fileId` names. */
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
  /** Evidence that a message was seen. */
  ack(caller: ToolCaller, input: { readonly messageId: string }): Promise<ToolOutcome>
  pendingMessages(caller: ToolCaller): Promise<ToolOutcome>
  /** The channel servers that are registered for the caller's binding. */
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
  /** The tools that the service behind a conversation lent with its newest delivery. */
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
   * Why a call would be refused whoever allowed it: the allow list, or the trust of the place that it is made for. Null: it
   * would not. Asked before a person is, and for tools that are not ours.
   */
  refusalOf?(caller: ToolCaller, call: CallToJudge): Promise<string | null>
}
