// The methods of the fake Web API for agents: status, titles, prompts, and messages that are streamed.
import { changed, countReply, generated, inChannel, metadataOf, ownFields, threadOf } from './chat-methods.ts'
import {
  type Answer,
  fail,
  isAnswer,
  json,
  type Method,
  type MethodContext,
  text,
  writable,
} from './method.ts'

const WRITE = ['chat:write']
/** A stream ends five minutes after its start, also when text is still appended. */
const STREAM_LIFE_MS = 300_000

export const AGENT_METHODS: Readonly<Record<string, Method>> = {
  'assistant.threads.setStatus': {
    scopes: ['assistant:write', 'chat:write'],
    run: ({ world, params }) => {
      const channel = text(params, 'channel_id')
      if (!world.channel(channel)) return fail('channel_not_found')
      if (text(params, 'thread_ts') === '') return fail('invalid_thread_ts')
      world.statuses.push({ channel, thread: text(params, 'thread_ts'), status: text(params, 'status') })
      return { ok: true }
    },
  },
  'assistant.threads.setTitle': {
    scopes: ['assistant:write'],
    run: ({ world, params }) => {
      world.titles.set(`${text(params, 'channel_id')}/${text(params, 'thread_ts')}`, text(params, 'title'))
      return { ok: true }
    },
  },
  'assistant.threads.setSuggestedPrompts': {
    scopes: ['assistant:write'],
    run: ({ world, params }) => {
      const prompts = json(params, 'prompts')
      if (!Array.isArray(prompts) || prompts.length === 0) return fail('invalid_arguments')
      world.prompts.push({ channel: text(params, 'channel_id'), prompts })
      return { ok: true }
    },
  },
  'agents.sessions.setStatus': { scopes: WRITE, run: () => ({ ok: true }) },
  'chat.startStream': { scopes: WRITE, run: start },
  'chat.appendStream': { scopes: WRITE, run: append },
  'chat.stopStream': { scopes: WRITE, run: stop },
}

function start(context: MethodContext): Answer {
  const { world, params, now } = context
  const channel = writable(context)
  if (isAnswer(channel)) return channel
  const thread = threadOf(world, channel, text(params, 'thread_ts'))
  if (thread === undefined) return fail('invalid_thread_ts')
  if (channel.kind !== 'im') {
    if (text(params, 'recipient_user_id') === '') return fail('missing_recipient_user_id')
    if (text(params, 'recipient_team_id') === '') return fail('missing_recipient_team_id')
  }
  const written = streamed(params)
  const message = world.put(channel.id, {
    ...ownFields(world),
    text: written,
    thread_ts: thread,
    streaming_state: 'in_progress',
    streaming_since: now(),
  })
  countReply(world, channel, message)
  return { ok: true, channel: channel.id, ts: message.ts }
}

function append({ world, params, now }: MethodContext): Answer {
  const message = world.find(text(params, 'channel'), text(params, 'ts'))
  if (!message) return fail('message_not_found')
  if (!alive(message, now())) return fail('message_not_in_streaming_state')
  message.text += streamed(params)
  return { ok: true, channel: text(params, 'channel'), ts: message.ts }
}

function stop(context: MethodContext): Answer {
  const { world, params, now } = context
  const channel = world.channel(text(params, 'channel'))
  const message = channel === undefined ? undefined : world.find(channel.id, text(params, 'ts'))
  if (!channel || !message) return fail('message_not_found')
  if (!alive(message, now())) return fail('message_not_in_streaming_state')
  const metadata = metadataOf(json(params, 'metadata'))
  if (metadata !== undefined && 'ok' in metadata) return metadata
  const before = structuredClone(message)
  message.text += streamed(params)
  message.blocks = generated(world, message.text)
  message.streaming_state = 'completed'
  if (metadata !== undefined) message.metadata = metadata
  changed(context, channel, message, before)
  return {
    ok: true,
    channel: channel.id,
    ts: message.ts,
    message: { ...message, ...inChannel(channel, message.ts) },
  }
}

function alive(message: Readonly<Record<string, unknown>>, now: number): boolean {
  return message.streaming_state === 'in_progress' && now - Number(message.streaming_since) < STREAM_LIFE_MS
}

/** The given text, or the text of the chunks. */
function streamed(params: MethodContext['params']): string {
  const chunks = json(params, 'chunks')
  const said = Array.isArray(chunks)
    ? (chunks as readonly { readonly type?: string; readonly text?: string }[])
    : []
  const inChunks = said.filter(({ type }) => type === 'markdown_text').map((chunk) => chunk.text ?? '')
  return text(params, 'markdown_text') + inChunks.join('')
}
