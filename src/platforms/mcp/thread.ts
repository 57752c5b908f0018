// Finds the conversation of a channel message by the server's own keys, in the seed's order. A thread is joined with
// its parent chat, so that equal thread ids of two chats stay apart. A thread without a chat is a conversation of its
// own, because message ids are unique within it. Names and senders are never used.
export const THREAD_KEYS = ['thread_ts', 'thread_id'] as const
export const CONVERSATION_KEYS = ['chat_id', 'conversation_id', 'room_id', 'channel_id', 'to'] as const

/** The conversation of a server that names none. It contains no `=`, so it cannot equal a named one. */
export const WHOLE_SERVER = 'all'

export interface ChannelPlace {
  /** `<key>=<value>`, or WHOLE_SERVER. */
  readonly conversation: string
  readonly thread?: string
}

export function placeOf(meta: Readonly<Record<string, string>>): ChannelPlace {
  const conversation = firstNamed(CONVERSATION_KEYS, meta)
  const thread = firstNamed(THREAD_KEYS, meta)
  if (conversation === null) return { conversation: thread ?? WHOLE_SERVER }
  return thread === null ? { conversation } : { conversation, thread }
}

/** The keys of places without a message so far: a target that was only allowed, or a thread that was only named. */
export const TARGET_KEY = 'target'
export const TARGET_THREAD_KEY = 'thread'

/**
 * Returns what a conversation or thread names; null: the whole server. `key` null: the server never named it itself.
 */
export function namedPlace(
  place: string,
): { readonly of: 'conversation' | 'thread'; readonly key: string | null; readonly value: string } | null {
  const at = place.indexOf('=')
  const key = place.slice(0, Math.max(0, at))
  const value = place.slice(at + 1)
  if (key === TARGET_KEY) return { of: 'conversation', key: null, value }
  if (key === TARGET_THREAD_KEY) return { of: 'thread', key: null, value }
  if ((THREAD_KEYS as readonly string[]).includes(key)) return { of: 'thread', key, value }
  if ((CONVERSATION_KEYS as readonly string[]).includes(key)) return { of: 'conversation', key, value }
  return place === WHOLE_SERVER || place === '' ? null : { of: 'thread', key: null, value: place }
}

function firstNamed(keys: readonly string[], meta: Readonly<Record<string, string>>): string | null {
  for (const key of keys) {
    const value = Object.hasOwn(meta, key) ? meta[key] : undefined
    if (value !== undefined && value !== '') return `${key}=${value}`
  }
  return null
}
