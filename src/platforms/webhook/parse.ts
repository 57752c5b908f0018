// From a verified POST to an event: the body as it is, or what the configuration makes of it.
import { hash } from 'node:crypto'
import { defined, type InboundEvent, type RawRequest, type VerifiedRequest } from '../../contract/index.ts'
import { versionOf } from '../../kit/index.ts'
import { signsBody } from './auth.ts'
import type { WebhookConfig } from './config.ts'
import { lookUp, structured } from './structure.ts'
import { header, pathBehind } from './verify.ts'

/** Longest conversation, thread or message id that is kept as it is; the rest is somebody filling the store. */
const MAX_NAME = 256
const DIGEST_CHARS = 64

/** Never throws: what does not parse is an event of its own, so that it is recorded. */
export function parseRequest(config: WebhookConfig, verified: VerifiedRequest, now: number): InboundEvent {
  const { request, sender } = verified
  const named = name(header(request, 'x-conversation') ?? request.query.get('conversation') ?? undefined)
  const thread = name(request.query.get('thread') ?? undefined)
  const who = clean(sender)
  // Naming another conversation than one's own is speaking in a group: it has to be listed in access.groups.
  const elsewhere = config.auth.kind === 'sender' && named !== undefined && named !== who
  const key = idOf(verified)
  // There a key counts for its sender only: a stranger who guessed it would make the owner's message a repeat.
  const messageId = name(key && elsewhere ? `${encodeURIComponent(who)}:${key}` : key)
  const place = {
    conversation: named ?? who,
    ...defined({ thread }),
    chat: elsewhere ? 'group' : 'direct',
    sender: { id: who },
    at: now,
    ...defined({ messageId }),
    // One event may be sent to several threads under one key: GitHub's delivery id is the event's.
    ...(messageId === undefined || thread === undefined ? {} : { editVersion: versionOf(thread) }),
  } as const
  // What stands outside of a signature is said by whoever sends it, perhaps for the second time: it moves nothing.
  if (signsBody(config.auth) && (named !== undefined || thread !== undefined))
    return { kind: 'unparsable', ...place, conversation: who, problem: OUTSIDE }
  const body = decode(request.body)
  if (body === null) return { kind: 'unparsable', ...place, problem: 'the body is not valid UTF-8' }
  const text = config.template === null ? body : fillTemplate(config.template, body, request)
  if (text === null)
    return { kind: 'unparsable', ...place, problem: 'the template needs a JSON or form body' }
  return { kind: 'message', ...place, text: clean(text), mentioned: true, meta: metaOf(config, request) }
}

const OUTSIDE =
  'a signed body counts only for the conversation that the configuration names ("conversation"), not for one in the URL or in a header'

/** The id that the credential covers, else one that the sender gives. */
function idOf({ request, messageId }: VerifiedRequest): string | undefined {
  if (messageId !== undefined) return messageId
  return ID_HEADERS.map((one) => header(request, one)).find((one) => one !== undefined && one !== '')
}

const ID_HEADERS = ['webhook-id', 'idempotency-key', 'x-github-delivery']

function metaOf(config: WebhookConfig, request: RawRequest): Record<string, string> {
  const event = header(request, 'x-github-event')
  const path = `/hooks/${encodeURIComponent(config.id)}${pathBehind(config.auth, request) ?? ''}`
  return {
    path,
    method: request.method,
    ...(event === undefined ? {} : { event: clean(event).slice(0, MAX_NAME) }),
  }
}

const utf8 = new TextDecoder('utf-8', { fatal: true })

function decode(body: Uint8Array): string | null {
  try {
    return utf8.decode(body)
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

/** `{{a.b.0}}` filled from the body; null when the body has no structure to look into. */
function fillTemplate(template: string, body: string, request: RawRequest): string | null {
  const data = structured(body, header(request, 'content-type') ?? '')
  if (data === undefined) return null
  return template.replace(/\{\{\s*([^{}]*?)\s*\}\}/g, (_, path: string) => shown(lookUp(data, path)))
}

function shown(value: unknown): string {
  if (value === undefined || value === null) return ''
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}
