// From a verified POST to an event: the body as it is, or what the configuration makes of it.
import { hash } from 'node:crypto'
import { defined, type InboundEvent, type RawRequest, type VerifiedRequest } from '../../contract/index.ts'
import { EMPTY_MESSAGE, versionOf } from '../../kit/index.ts'
import { signsBody } from './auth.ts'
import type { WebhookConfig } from './config.ts'
import { understand } from './meaning.ts'
import { lookUp, parseJson } from './structure.ts'
import { header, pathBehind } from './verify.ts'

/** Longest conversation, thread or message id that is kept as it is; the rest is somebody filling the store. */
const MAX_NAME = 256
const DIGEST_CHARS = 64

export interface Parsed {
  readonly event: InboundEvent
  /** What the sender wants to hear instead of how it went: its own challenge. */
  readonly answer?: string
  /** Nothing but the words of its body tells it from another message: no time, and no id, signed or not. */
  readonly bare?: true
}

/** Never throws: what does not parse is an event of its own, so that it is recorded. */
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
  // What stands outside of a signature is said by whoever sends it, perhaps for the second time: it moves nothing.
  if (signsBody(config.auth) && namesOutside(request))
    return { event: { kind: 'unparsable', ...place, ...refusedKey(place), problem: OUTSIDE } }
  if (understood?.kind === 'unparsable') return { event: { ...understood, ...place } }
  if (understood?.kind === 'filtered') return { event: { kind: 'filtered', ...place } }
  // A POST without words says that it came, from whom and where. What a template makes nothing of is refused as empty.
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

/** Who speaks, where, and under which id: by the configuration, else by what the request says beside its body. */
function placeOf({ auth }: WebhookConfig, verified: VerifiedRequest, said: Said, now: number) {
  const { request } = verified
  const covered = signsBody(auth)
  const who = name(said.sender) ?? clean(verified.sender)
  const named = name(said.conversation) ?? (covered ? undefined : name(conversationOutside(request)))
  const thread = covered ? undefined : name(request.query.get('thread') ?? undefined)
  // The holder of the secret speaks for many: one noisy repository or host must not silence the others.
  const isHook = auth.kind !== 'sender' && name(said.sender) === undefined
  // Naming another conversation than one's own is speaking in a group: it has to be listed in access.groups.
  const elsewhere = auth.kind === 'sender' && named !== undefined && named !== who
  const key = keyOf(verified, said, covered)
  // There a key counts for its sender only: a stranger who guessed it would make the owner's message a repeat.
  const messageId = name(key && elsewhere ? `${encodeURIComponent(who)}:${key}` : key)
  return {
    conversation: named ?? who,
    ...defined({ thread }),
    chat: elsewhere ? ('group' as const) : ('direct' as const),
    sender: { id: who, ...defined({ name: name(said.author) }), ...(isHook ? BY_CONVERSATION : {}) },
    at: now,
    ...defined({ messageId }),
    // One event may be sent to several threads under one key: GitHub's delivery id is the event's.
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

/** The same body is taken once it comes without such names: its own key is not used up by what was refused. */
function refusedKey({ messageId }: { readonly messageId?: string | undefined }) {
  return defined({ messageId: messageId === undefined ? undefined : name(`outside:${messageId}`) })
}

/** The duplicate key. Of a signed body no id counts that the signature does not cover: a replay could bring a new one. */
function keyOf({ request, messageId }: VerifiedRequest, said: Said, covered: boolean): string | undefined {
  if (said.messageId !== '' && !(covered && said.unsignedId)) return said.messageId
  return messageId ?? (covered ? undefined : idHeader(request))
}

function idHeader(request: RawRequest): string | undefined {
  return ID_HEADERS.map((one) => header(request, one)).find((one) => one !== undefined && one !== '')
}

const ID_HEADERS = ['webhook-id', 'idempotency-key', 'x-github-delivery']

/** Senders that ask whether somebody is there, in a request that is signed like any other: null: it is none. */
function handshake({ auth }: WebhookConfig, body: string): string | null {
  if (auth.kind === 'sns') return /"Type"\s*:\s*"SubscriptionConfirmation"/.test(body) ? 'confirmed' : null
  if (!body.includes('"url_verification"') || body.length > 4_096) return null
  const asked = parseJson(body)
  const challenge = lookUp(asked, 'challenge')
  return lookUp(asked, 'type') === 'url_verification' && typeof challenge === 'string' ? challenge : null
}

/** No template shows a credential. */
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

/** As UTF-8, whatever it is called; else in the charset that its type names, as older senders mean it. */
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

/** U+0000 cannot be stored everywhere; the mark in its place shows that something was there. */
function clean(text: string): string {
  return text.includes('\0') ? text.replaceAll('\0', '\uFFFD') : text
}

/** One that is too long ends in a digest of the whole: cut alone, two names could become one. */
function name(value: string | undefined): string | undefined {
  if (value === undefined || value === '') return undefined
  const whole = clean(value)
  if (whole.length <= MAX_NAME) return whole
  const head = whole.slice(0, MAX_NAME - DIGEST_CHARS - 1).replace(/[\uD800-\uDBFF]$/, '')
  return `${head}~${hash('sha256', whole)}`
}
