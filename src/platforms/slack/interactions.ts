// Turns buttons, slash commands and shortcuts into events. Those of other apps are null: acknowledged and ignored.
import { defined, type InboundEvent } from '../../contract/index.ts'
import { wordsIn } from '../../words/index.ts'
import { clean, readText } from './inbound-text.ts'
import { chatOf, type ParseContext, type SlackMessage, threadOf, unparsable } from './parse.ts'
import { isStamp, stampMs } from './stamps.ts'

interface Payload {
  readonly type?: unknown
  readonly user?: { readonly id?: unknown; readonly username?: unknown }
  readonly team?: { readonly id?: unknown } | null
  readonly container?: {
    readonly message_ts?: unknown
    readonly channel_id?: unknown
    readonly thread_ts?: unknown
  }
  readonly channel?: { readonly id?: unknown }
  readonly message?: SlackMessage
  readonly actions?: unknown
  readonly action_ts?: unknown
}

interface Action {
  readonly action_id?: unknown
  readonly value?: unknown
  readonly action_ts?: unknown
}

/** Returns the workspace of an interaction or command; null: it names none. */
export function teamOf(payload: unknown): string | null {
  const { team, team_id } = (payload ?? {}) as {
    readonly team?: { readonly id?: unknown } | null
    readonly team_id?: unknown
  }
  const id = team?.id ?? team_id
  return typeof id === 'string' ? id : null
}

/** Never throws. */
export function parseInteraction(payload: unknown, context: ParseContext): InboundEvent | null {
  try {
    const { type } = (payload ?? {}) as Payload
    if (type === 'block_actions') return readTap(payload as Payload, context)
    return type === 'message_action' ? readShortcut(payload as Payload, context) : null
  } catch (thrown) {
    return unparsable(payload, context.now, thrown)
  }
}

function readTap(payload: Payload, context: ParseContext): InboundEvent | null {
  const list = Array.isArray(payload.actions) ? (payload.actions as readonly Action[]) : []
  const action = list.find(({ value }) => typeof value === 'string' && value !== '')
  const on = payload.container?.message_ts ?? payload.message?.ts
  const conversation = payload.container?.channel_id ?? payload.channel?.id
  // A link button, a menu, or a button in a view is not ours. It has no value and no message.
  if (action === undefined || !isStamp(on) || typeof conversation !== 'string') return null
  const user = personOf(payload)
  const at = isStamp(action.action_ts) ? action.action_ts : on
  const message = { ts: on, thread_ts: payload.container?.thread_ts ?? payload.message?.thread_ts }
  return {
    kind: 'tap',
    conversation,
    ...threadOf(message, conversation, context),
    chat: chatOf(conversation),
    sender: { id: user, ...nameOf(user, context) },
    at: stampMs(at),
    messageId: `tap:${on}:${String(action.action_id ?? '').slice(0, 255)}:${user}:${at}`,
    on,
    value: clean(String(action.value)),
  }
}

function readShortcut(payload: Payload, context: ParseContext): InboundEvent | null {
  const { message } = payload
  const conversation = payload.channel?.id
  if (typeof conversation !== 'string' || !isStamp(message?.ts)) return null
  const user = personOf(payload)
  const at = isStamp(payload.action_ts) ? payload.action_ts : message.ts
  const { self } = context
  const reader = { selfId: self.userId, selfName: self.name, nameOf: context.nameOf }
  const text = clean(readText(typeof message.text === 'string' ? message.text : '', reader))
  return {
    kind: 'message',
    conversation,
    ...threadOf(message, conversation, context),
    chat: chatOf(conversation),
    sender: { id: user, ...nameOf(user, context) },
    at: stampMs(at),
    messageId: `shortcut:${message.ts}:${user}:${at}`,
    // Another person wrote it, so a command or verdict in it does not count as the sender's.
    text: `${authorOf(message, context)} wrote:\n${text}`,
    mentioned: true,
    replyTo: { messageId: message.ts, text },
    meta: { shortcut: 'true' },
  }
}

/** Words for Switchboard: `/switchboard status` is `!status`. */
const COMMAND_WORDS = /^(status|new|stop|help|back|human)$/i

/** Turns a slash command into its sender's message. Never throws. */
export function parseCommand(fields: Readonly<Record<string, unknown>>, context: ParseContext): InboundEvent {
  try {
    const { channel_id: conversation, user_id: user, text: written, command, trigger_id } = fields
    if (typeof conversation !== 'string' || typeof user !== 'string')
      throw new Error('a command of nobody or nowhere')
    const { self } = context
    const reader = { selfId: self.userId, selfName: self.name, nameOf: context.nameOf }
    const text = clean(readText(typeof written === 'string' ? written.trim() : '', reader))
    return {
      kind: 'message',
      conversation,
      chat: chatOf(conversation),
      sender: { id: user, ...nameOf(user, context) },
      at: context.now,
      ...(typeof trigger_id === 'string' ? { messageId: `command:${trigger_id.slice(0, 200)}` } : {}),
      text: text === '' ? '!help' : COMMAND_WORDS.test(text) ? `!${text.toLowerCase()}` : text,
      mentioned: true,
      meta: { command: typeof command === 'string' ? clean(command).slice(0, 100) : '' },
    }
  } catch (thrown) {
    return unparsable({}, context.now, thrown)
  }
}

function authorOf({ user }: SlackMessage, { nameOf }: ParseContext): string {
  const id = typeof user === 'string' && /^[UW][A-Z0-9]{1,60}$/.test(user) ? user : null
  return id === null ? wordsIn().platforms.unnamed : (nameOf(id) ?? id)
}

function personOf({ user }: Payload): string {
  if (typeof user?.id === 'string' && user.id !== '') return user.id
  throw new Error('an interaction of nobody')
}

function nameOf(user: string, context: ParseContext): { readonly name?: string } {
  const name = context.nameOf(user)
  return defined({ name })
}
