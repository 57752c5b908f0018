// The chat.* methods of the fake Web API: post, update, delete, and messages that one person sees.
import { defined } from '../../contract/index.ts'
import { blocksProblem } from './blocks-check.ts'
import {
  type Answer,
  channelType,
  fail,
  flag,
  isAnswer,
  json,
  type Method,
  type MethodContext,
  text,
  writable,
} from './method.ts'
import type { FakeChannel, FakeMessage, World } from './world.ts'

const MOST_TEXT = 40_000
const MOST_UPDATE_TEXT = 4_000
const WRITE = ['chat:write']

type Blocks = readonly Record<string, unknown>[]

export const CHAT_METHODS: Readonly<Record<string, Method>> = {
  'chat.postMessage': { scopes: WRITE, run: post },
  'chat.update': { scopes: WRITE, run: update },
  'chat.delete': { scopes: WRITE, run: remove },
  'chat.postEphemeral': { scopes: WRITE, run: ephemeral },
  'chat.getPermalink': {
    run: ({ world, params, base }) => {
      const found = world.find(text(params, 'channel'), text(params, 'message_ts'))
      if (!found) return fail('message_not_found')
      const permalink = `${base}/archives/${text(params, 'channel')}/p${found.ts.replace('.', '')}`
      return { ok: true, channel: text(params, 'channel'), permalink }
    },
  },
}

function post(context: MethodContext): Answer {
  const { world, params } = context
  const channel = writable(context)
  if (isAnswer(channel)) return channel
  const content = contentOf(params)
  if ('ok' in content) return content
  const thread = threadOf(world, channel, text(params, 'thread_ts'))
  const message = world.put(channel.id, {
    ...ownFields(world),
    text: content.text.slice(0, MOST_TEXT),
    blocks: content.blocks ?? generated(world, content.text),
    ...defined({ attachments: content.attachments, thread_ts: thread, metadata: content.metadata }),
    ...(thread !== undefined && flag(params, 'reply_broadcast') ? { subtype: 'thread_broadcast' } : {}),
  })
  countReply(world, channel, message)
  context.emit(channel, { ...message, ...inChannel(channel, message.ts) })
  return { ok: true, channel: channel.id, ts: message.ts, message }
}

function update(context: MethodContext): Answer {
  const { world, params } = context
  const channel = world.channel(text(params, 'channel'))
  if (!channel || channel.id !== text(params, 'channel')) return fail('channel_not_found')
  const message = world.find(channel.id, text(params, 'ts'))
  if (!message) return fail('message_not_found')
  if (message.user !== world.bot.id) return fail('cant_update_message')
  if (message.streaming_state === 'in_progress') return fail('streaming_state_conflict')
  const content = contentOf(params)
  if ('ok' in content) return content
  if (content.text.length > MOST_UPDATE_TEXT) return fail('msg_too_long')
  const before = structuredClone(message)
  message.text = content.text
  // An update without blocks keeps the existing blocks, and people see those.
  if (content.blocks !== undefined) message.blocks = content.blocks
  else if (isGenerated(message.blocks)) message.blocks = generated(world, content.text)
  if (content.attachments !== undefined) message.attachments = content.attachments
  if (content.metadata !== undefined) message.metadata = content.metadata
  message.edited = { user: world.bot.id, ts: world.nextTs() }
  changed(context, channel, message, before)
  return { ok: true, channel: channel.id, ts: message.ts, text: message.text, message }
}

export function changed(
  { world, emit }: Pick<MethodContext, 'world' | 'emit'>,
  channel: FakeChannel,
  message: FakeMessage,
  previous_message: FakeMessage,
): void {
  emit(channel, {
    type: 'message',
    subtype: 'message_changed',
    hidden: true,
    message: structuredClone(message),
    previous_message,
    ...inChannel(channel, world.nextTs()),
  })
}

function remove(context: MethodContext): Answer {
  const { world, params } = context
  const channel = world.channel(text(params, 'channel'))
  if (!channel) return fail('channel_not_found')
  const message = world.find(channel.id, text(params, 'ts'))
  if (!message) return fail('message_not_found')
  if (message.user !== world.bot.id) return fail('cant_delete_message')
  world.remove(channel.id, message.ts)
  deleted(context, channel, message)
  return { ok: true, channel: channel.id, ts: message.ts }
}

export function deleted(
  { world, emit }: Pick<MethodContext, 'world' | 'emit'>,
  channel: FakeChannel,
  message: FakeMessage,
): void {
  emit(channel, {
    type: 'message',
    subtype: 'message_deleted',
    hidden: true,
    deleted_ts: message.ts,
    previous_message: structuredClone(message),
    ...inChannel(channel, world.nextTs()),
  })
}

function ephemeral(context: MethodContext): Answer {
  const { world, params } = context
  const channel = writable(context)
  if (isAnswer(channel)) return channel
  const user = text(params, 'user')
  if (!channel.members.has(user)) return fail('user_not_in_channel')
  const content = contentOf(params)
  if ('ok' in content) return content
  world.ephemerals.push({ channel: channel.id, user, text: content.text })
  return { ok: true, message_ts: world.nextTs() }
}

interface Content {
  readonly text: string
  readonly blocks?: Blocks
  readonly attachments?: unknown
  readonly metadata?: { readonly event_type: string; readonly event_payload: Record<string, unknown> }
}

function contentOf(params: MethodContext['params']): Content | Answer {
  const written = text(params, 'text')
  const markdown = text(params, 'markdown_text')
  const blocks = json(params, 'blocks')
  const attachments = json(params, 'attachments')
  const has = (list: unknown) => Array.isArray(list) && list.length > 0
  if (markdown !== '' && (written !== '' || has(blocks))) return fail('markdown_text_conflict')
  if (markdown.length > 12_000) return fail('msg_too_long')
  if (written === '' && markdown === '' && !has(blocks) && !has(attachments)) return fail('no_text')
  if (blocks !== undefined && blocks !== '') {
    const problem = blocksProblem(blocks)
    if (problem) return problem
  }
  if (Array.isArray(attachments)) {
    if (attachments.length > 100) return fail('too_many_attachments')
    for (const one of attachments as readonly { readonly blocks?: unknown }[]) {
      const problem = one?.blocks === undefined ? null : blocksProblem(one.blocks)
      if (problem) return problem
    }
  }
  const metadata = metadataOf(json(params, 'metadata'))
  if (metadata !== undefined && 'ok' in metadata) return metadata
  return {
    text: written === '' ? markdown : written,
    ...(has(blocks) ? { blocks: blocks as Blocks } : {}),
    ...(has(attachments) ? { attachments } : {}),
    ...defined({ metadata }),
  }
}

export function metadataOf(
  given: unknown,
): { readonly event_type: string; readonly event_payload: Record<string, unknown> } | Answer | undefined {
  if (given === undefined || given === '') return undefined
  if (typeof given !== 'object' || given === null) return fail('invalid_metadata_format')
  const { event_type, event_payload } = given as Record<string, unknown>
  if (event_type === undefined && event_payload === undefined) return { event_type: '', event_payload: {} }
  if (typeof event_type !== 'string' || typeof event_payload !== 'object' || event_payload === null)
    return fail('invalid_metadata_schema')
  // Slack accepts a name with a dot, but drops the metadata.
  if (!/^[a-z0-9_]+$/i.test(event_type)) return undefined
  if (JSON.stringify(event_payload).length > 8_000) return fail('metadata_too_large')
  return { event_type, event_payload: event_payload as Record<string, unknown> }
}

export function ownFields(
  world: World,
): Record<string, unknown> & { readonly user: string; readonly text: string } {
  return {
    user: world.bot.id,
    bot_id: world.bot.bot_id,
    app_id: world.appId,
    team: world.team.id,
    bot_profile: { id: world.bot.bot_id, app_id: world.appId, name: world.bot.name, team_id: world.team.id },
    text: '',
  }
}

/** The ts of the first message of a thread. `given` may name any message of the thread. */
export function threadOf(world: World, channel: FakeChannel, given: string): string | undefined {
  if (given === '') return undefined
  return world.find(channel.id, given)?.thread_ts ?? given
}

/** Updates the reply fields of the first message in a thread. */
export function countReply(world: World, channel: FakeChannel, reply: FakeMessage): void {
  const root = reply.thread_ts === undefined ? undefined : world.find(channel.id, reply.thread_ts)
  if (!root || root.ts === reply.ts) return
  root.thread_ts = root.ts
  root.reply_count = Number(root.reply_count ?? 0) + 1
  root.latest_reply = reply.ts
}

export function inChannel(channel: FakeChannel, ts: string): Record<string, unknown> {
  return { channel: channel.id, channel_type: channelType(channel), event_ts: ts, ts }
}

export function generated(world: World, written: string): Blocks {
  const elements = [{ type: 'rich_text_section', elements: [{ type: 'text', text: written }] }]
  return [{ type: 'rich_text', block_id: world.nextId('b'), elements }]
}

function isGenerated(blocks: Blocks | undefined): boolean {
  return blocks?.length === 1 && blocks[0]?.type === 'rich_text'
}
