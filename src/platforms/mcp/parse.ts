// Parses a channel server's push from foreign bytes. Every fault is a typed result, and none throws. The two dialects
// differ in one point: a bad meta value costs the key under claude/, and the whole message under nexo/.
import type { ChannelPrefix, ServerPush } from '../../contract/index.ts'
import { truncate } from '../../kit/index.ts'

export type ParseErrorKind = 'method' | 'params' | 'content' | 'meta' | 'server' | 'request_id' | 'behavior'

export interface ParseError {
  readonly kind: ParseErrorKind
  /** One sentence for a person. It contains no text of the server. */
  readonly text: string
}

export interface ChannelMessage {
  readonly content: string
  readonly meta: Readonly<Record<string, string>>
  /** Omitted keys, at most 64 code points of each: unsafe, reserved, not a string, too long, or too many. */
  readonly dropped: readonly string[]
}

export interface ChannelVerdict {
  readonly approval: string
  readonly behavior: 'allow' | 'deny'
}

export type Parsed<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly error: ParseError }

const METHOD = /^notifications\/(claude|nexo)\/channel(\/permission)?$/
const SAFE_KEY = /^[A-Za-z_][A-Za-z0-9_]*$/
const RESERVED_KEY = 'source'
/** The longest meta value. Each value appears in the model's view of every message. */
const MAX_VALUE_CHARS = 16_384
const MAX_KEYS = 64
const MAX_SHOWN_KEY_CHARS = 64
const MAX_REQUEST_ID_CHARS = 200
const UNSTORABLE = /[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]|\0/g
/** Ids that we make are read without case. An id that a host made is echoed as it came. */
const OWN_ID = /^[a-km-z]{5}$/i

/** Returns the kind of a notification. Its params stay unread, because the token bucket is checked first. */
export function newsOf(method: string, params: unknown): Parsed<ServerPush> {
  const match = METHOD.exec(method)
  if (match === null) return failed('method', 'the method is no channel notification')
  const prefix: ChannelPrefix = match[1] === 'claude' ? 'claude' : 'nexo'
  return { ok: true, value: { kind: match[2] === undefined ? 'message' : 'verdict', prefix, params } }
}

export function parseMessage(server: string, news: ServerPush): Parsed<ChannelMessage> {
  if (news.kind !== 'message') return failed('method', 'the method is no channel message')
  if (server.trim() === '') return failed('server', 'the server has no name')
  if (!isObject(news.params)) return failed('params', 'params is missing or no object')
  const { content, meta } = news.params
  if (typeof content !== 'string') return failed('content', 'params.content is missing or no string')
  if (meta === undefined) return { ok: true, value: { content, meta: {}, dropped: [] } }
  const strict = news.prefix === 'nexo'
  if (!isObject(meta)) {
    if (strict) return failed('meta', 'params.meta must be an object of string→string')
    return { ok: true, value: { content, meta: {}, dropped: ['meta'] } }
  }
  const kept = new Map<string, string>()
  const dropped: string[] = []
  for (const [key, value] of Object.entries(meta)) {
    const good = typeof value === 'string' && value.length <= MAX_VALUE_CHARS
    if (!good && strict) {
      const what = typeof value === 'string' ? `; a value is longer than ${MAX_VALUE_CHARS}` : ''
      return failed('meta', `params.meta must be an object of string→string${what}`)
    }
    if (good && SAFE_KEY.test(key) && key !== RESERVED_KEY && kept.size < MAX_KEYS) kept.set(key, value)
    else if (dropped.length < MAX_KEYS) dropped.push(truncate(key, MAX_SHOWN_KEY_CHARS))
  }
  return { ok: true, value: { content, meta: Object.fromEntries(kept), dropped } }
}

export function parseVerdict(news: ServerPush): Parsed<ChannelVerdict> {
  if (news.kind !== 'verdict') return failed('method', 'the method is no verdict')
  if (!isObject(news.params)) return failed('params', 'params is missing or no object')
  const { request_id, behavior } = news.params
  if (typeof request_id !== 'string' || request_id === '' || request_id.length > MAX_REQUEST_ID_CHARS)
    return failed('request_id', 'params.request_id is missing or no id')
  // No approval has such an id, and the store fails on it, which would block the queue for ever.
  if (clean(request_id) !== request_id)
    return failed('request_id', 'params.request_id holds characters that no store can keep')
  const word = typeof behavior === 'string' ? behavior.toLowerCase() : ''
  if (word !== 'allow' && word !== 'deny')
    return failed('behavior', "missing or invalid params.behavior — must be 'allow' or 'deny'")
  return {
    ok: true,
    value: { approval: OWN_ID.test(request_id) ? request_id.toLowerCase() : request_id, behavior: word },
  }
}

export interface ChannelSender {
  readonly id: string
  /** False: the server named no sender, so the id is the server's own. */
  readonly stable: boolean
  readonly name?: string
}

/** Returns the sender that the server names. Only `user_id` is an id; `user` may be a display name. */
export function senderOf(server: string, meta: Readonly<Record<string, string>>): ChannelSender {
  const { user_id, user } = meta
  const named = user === undefined || user === '' ? {} : { name: user }
  if (user_id !== undefined && user_id !== '') return { id: user_id, stable: true, ...named }
  if (user !== undefined && user !== '') return { id: user, stable: false, ...named }
  return { id: server, stable: false }
}

/** Replaces characters that no store can keep with a mark. */
export function clean(text: string): string {
  return text.replace(UNSTORABLE, '\uFFFD')
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function failed(kind: ParseErrorKind, text: string): { readonly ok: false; readonly error: ParseError } {
  return { ok: false, error: { kind, text } }
}
