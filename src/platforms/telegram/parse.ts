// Turns Telegram's updates into events. Message ids are unique only within a chat, and the core keys them so. Service
// messages (joins, pins, title changes) and channel posts are left out. What cannot be read becomes an event, so that
// it is recorded.
import type {
  CallbackQuery,
  Chat,
  Message,
  MessageEntity,
  MessageReactionUpdated,
  Update,
  User,
} from 'grammy/types'
import {
  type InboundEvent,
  type InboundMessage,
  type Quoted,
  type Sender,
  withoutNulls,
} from '../../contract/index.ts'
import { attachmentsOf, placeholderOf } from './attachments.ts'

/** The bot's own name and id. */
export interface Self {
  readonly id: number
  readonly username: string
}

export const ALLOWED_UPDATES = ['message', 'edited_message', 'callback_query', 'message_reaction'] as const

/** A tap is answered by the id of its query. */
export interface Parsed {
  readonly event: InboundEvent
  readonly callbackId?: string
  /** Set for a part of an album. Parts with the same key belong together. */
  readonly album?: string
}

/** The context of a message: our own names, the time, and the update. */
interface Frame {
  readonly updateId: number
  readonly self: Self
  readonly now: number
}

/** Null: neither an agent nor a gate needs it. Never throws. */
export function parseUpdate(update: unknown, self: Self, now: number): Parsed | null {
  try {
    return read(update as Update, self, now)
  } catch (thrown) {
    return { event: unparsable(update, now, thrown) }
  }
}

function read(update: Update, self: Self, now: number): Parsed | null {
  if (typeof update?.update_id !== 'number') throw new Error('there is no update_id')
  if (update.message) return readMessage(update.message, 'message', { updateId: update.update_id, self, now })
  if (update.edited_message)
    return readMessage(update.edited_message, 'edit', { updateId: update.update_id, self, now })
  if (update.callback_query) return readTap(update.callback_query, now)
  if (update.message_reaction)
    return readReaction(update.message_reaction, { updateId: update.update_id, self, now })
  return null
}

function readMessage(
  message: Message,
  kind: 'message' | 'edit',
  { updateId, self, now }: Frame,
): Parsed | null {
  const { chat } = message
  const conversation = idOf(chat?.id, 'message.chat.id')
  const messageId = idOf(message.message_id, 'message.message_id')
  if (chat.type === 'channel' || message.from?.id === self.id) return null
  const attachments = attachmentsOf(message)
  const words = message.text ?? message.caption ?? ''
  const text = words === '' ? placeholderOf(message) : withoutOwnName(words, message, self)
  if (text === '' && attachments.length === 0) return null // a join, a pin, a new title
  const replyTo = quoted(message)
  const event: InboundMessage = {
    kind,
    conversation,
    ...topic(message),
    chat: placeOf(chat),
    sender: senderOf(message.from ?? ownerOf(chat), message.sender_chat),
    at: time(message.date, now),
    messageId,
    // The last six digits distinguish two edits within one second. The same update again has the same ones.
    ...(kind === 'edit'
      ? { editVersion: (message.edit_date ?? message.date) * 1_000_000 + (updateId % 1_000_000) }
      : {}),
    text: clean(text),
    mentioned: placeOf(chat) === 'direct' || isMentioned(message, self),
    ...withoutNulls({ replyTo }),
    ...(attachments.length === 0 ? {} : { attachments }),
    meta: metaOf(message),
  }
  const album =
    message.media_group_id === undefined || kind === 'edit'
      ? {}
      : { album: `${conversation}:${message.media_group_id}` }
  return { event, ...album }
}

function readTap(query: CallbackQuery, now: number): Parsed | null {
  const callbackId = String(query.id)
  // Buttons of inline messages have no chat, so they are not ours.
  if (!query.message || query.data === undefined) return null
  const { message } = query
  return {
    callbackId,
    event: {
      kind: 'tap',
      conversation: idOf(message.chat.id, 'callback_query.message.chat.id'),
      ...topic(message as Message),
      chat: placeOf(message.chat),
      sender: senderOf(query.from, undefined),
      at: time(message.date, now),
      messageId: `tap:${callbackId}`,
      on: idOf(message.message_id, 'callback_query.message.message_id'),
      value: clean(query.data),
    },
  }
}

function readReaction(reaction: MessageReactionUpdated, { updateId, self, now }: Frame): Parsed | null {
  if (reaction.user?.id === self.id) return null
  const on = idOf(reaction.message_id, 'message_reaction.message_id')
  const shown = (list: MessageReactionUpdated['new_reaction']) =>
    list.map((one) => (one.type === 'emoji' ? one.emoji : one.type === 'custom_emoji' ? 'custom' : 'paid'))
  const before = shown(reaction.old_reaction)
  const added = shown(reaction.new_reaction).filter((emoji) => !before.includes(emoji))
  if (added.length === 0) return null
  return {
    event: {
      kind: 'reaction',
      conversation: idOf(reaction.chat.id, 'message_reaction.chat.id'),
      chat: placeOf(reaction.chat),
      sender: senderOf(reaction.user, reaction.actor_chat),
      at: time(reaction.date, now),
      messageId: `reaction:${on}:${updateId}`,
      on,
      emoji: added.join(' '),
    },
  }
}

/** Returns the person, or the chat in whose name they wrote (an anonymous admin, a channel). Gates check that id. */
function senderOf(user: User | undefined, behalf: Chat | undefined): Sender {
  if (behalf)
    return { id: idOf(behalf.id, 'sender_chat.id'), name: clean(behalf.title ?? behalf.username ?? '') }
  const name = [user?.first_name, user?.last_name].filter(Boolean).join(' ')
  return {
    id: idOf(user?.id, 'from.id'),
    ...(name === '' ? {} : { name: clean(name) }),
    ...(user?.is_bot ? { isBot: true } : {}),
  }
}

/** A direct chat has the id of its person. */
function ownerOf(chat: Chat): User | undefined {
  if (placeOf(chat) !== 'direct') return undefined
  return { id: chat.id, is_bot: false, first_name: chat.first_name ?? '' }
}

// Groups have negative ids, which helps if a server omits the type.
function placeOf(chat: { readonly type?: string; readonly id: number }): 'direct' | 'group' {
  return chat.type === 'private' || (chat.type === undefined && chat.id > 0) ? 'direct' : 'group'
}

// A reply in a plain supergroup has a message_thread_id too. Only a forum's topic is a thread.
function topic(message: Message): { thread?: string } {
  return message.is_topic_message && message.message_thread_id !== undefined
    ? { thread: String(message.message_thread_id) }
    : {}
}

function quoted(message: Message): Quoted | null {
  const reply = message.reply_to_message
  // In a topic every message "replies" to the one that opened it.
  if (
    !reply ||
    reply.forum_topic_created ||
    (message.is_topic_message && reply.message_id === message.message_thread_id)
  )
    return null
  const text = message.quote?.text ?? reply.text ?? reply.caption ?? placeholderOf(reply)
  const sender = reply.sender_chat?.title ?? reply.from?.first_name
  return {
    messageId: String(reply.message_id),
    ...(text === '' ? {} : { text: clean(text) }),
    ...(sender === undefined ? {} : { sender: clean(sender) }),
  }
}

/** By name, by a mention of a user without a name, by a command for us, or by a reply to our message. */
function isMentioned(message: Message, self: Self): boolean {
  const reply = quoted(message) === null ? undefined : message.reply_to_message
  if (reply?.from?.id === self.id && reply.sender_chat === undefined) return true
  const text = message.text ?? message.caption ?? ''
  const entities = message.entities ?? message.caption_entities ?? []
  return entities.some((entity) => names(entity, text, self))
}

function names(entity: MessageEntity, text: string, self: Self): boolean {
  if (entity.type === 'text_mention') return entity.user.id === self.id
  // Offsets count UTF-16 units, as JavaScript strings do.
  const said = text.slice(entity.offset, entity.offset + entity.length).toLowerCase()
  if (entity.type === 'mention') return said === `@${self.username.toLowerCase()}`
  return entity.type === 'bot_command' && said.endsWith(`@${self.username.toLowerCase()}`)
}

/** `/status@our_bot` is `/status`. In groups Telegram's own menu writes the longer form. */
function withoutOwnName(text: string, message: Message, self: Self): string {
  const first = (message.entities ?? message.caption_entities ?? [])[0]
  if (first?.type !== 'bot_command' || first.offset !== 0 || !names(first, text, self)) return text
  return text.slice(0, text.indexOf('@')) + text.slice(first.length)
}

function metaOf(message: Message): Record<string, string> {
  const meta: Record<string, string> = {}
  const put = (key: string, value: string | undefined) => {
    if (value !== undefined && value !== '') meta[key] = clean(value).slice(0, 256)
  }
  put('username', message.from?.username)
  put('chat_title', message.chat.title)
  put('media_group_id', message.media_group_id)
  const origin = message.forward_origin
  if (origin?.type === 'user') put('forwarded_from', origin.sender_user.first_name)
  else if (origin?.type === 'hidden_user') put('forwarded_from', origin.sender_user_name)
  else if (origin?.type === 'channel') put('forwarded_from', origin.chat.title)
  else if (origin?.type === 'chat') put('forwarded_from', origin.sender_chat.title)
  return meta
}

function unparsable(update: unknown, now: number, thrown: unknown): InboundEvent {
  const id = (update as { update_id?: unknown } | null)?.update_id
  return {
    kind: 'unparsable',
    conversation: 'unreadable',
    chat: 'direct',
    sender: { id: 'unknown' },
    at: now,
    ...(typeof id === 'number' ? { messageId: `update:${id}` } : {}),
    problem: `an update of Telegram could not be read: ${thrown instanceof Error ? thrown.message.slice(0, 200) : 'malformed'}`,
  }
}

function idOf(value: unknown, name: string): string {
  if (typeof value === 'number' && Number.isSafeInteger(value)) return String(value)
  throw new Error(`${name} is not a whole number`)
}

function time(seconds: unknown, now: number): number {
  return typeof seconds === 'number' && Number.isFinite(seconds) && seconds > 0 ? seconds * 1000 : now
}

/** U+0000 cannot be stored everywhere, so a visible mark replaces it. */
function clean(text: string): string {
  if (typeof text !== 'string') throw new Error('a text is not a text')
  return text.includes('\0') ? text.replaceAll('\0', '\uFFFD') : text
}
