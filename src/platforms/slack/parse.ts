// Turns Slack's events into events. The key of a message is its channel and ts, so `message` and `app_mention` of one
// text, a repeat, and the history give the same key. Service messages (joins, topics) are left out. What cannot be read
// becomes an event, so that it is recorded.
import { defined, type InboundEvent, type InboundMessage, type Sender } from '../../contract/index.ts'
import type { Self } from './api/self.ts'
import { attachmentsOf, type Carrying, sharedTexts } from './attachments.ts'
import { blockText } from './block-text.ts'
import { clean, mentionedIn, type NameOf, readText, safeName } from './inbound-text.ts'
import { isStamp, stampMicros, stampMs } from './stamps.ts'
import { contextText } from './surface.ts'

export interface ParseContext {
  readonly self: Self
  readonly replyToMode: 'off' | 'first' | 'all'
  readonly nameOf: NameOf
  readonly now: number
  /** What the person has open beside the chat, if Slack reports it. */
  readonly contextOf?: (conversation: string, thread: string | undefined) => string | undefined
}

/** A message in an event or in a history. */
export interface SlackMessage extends Carrying {
  readonly type?: unknown
  readonly subtype?: unknown
  readonly ts?: unknown
  readonly thread_ts?: unknown
  readonly user?: unknown
  readonly bot_id?: unknown
  readonly app_id?: unknown
  readonly username?: unknown
  readonly user_profile?: unknown
  readonly bot_profile?: unknown
  readonly text?: unknown
  readonly blocks?: unknown
  readonly edited?: unknown
  readonly user_team?: unknown
  readonly app_context?: unknown
  readonly latest_reply?: unknown
  readonly reply_count?: unknown
  readonly metadata?: unknown
}

interface SlackEvent extends SlackMessage {
  readonly channel?: unknown
  readonly channel_type?: unknown
  readonly event_ts?: unknown
  readonly message?: SlackMessage
  readonly previous_message?: SlackMessage
  readonly deleted_ts?: unknown
  readonly reaction?: unknown
  readonly item?: { readonly type?: unknown; readonly channel?: unknown; readonly ts?: unknown }
}

/** Subtypes of people's messages. All other subtypes are Slack's own. */
const SPOKEN: ReadonlySet<unknown> = new Set([
  undefined,
  'file_share',
  'thread_broadcast',
  'me_message',
  'bot_message',
])
const SYSTEM_USERS: ReadonlySet<unknown> = new Set(['USLACK', 'USLACKBOT'])
const MOST_MENTIONS = 5

/** Null: neither an agent nor a gate needs it. Never throws. */
export function parseEvent(event: unknown, context: ParseContext): InboundEvent | null {
  try {
    return read(event as SlackEvent, context)
  } catch (thrown) {
    return unparsable(event, context.now, thrown)
  }
}

function read(event: SlackEvent, context: ParseContext): InboundEvent | null {
  if (typeof event !== 'object' || event === null) throw new Error('there is no event')
  switch (event.type) {
    case 'message':
      return readMessageEvent(event, context)
    case 'app_mention':
      return spoken(event, channelOf(event), context, { mentioned: true })
    case 'reaction_added':
      return readReaction(event, context)
    case 'agent_session_stopped':
      return readStop(event, context)
    default:
      return null
  }
}

function readMessageEvent(event: SlackEvent, context: ParseContext): InboundEvent | null {
  const conversation = channelOf(event)
  if (event.subtype === 'message_changed') return readChange(event, conversation, context)
  if (event.subtype === 'message_deleted')
    return deletion(event.deleted_ts, event.previous_message, { event, conversation, context })
  return spoken(event, conversation, context)
}

function readChange(event: SlackEvent, conversation: string, context: ParseContext): InboundEvent | null {
  const { message, previous_message: before } = event
  if (typeof message !== 'object' || message === null) throw new Error('message_changed holds no message')
  if (message.subtype === 'tombstone')
    return deletion(message.ts, before ?? message, { event, conversation, context })
  // A preview, a language, or the end of an upload changes no text.
  if (before !== undefined && sameWords(message, before)) return null
  const version = editVersionOf(message) || (isStamp(event.ts) ? stampMicros(event.ts) : 0)
  return spoken(message, conversation, context, { edit: version })
}

function deletion(
  ts: unknown,
  before: SlackMessage | undefined,
  { event, conversation, context }: { event: SlackEvent; conversation: string; context: ParseContext },
): InboundEvent | null {
  if (!isStamp(ts)) throw new Error('a deletion names no message')
  if (isSelf(before ?? {}, context.self)) return null
  const thread = before === undefined ? {} : threadOf({ ...before, ts }, conversation, context)
  return {
    kind: 'delete',
    conversation,
    ...thread,
    chat: chatOf(conversation),
    // Slack lets only the author and admins delete it, and does not say who did.
    sender: { id: typeof before?.user === 'string' ? before.user : '' },
    at: isStamp(event.ts) ? stampMs(event.ts) : context.now,
    messageId: ts,
  }
}

export interface SpokenAs {
  readonly mentioned?: true
  /** The version, for an edit. */
  readonly edit?: number
}

/** A message of the live link or of a history; null for our own and Slack's messages. Throws when it is unreadable. */
export function spoken(
  message: SlackMessage,
  conversation: string,
  context: ParseContext,
  as: SpokenAs = {},
): InboundMessage | null {
  const { self } = context
  if (!SPOKEN.has(message.subtype) || SYSTEM_USERS.has(message.user) || isSelf(message, self)) return null
  if (!isStamp(message.ts)) throw new Error('a message without ts')
  const raw = rawText(message)
  const reader = { selfId: self.userId, selfName: self.name, nameOf: context.nameOf }
  const attachments = attachmentsOf(message)
  const text = clean(readText(raw, reader))
  const chat = chatOf(conversation)
  const { thread } = threadOf(message, conversation, context)
  const inThread = isStamp(message.thread_ts) && message.thread_ts !== message.ts
  const files = attachments.map(({ name }) => `(file: ${name ?? 'file'})`).join('\n')
  const about = contextText(message.app_context) || context.contextOf?.(conversation, thread)
  return {
    kind: as.edit === undefined ? 'message' : 'edit',
    conversation,
    ...defined({ thread }),
    chat,
    sender: senderOf(message, context),
    at: stampMs(message.ts),
    messageId: message.ts,
    ...defined({ editVersion: as.edit }),
    text: text.trim() === '' ? files : text,
    mentioned: chat === 'direct' || as.mentioned === true || names(message, raw, self),
    ...(inThread ? { replyTo: { messageId: String(message.thread_ts) } } : {}),
    ...(attachments.length === 0 ? {} : { attachments }),
    meta: metaOf(message, about),
  }
}

/** Returns the people whose names a message needs. */
export function peopleIn(event: unknown): readonly string[] {
  const { user, text, message } = (event ?? {}) as SlackEvent
  const inner = message ?? { user, text }
  const author = typeof inner.user === 'string' && /^[UW]/.test(inner.user) ? [inner.user] : []
  const others = typeof inner.text === 'string' ? mentionedIn(inner.text, MOST_MENTIONS) : []
  return [...new Set([...author, ...others])]
}

/** Returns the version of a message; 0: it was never edited. */
export function editVersionOf({ edited }: SlackMessage): number {
  const ts = (edited as { readonly ts?: unknown } | undefined)?.ts
  return isStamp(ts) ? stampMicros(ts) : 0
}

function rawText(message: SlackMessage): string {
  const written = message.text ?? ''
  if (typeof written !== 'string') throw new Error('a text is not a text')
  const said = written === '' ? blockText(message.blocks) : written
  return [said, ...sharedTexts(message, said === '')].filter((part) => part !== '').join('\n\n')
}

function readReaction(event: SlackEvent, context: ParseContext): InboundEvent | null {
  const { user, reaction, item } = event
  if (user === context.self.userId || item?.type !== 'message') return null
  if (
    typeof user !== 'string' ||
    typeof reaction !== 'string' ||
    typeof item.channel !== 'string' ||
    !isStamp(item.ts)
  )
    throw new Error('a reaction that names nobody, nothing or no message')
  const at = isStamp(event.event_ts) ? event.event_ts : item.ts
  const name = context.nameOf(user)
  return {
    kind: 'reaction',
    conversation: item.channel,
    chat: chatOf(item.channel),
    sender: { id: user, ...defined({ name }) },
    at: stampMs(at),
    messageId: `reaction:${item.ts}:${reaction.slice(0, 100)}:${user}:${at}`,
    on: item.ts,
    emoji: `:${clean(reaction).slice(0, 100)}:`,
  }
}

/** The stop button of Slack's agent surface counts as a message of its person. */
function readStop(event: SlackEvent, context: ParseContext): InboundEvent | null {
  const { user, channel, thread_ts, event_ts } = event
  if (typeof user !== 'string' || typeof channel !== 'string') return null
  return {
    kind: 'message',
    conversation: channel,
    ...(isStamp(thread_ts) ? { thread: thread_ts } : {}),
    chat: chatOf(channel),
    sender: { id: user },
    at: isStamp(event_ts) ? stampMs(event_ts) : context.now,
    messageId: `stop:${String(event_ts)}`,
    text: '!stop',
    mentioned: true,
  }
}

function sameWords(now: SlackMessage, before: SlackMessage): boolean {
  const files = (message: SlackMessage) =>
    attachmentsOf(message)
      .map(({ id }) => id)
      .join(' ')
  return (
    now.text === before.text && files(now) === files(before) && editVersionOf(now) === editVersionOf(before)
  )
}

/** Whether it is our own message. */
export function isSelf({ user, bot_id }: SlackMessage, { userId, botId }: Self): boolean {
  return user === userId || (botId !== null && bot_id === botId)
}

function names(message: SlackMessage, raw: string, { userId }: Self): boolean {
  if (raw.includes(`<@${userId}>`) || raw.includes(`<@${userId}|`)) return true
  return Array.isArray(message.blocks) && JSON.stringify(message.blocks).includes(`"user_id":"${userId}"`)
}

function senderOf(message: SlackMessage, { nameOf }: ParseContext): Sender {
  const bot = typeof message.bot_id === 'string' && message.bot_id !== ''
  const id =
    typeof message.user === 'string' && message.user !== '' ? message.user : bot ? String(message.bot_id) : ''
  if (id === '') throw new Error('a message of nobody')
  const profile = (message.user_profile ?? {}) as Record<string, unknown>
  const botName = (message.bot_profile as { readonly name?: unknown } | undefined)?.name ?? message.username
  const name =
    nameOf(id) ?? safeName(profile.display_name) ?? safeName(profile.real_name) ?? safeName(botName)
  return { id, ...defined({ name }), ...(bot ? { isBot: true } : {}) }
}

/** Returns the thread of a message, or the thread that it opens if answers go into threads. */
export function threadOf(
  { ts, thread_ts }: Pick<SlackMessage, 'ts' | 'thread_ts'>,
  conversation: string,
  { replyToMode }: Pick<ParseContext, 'replyToMode'>,
): { readonly thread?: string } {
  if (isStamp(thread_ts) && thread_ts !== ts) return { thread: thread_ts }
  const opens = replyToMode === 'all' || (replyToMode === 'first' && chatOf(conversation) === 'group')
  return opens && isStamp(ts) ? { thread: ts } : {}
}

function metaOf(message: SlackMessage, about: string | undefined): Record<string, string> {
  const meta: Record<string, string> = {}
  const put = (key: string, value: unknown) => {
    if (typeof value === 'string' && value !== '') meta[key] = clean(value).slice(0, 500)
  }
  put('user_team', message.user_team)
  put('context', about)
  if (typeof message.subtype === 'string' && message.subtype !== 'file_share') put('subtype', message.subtype)
  return meta
}

/** Ids of direct chats begin with D. All others have several people. */
export function chatOf(conversation: string): 'direct' | 'group' {
  return conversation.startsWith('D') ? 'direct' : 'group'
}

function channelOf({ channel }: SlackEvent): string {
  if (typeof channel === 'string' && /^[A-Z][A-Z0-9_-]{0,60}$/i.test(channel)) return channel
  throw new Error('an event without a channel')
}

export function unparsable(event: unknown, now: number, thrown: unknown): InboundEvent {
  const { channel, ts, event_ts } = (event ?? {}) as SlackEvent
  const known = [ts, event_ts].find(isStamp)
  return {
    kind: 'unparsable',
    conversation: 'unreadable',
    chat: 'direct',
    sender: { id: 'unknown' },
    at: now,
    ...(known === undefined
      ? {}
      : { messageId: `event:${typeof channel === 'string' ? channel : ''}:${known}` }),
    problem: `an event of Slack could not be read: ${thrown instanceof Error ? thrown.message.slice(0, 200) : 'malformed'}`,
  }
}
