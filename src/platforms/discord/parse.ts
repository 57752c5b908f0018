// Turns Discord's events into events. The key of a message is its place and id, so the gateway, a replay and the
// history give the same key. Service messages (joins, pins) are left out. What cannot be read becomes an event, so that
// it is recorded.
import { defined, type InboundEvent, type InboundMessage, type Sender } from '../../contract/index.ts'
import type { Place } from './api/channel-cache.ts'
import type { Self } from './api/self.ts'
import { isSnowflake, snowflakeMs } from './api/snowflakes.ts'
import { attachmentsOf, besideText, type Carrying } from './attachments.ts'
import { clean, readText, safeName, type TextReader } from './inbound-text.ts'

/** A message of the gateway or of a history. */
export interface DiscordMessage extends Carrying {
  readonly id?: unknown
  readonly channel_id?: unknown
  readonly guild_id?: unknown
  readonly channel_type?: unknown
  readonly type?: unknown
  readonly content?: unknown
  readonly author?: unknown
  readonly member?: unknown
  readonly webhook_id?: unknown
  readonly timestamp?: unknown
  readonly edited_timestamp?: unknown
  readonly mentions?: unknown
  readonly mention_roles?: unknown
  readonly message_reference?: unknown
  readonly referenced_message?: unknown
  readonly components?: unknown
  readonly flags?: unknown
  readonly nonce?: unknown
  readonly thread?: unknown
}

export interface ParseContext {
  readonly self: Self
  readonly place: Place
  readonly now: number
  /** The bot's roles there. */
  readonly myRoles: ReadonlySet<string>
  readonly roleName: (id: string) => string | undefined
  readonly channelName: (id: string) => string | undefined
  /** Answers go into a thread that begins at the message. */
  readonly opensThreads: boolean
}

/** Types of people's messages. Others are Discord's own (joins, pins, boosts) or answers to commands. */
const SPOKEN: ReadonlySet<unknown> = new Set([undefined, 0, 19])
const MOST_QUOTED = 2_000
const FORWARD = 1

/** Null for our own and Discord's messages. Throws when it cannot be read. */
export function spoken(
  message: DiscordMessage,
  context: ParseContext,
  as: { readonly edit?: number } = {},
): InboundMessage | null {
  const { self, place } = context
  if (!isSnowflake(message.id)) throw new Error('a message without id')
  if (!SPOKEN.has(message.type)) return null
  const author = (message.author ?? {}) as Readonly<Record<string, unknown>>
  if (!isSnowflake(author.id)) throw new Error('a message of nobody')
  if (author.id === self.userId) return null
  const written = message.content ?? ''
  if (typeof written !== 'string') throw new Error('a text is not a text')
  const attachments = attachmentsOf(message, `${String(message.channel_id)} ${message.id}`)
  const reader = readerOf(message, context)
  const text = clean(
    [readText(written, reader), ...besideText(message).map((part) => readText(part, reader))]
      .filter((part) => part.trim() !== '')
      .join('\n\n'),
  )
  const files = attachments.map(({ name }) => `(file: ${name ?? 'file'})`).join('\n')
  const opens = context.opensThreads && place.chat === 'group' && place.thread === undefined
  const thread = place.thread ?? (opens ? message.id : undefined)
  return {
    kind: as.edit === undefined ? 'message' : 'edit',
    conversation: place.conversation,
    ...defined({ thread }),
    chat: place.chat,
    sender: senderOf(message),
    at: sentAt(message),
    messageId: message.id,
    ...defined({ editVersion: as.edit }),
    text: text.trim() === '' ? files : text,
    mentioned: place.chat === 'direct' || isMentioned(message, written, context),
    ...quoted(message, reader),
    ...(attachments.length === 0 ? {} : { attachments }),
    meta: metaOf(message),
  }
}

/** 0: it was never edited. */
export function editVersionOf({ edited_timestamp }: DiscordMessage): number {
  const at = typeof edited_timestamp === 'string' ? Date.parse(edited_timestamp) : Number.NaN
  return Number.isNaN(at) ? 0 : at
}

export function sentAt({ id, timestamp }: DiscordMessage): number {
  const at = typeof timestamp === 'string' ? Date.parse(timestamp) : Number.NaN
  return Number.isNaN(at) ? snowflakeMs(String(id)) : at
}

/** Whether it is completely empty, which people cannot send. Then the message content intent is missing. */
export function isBlank(message: DiscordMessage): boolean {
  const empty = (value: unknown) => !Array.isArray(value) || value.length === 0
  return (
    SPOKEN.has(message.type) &&
    (message.content ?? '') === '' &&
    empty(message.attachments) &&
    empty(message.embeds) &&
    empty(message.components) &&
    empty(message.sticker_items) &&
    empty(message.message_snapshots) &&
    (message.poll ?? null) === null
  )
}

function isMentioned(message: DiscordMessage, written: string, { self, myRoles }: ParseContext): boolean {
  if (written.includes(`<@${self.userId}>`) || written.includes(`<@!${self.userId}>`)) return true
  if (listOf(message.mentions).some(({ id }) => id === self.userId)) return true
  if (Array.isArray(message.mention_roles) && message.mention_roles.some((role) => myRoles.has(role)))
    return true
  const { author } = (message.referenced_message ?? {}) as DiscordMessage
  return isReply(message) && (author as { readonly id?: unknown } | undefined)?.id === self.userId
}

function isReply({ message_reference }: DiscordMessage): boolean {
  const { type, message_id } = (message_reference ?? {}) as Readonly<Record<string, unknown>>
  return isSnowflake(message_id) && type !== FORWARD
}

function quoted(message: DiscordMessage, reader: TextReader): Pick<InboundMessage, 'replyTo'> {
  if (!isReply(message)) return {}
  const { message_id } = message.message_reference as { readonly message_id: string }
  const before = (message.referenced_message ?? {}) as DiscordMessage
  const { id: sender } = (before.author ?? {}) as { readonly id?: unknown }
  const text =
    typeof before.content === 'string' ? clean(readText(before.content, reader)).slice(0, MOST_QUOTED) : ''
  return {
    replyTo: {
      messageId: message_id,
      ...(text === '' ? {} : { text }),
      ...(isSnowflake(sender) ? { sender } : {}),
    },
  }
}

function senderOf(message: DiscordMessage): Sender {
  const author = message.author as Readonly<Record<string, unknown>>
  const webhook = isSnowflake(message.webhook_id)
  const { nick } = (message.member ?? {}) as { readonly nick?: unknown }
  const name = safeName(nick) ?? nameOf(author)
  return {
    id: String(author.id),
    ...defined({ name }),
    ...(author.bot === true || webhook ? { isBot: true } : {}),
  }
}

export function nameOf(user: Readonly<Record<string, unknown>>): string | undefined {
  return safeName(user.global_name) ?? safeName(user.username)
}

function readerOf(message: DiscordMessage, context: ParseContext): TextReader {
  const names = new Map(
    listOf(message.mentions)
      .slice(0, 100)
      .map((user) => {
        const { nick } = (user.member ?? {}) as { readonly nick?: unknown }
        return [String(user.id), safeName(nick) ?? nameOf(user)] as const
      }),
  )
  return {
    selfId: context.self.userId,
    selfName: context.self.name,
    userName: (id) => names.get(id),
    channelName: (id) => safeName(context.channelName(id)),
    roleName: (id) => safeName(context.roleName(id)),
  }
}

function metaOf(message: DiscordMessage): Record<string, string> {
  const meta: Record<string, string> = {}
  if (isSnowflake(message.guild_id)) meta.guild = message.guild_id
  if ((Number(message.flags) & (1 << 13)) !== 0) meta.voice_message = 'true'
  return meta
}

function listOf(value: unknown): readonly Readonly<Record<string, unknown>>[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === 'object' && one !== null) : []
}

export function unparsable(data: unknown, now: number, thrown: unknown): InboundEvent {
  const { id, message_id } = (typeof data === 'object' && data !== null ? data : {}) as Record<
    string,
    unknown
  >
  const known = [id, message_id].find(isSnowflake)
  return {
    kind: 'unparsable',
    conversation: 'unreadable',
    chat: 'direct',
    sender: { id: 'unknown' },
    at: now,
    ...(known === undefined ? {} : { messageId: `event:${known}` }),
    problem: `what Discord sent could not be read: ${thrown instanceof Error ? thrown.message.slice(0, 200) : 'malformed'}`,
  }
}
