// Turns a verified POST into an event: the body as it is, or as the configuration reads it.
import { hash } from 'node:crypto'
import { defined, type InboundEvent, type RawRequest, type VerifiedRequest } from '../../contract/index.ts'
import { EMPTY_MESSAGE, versionOf } from '../../kit/index.ts'
import { signsBody } from './auth.ts'
import type { WebhookConfig } from './config.ts'
import { understand } from './meaning.ts'
import { lookUp, parseJson } from './structure.ts'
import { header, pathBehind } from './verify.ts'

/** The longest name of a conversation, thread or message that is stored unchanged. */
const MAX_NAME = 256
const DIGEST_CHARS = 64

export interface Parsed {
  readonly event: InboundEvent
  /** The answer that the sender requires, such as its own challenge. */
  readonly answer?: string
  /** Only its text distinguishes it from another message: it has no time and no id. */
  readonly bare?: true
}

/** Never throws. What does not parse becomes an event, so that it is recorded. */
export function parseRequest(config: WebhookConfig, verified: VerifiedRequest, now: number): Parsed {
  const { request } = verified
  const read = readBody(request)
  if (read.problem !== undefined) {
    const place = placeOf(config, verified, NOTHING_SAID, now)
    return { event: { kind: 'unparsable', ...place, problem: read.problem } }
  }
  const { body } = read
  const answer = handshake(config, body)
  if (answer !== null)
    return { event: { kind: 'filtered', ...placeOf(config, verified, NOTHING_SAID, now) }, answer }
  const understood =
    config.meaning === null ? null : understand(config.meaning, body, request, hiddenHeaders(config))
  const said = understood === null || understood.kind === 'unparsable' ? NOTHING_SAID : understood.names
  const place = placeOf(config, verified, said, now)
  // Names outside of the signature may be forged in a replay, so they are refused.
  if (signsBody(config.auth) && namesOutside(request))
    return { event: { kind: 'unparsable', ...place, ...refusedKey(place), problem: OUTSIDE } }
  if (understood?.kind === 'unparsable') return { event: { ...understood, ...place } }
  if (understood?.kind === 'filtered') return { event: { kind: 'filtered', ...place } }
  // A POST without text still says that it came, from whom and where. An empty result of a template is refused.
  const words = clean(understood?.text ?? body)
  const text = words.trim() === '' && body.trim() === '' ? EMPTY_MESSAGE : words
  return {
    event: { kind: 'message', ...place, text, mentioned: true, meta: metaOf(config, request, said.event) },
    ...(isBare(config, verified, said) ? { bare: true } : {}),
  }
}

function isBare({ auth }: WebhookConfig, { request }: VerifiedRequest, said: Said): boolean {
  if (auth.kind !== 'signed' || auth.form.timestamp !== null || auth.form.id !== null) return false
  return said.messageId === '' && idHeader(request) === undefined
}

interface Said {
  readonly conversation: string
  readonly messageId: string
  readonly unsignedId: boolean
  readonly sender: string
  readonly author: string
  readonly event: string
}

const NOTHING_SAID: Said = {
  ...{ conversation: '', messageId: '', unsignedId: false, sender: '', author: '', event: '' },
}

/** Sender, place and id: by the configuration, else by the request's headers and query. */
function placeOf({ auth }: WebhookConfig, verified: VerifiedRequest, said: Said, now: number) {
  const { request } = verified
  const covered = signsBody(auth)
  const who = name(said.sender) ?? clean(verified.sender)
  const named = name(said.conversation) ?? (covered ? undefined : name(conversationOutside(request)))
  const thread = covered ? undefined : name(request.query.get('thread') ?? undefined)
  // One secret speaks for many sources. One noisy repository or host must not exhaust the limit of the others.
  const isHook = auth.kind !== 'sender' && name(said.sender) === undefined
  // A conversation other than one's own counts as a group, so it must be listed in access.groups.
  const elsewhere = auth.kind === 'sender' && named !== undefined && named !== who
  const key = keyOf(verified, said, covered)
  // In a group a key counts for its sender only. Otherwise a stranger could guess it and make the owner's message a
  // duplicate.
  const messageId = name(key && elsewhere ? `${encodeURIComponent(who)}:${key}` : key)
  return {
    conversation: named ?? who,
    ...defined({ thread }),
    chat: elsewhere ? ('group' as const) : ('direct' as const),
    sender: { id: who, ...defined({ name: name(said.author) }), ...(isHook ? BY_CONVERSATION : {}) },
    at: now,
    ...defined({ messageId }),
    // GitHub's delivery id belongs to the event, which may go to several threads under one key.
    ...(messageId === undefined || thread === undefined ? {} : { editVersion: versionOf(thread) }),
  }
}

const BY_CONVERSATION = { limitedByConversation: true } as const

function conversationOutside(request: RawRequest): string | undefined {
  return header(request, 'x-conversation') ?? request.query.get('conversation') ?? undefined
}

function namesOutside(request: RawRequest): boolean {
  return (conversationOutside(request) ?? '') !== '' || (request.query.get('thread') ?? '') !== ''
}

const OUTSIDE =
  'a signed body counts only for the conversation that the configuration names ("conversation"), not for one in the URL or in a header'

/** The refused request gets a key of its own, so the same body is accepted later without such names. */
function refusedKey({ messageId }: { readonly messageId?: string | undefined }) {
  return defined({ messageId: messageId === undefined ? undefined : name(`outside:${messageId}`) })
}

/** Returns the duplicate key. An id outside of the signature does not count, because a replay could change it. */
function keyOf({ request, messageId }: VerifiedRequest, said: Said, covered: boolean): string | undefined {
  if (said.messageId !== '' && !(covered && said.unsignedId)) return said.messageId
  return messageId ?? (covered ? undefined : idHeader(request))
}

function idHeader(request: RawRequest): string | undefined {
  return ID_HEADERS.map((one) => header(request, one)).find((one) => one !== undefined && one !== '')
}

const ID_HEADERS = ['webhook-id', 'idempotency-key', 'x-github-delivery']

/** Answers senders that verify the URL by a signed request; null: it is none. */
function handshake({ auth }: WebhookConfig, body: string): string | null {
  if (auth.kind === 'sns') return /"Type"\s*:\s*"SubscriptionConfirmation"/.test(body) ? 'confirmed' : null
  if (!body.includes('"url_verification"') || body.length > 4_096) return null
  const asked = parseJson(body)
  const challenge = lookUp(asked, 'challenge')
  return lookUp(asked, 'type') === 'url_verification' && typeof challenge === 'string' ? challenge : null
}

/** Headers that templates must not show. */
function hiddenHeaders({ auth }: WebhookConfig): readonly string[] {
  return [
    'authorization',
    'cookie',
    'proxy-authorization',
    'x-webhook-secret',
    ...(auth.kind === 'header' ? [auth.name] : []),
  ]
}

function metaOf(config: WebhookConfig, request: RawRequest, said: string): Record<string, string> {
  const event = said === '' ? header(request, 'x-github-event') : said
  const path = `/hooks/${encodeURIComponent(config.id)}${pathBehind(config.auth, request) ?? ''}`
  return {
    path,
    method: request.method,
    ...(event === undefined ? {} : { event: clean(event).slice(0, MAX_NAME) }),
  }
}

type Read = { readonly body: string; readonly problem?: undefined } | { readonly problem: string }

/** Reads UTF-8 first, else the charset of the content type. */
function readBody({ headers, body }: RawRequest): Read {
  const coding = headers['content-encoding']
  if (coding !== undefined && !/^\s*identity\s*$/i.test(String(coding)))
    return { problem: 'the body is compressed (Content-Encoding), which is not taken: send it as it is' }
  const text = decode(body, UTF_8) ?? decode(body, decoderOf(charsetOf(headers['content-type'])))
  return text === null ? { problem: 'the body is not valid UTF-8' } : { body: text }
}

function charsetOf(type: string | readonly string[] | undefined): string | null {
  return /;\s*charset="?([\w.:-]{1,40})/i.exec(String(type ?? '').slice(0, 256))?.[1] ?? null
}

type Decoder = InstanceType<typeof TextDecoder>

const UTF_8: Decoder = new TextDecoder('utf-8', { fatal: true })

/** Null: there is no such charset. */
function decoderOf(charset: string | null): Decoder | null {
  if (charset === null) return null
  try {
    return new TextDecoder(charset, { fatal: true })
  } catch {
    return null
  }
}

function decode(body: Uint8Array, by: Decoder | null): string | null {
  try {
    return by?.decode(body) ?? null
  } catch {
    return null
  }
}

/** U+0000 cannot be stored everywhere. A visible mark replaces it. */
function clean(text: string): string {
  return text.includes('\0') ? text.replaceAll('\0', '\uFFFD') : text
}

/** Ends a long name with a digest of the whole, so that two names stay different. */
function name(value: string | undefined): string | undefined {
  if (value === undefined || value === '') return undefined
  const whole = clean(value)
  if (whole.length <= MAX_NAME) return whole
  const head = whole.slice(0, MAX_NAME - DIGEST_CHARS - 1).replace(/[\uD800-\uDBFF]$/, '')
  return `${head}~${hash('sha256', whole)}`
}
