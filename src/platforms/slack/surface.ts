// Slack's surface for agents: prompts when a person opens it, a title for a new thread, and what the person has open.
// All of it is lossy, and never waited for.
import { createBoundedMap } from '../../contract/index.ts'
import type { SlackClient } from './api/client.ts'
import type { SlackOptions } from './config.ts'

export interface Surface {
  /** Takes every event and uses those of the surface. */
  heard(event: unknown): void
  /** A person wrote in a thread. The first words become its title. */
  wrote(conversation: string, thread: string | undefined, text: string): void
  contextOf(conversation: string, thread: string | undefined): string | undefined
}

const REMEMBERED = 2_000
const TITLE_LENGTH = 60

interface ThreadFacts {
  readonly channel_id?: unknown
  readonly thread_ts?: unknown
  readonly context?: unknown
}

export function createSurface(
  client: SlackClient,
  { surface, suggested_prompts: prompts }: Pick<SlackOptions, 'surface' | 'suggested_prompts'>,
): Surface {
  const contexts = createBoundedMap<string, string>(REMEMBERED)
  const titled = createBoundedMap<string, true>(REMEMBERED)
  const fresh = createBoundedMap<string, true>(REMEMBERED)

  const say = (method: string, params: Readonly<Record<string, unknown>>) => {
    client.call(method, params, { repeatable: true }).catch(() => undefined)
  }
  const suggest = (channel: unknown, thread: unknown) => {
    if (prompts.length === 0 || typeof channel !== 'string') return
    const where = typeof thread === 'string' ? { thread_ts: thread } : {}
    say('assistant.threads.setSuggestedPrompts', { channel_id: channel, ...where, prompts })
  }
  const keep = (channel: unknown, thread: unknown, context: unknown) => {
    const told = contextText(context)
    if (typeof channel === 'string' && told !== '') contexts.set(keyOf(channel, thread), told)
  }

  return {
    heard(event) {
      if (surface === 'none' || typeof event !== 'object' || event === null) return
      const { type, channel, tab, context, assistant_thread } = event as Record<string, unknown>
      const thread = (assistant_thread ?? {}) as ThreadFacts
      switch (type) {
        case 'app_home_opened':
          if (tab === 'messages') suggest(channel, undefined)
          return
        case 'app_context_changed':
          return keep(channel, undefined, context)
        case 'assistant_thread_started':
          keep(thread.channel_id, thread.thread_ts, thread.context)
          fresh.set(keyOf(String(thread.channel_id), thread.thread_ts), true)
          return suggest(thread.channel_id, thread.thread_ts)
        case 'assistant_thread_context_changed':
          return keep(thread.channel_id, thread.thread_ts, thread.context)
        default:
      }
    },
    wrote(conversation, thread, text) {
      const key = keyOf(conversation, thread)
      if (surface === 'none' || thread === undefined || titled.has(key)) return
      // Only a new conversation with the agent gets a title. Slack announces one to an `assistant` app by an event; for
      // other apps every thread of a direct chat is one.
      if (surface === 'assistant' ? !fresh.has(key) : !conversation.startsWith('D')) return
      titled.set(key, true)
      const title = text.replace(/\s+/g, ' ').trim().slice(0, TITLE_LENGTH)
      if (title !== '')
        say('assistant.threads.setTitle', { channel_id: conversation, thread_ts: thread, title })
    },
    contextOf: (conversation, thread) =>
      contexts.get(keyOf(conversation, thread)) ?? contexts.get(keyOf(conversation, undefined)),
  }
}

function keyOf(channel: string, thread: unknown): string {
  return `${channel} ${typeof thread === 'string' ? thread : ''}`
}

/** Contains only ids: where the person is, not the content there. */
export function contextText(context: unknown): string {
  if (typeof context !== 'object' || context === null) return ''
  const { channel_id, entities } = context as { readonly channel_id?: unknown; readonly entities?: unknown }
  const ids = Array.isArray(entities)
    ? entities.map(
        (one) =>
          (one as { readonly value?: unknown; readonly id?: unknown })?.value ??
          (one as { readonly id?: unknown })?.id,
      )
    : []
  const all = [channel_id, ...ids].filter((id) => typeof id === 'string' && /^[\w:.-]{1,60}$/.test(id))
  return [...new Set(all)].slice(0, 10).join(' ')
}
