// Which conversation a channel message belongs to: from the server's own keys, in the seed's order. A thread is joined
// with its parent chat, so that equal thread ids of two chats do not meet; one without a chat is a conversation of its own,
// for that is within what message ids are unique. Names and senders never enter.
export const THREAD_KEYS = ['thread_ts', 'thread_id'] as const
export const CONVERSATION_KEYS = ['chat_id', 'conversation_id', 'room_id', 'channel_id', 'to'] as const

/** The keys of a tool call that say where a message goes. */
export const DESTINATION_KEYS: readonly string[] = [...CONVERSATION_KEYS, ...THREAD_KEYS]

/** The conversation of a server that names none. It holds no `=`, so that no named one can be taken for it. */
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

/** The way back: the arguments that lead a tool of the server to that place. */
export function destinationOf(place: ChannelPlace): Readonly<Record<string, string>> {
  return { ...argument(place.conversation), ...argument(place.thread ?? '') }
}

function firstNamed(keys: readonly string[], meta: Readonly<Record<string, string>>): string | null {
  for (const key of keys) {
    const value = Object.hasOwn(meta, key) ? meta[key] : undefined
    if (value !== undefined && value !== '') return `${key}=${value}`
  }
  return null
}

function argument(named: string): Readonly<Record<string, string>> {
  const at = named.indexOf('=')
  const key = named.slice(0, Math.max(0, at))
  return DESTINATION_KEYS.includes(key) ? { [key]: named.slice(at + 1) } : {}
}
