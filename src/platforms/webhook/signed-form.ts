// A signature over a request, as data: which header contains it, what is signed, and with which time and id. The forms
// of known senders are written like a custom one.
import {
  createHmac,
  hash,
  type KeyObject,
  sign as signBytes,
  timingSafeEqual,
  verify as verifyBytes,
} from 'node:crypto'
import type { RawRequest, RequestHead } from '../../contract/index.ts'
import { lookUp, parseJson } from './structure.ts'

/** Where a time or an id is: a header (or its part after a prefix), or a field of the body. */
export interface Where {
  readonly header?: string | undefined
  readonly prefix?: string | undefined
  readonly field?: string | undefined
}

export interface SignedForm {
  readonly header: string
  readonly prefix: string
  /** The separator of several signatures in one header; null: there is one. */
  readonly separator: string | null
  readonly encoding: 'hex' | 'base64'
  readonly hash: 'sha1' | 'sha256' | 'sha512' | 'ed25519'
  /** The signed text, with the placeholders {body}, {timestamp} and {id}. */
  readonly signed: string
  readonly timestamp: (Where & { readonly unit: 's' | 'ms' | 'iso' }) | null
  readonly id: Where | null
  readonly toleranceMs: number
}

const PLAIN: SignedForm = {
  header: 'x-signature',
  prefix: '',
  separator: null,
  encoding: 'hex',
  hash: 'sha256',
  signed: '{body}',
  timestamp: null,
  id: null,
  toleranceMs: 300_000,
}

export const formOf = (parts: Partial<SignedForm>): SignedForm => ({ ...PLAIN, ...parts })

const HUB = formOf({ header: 'x-hub-signature', prefix: 'sha256=' })
const GITHUB = formOf({ header: 'x-hub-signature-256', prefix: 'sha256=' })

/** The documented forms of senders, by their name in `auth`. */
export const NAMED_FORMS = {
  github: GITHUB,
  gitea: GITHUB,
  bitbucket: HUB,
  jira: HUB,
  slack: formOf({
    header: 'x-slack-signature',
    prefix: 'v0=',
    signed: 'v0:{timestamp}:{body}',
    timestamp: { header: 'x-slack-request-timestamp', unit: 's' },
  }),
  stripe: formOf({
    header: 'stripe-signature',
    prefix: 'v1=',
    separator: ',',
    signed: '{timestamp}.{body}',
    timestamp: { header: 'stripe-signature', prefix: 't=', unit: 's' },
  }),
  shopify: formOf({ header: 'x-shopify-hmac-sha256', encoding: 'base64' }),
  linear: formOf({
    header: 'linear-signature',
    timestamp: { field: 'webhookTimestamp', unit: 'ms' },
    toleranceMs: 60_000,
  }),
  sentry: formOf({ header: 'sentry-hook-signature' }),
  pagerduty: formOf({ header: 'x-pagerduty-signature', prefix: 'v1=', separator: ',' }),
} as const satisfies Record<string, SignedForm>

/** The default for Ed25519: as Discord signs its interactions. */
export const ED25519_FORM = formOf({
  header: 'x-signature-ed25519',
  hash: 'ed25519',
  signed: '{timestamp}{body}',
  timestamp: { header: 'x-signature-timestamp', unit: 's' },
})

/** The most signatures that are checked. More would be work for a stranger. */
const MOST_SIGNATURES = 16
const MOST_PARTS = 64

export type FormVerdict =
  | {
      readonly ok: true
      readonly id: string | null
      /** A digest of the signed text: the same for every signature over it, with any key. */
      readonly digest: string
    }
  | { readonly ok: false }

const NO: FormVerdict = { ok: false }

/** Whether one of the keys signed this request, now. Never throws, for any request. */
export function verifyForm(
  form: SignedForm,
  keys: readonly KeyObject[],
  request: RawRequest,
  now: number,
): FormVerdict {
  const given = signaturesIn(form, request)
  if (given.length === 0) return NO
  // The fields are read before the signature is checked, because they may be signed. They are not used before that.
  const body = needsBody(form) ? parseJson(Buffer.from(request.body).toString('utf8')) : undefined
  const timestamp = form.timestamp === null ? null : valueAt(form.timestamp, request, body)
  const id = form.id === null ? null : valueAt(form.id, request, body)
  if (timestamp === undefined || id === undefined || slides(form, timestamp, id)) return NO
  const signed = signedPart(form.signed, { timestamp: timestamp ?? '', id: id ?? '', body: request.body })
  if (!given.some((signature) => keys.some((key) => isSignedBy(form, key, signed, signature)))) return NO
  if (form.timestamp !== null && !isNow(timestamp ?? '', form.timestamp.unit, now, form.toleranceMs))
    return NO
  return { ok: true, id: isCovered(form) ? id : null, digest: hash('sha256', signed, 'base64url') }
}

/** Whether the same signed text could be divided differently. */
function slides(
  { signed, timestamp: spot }: SignedForm,
  timestamp: string | null,
  id: string | null,
): boolean {
  const pieces = signed.split('{id}')
  const before = pieces.slice(0, -1).map((piece) => piece.slice(piece.lastIndexOf('}') + 1))
  const behind = pieces.slice(1).map((piece) => piece.split('{', 1)[0])
  const borders = [...before, ...behind]
  if (borders.some((border) => border && id?.includes(border))) return true
  const fraction = spot !== null && spot.unit !== 'iso' && (timestamp ?? '').includes('.')
  return fraction && /\.\{timestamp\}|\{timestamp\}(?:\.|\{)/.test(signed)
}

/** Whether the id is signed. An unsigned id can be changed in a replay. */
function isCovered({ id, signed }: SignedForm): boolean {
  return id !== null && (id.field !== undefined || signed.includes('{id}'))
}

/** Whether the head contains a signature. Without one, the body need not be read. */
export function hasSignature(form: SignedForm, head: RequestHead): boolean {
  return signaturesIn(form, head).length > 0
}

export interface SignedHeaders {
  readonly [name: string]: string
}

/** Returns the headers that a sender of this form would send. The body must contain the fields of the form. */
export function signForm(
  form: SignedForm,
  key: KeyObject,
  { body, now, id }: { readonly body: Uint8Array; readonly now: number; readonly id: string },
): SignedHeaders {
  const at = form.timestamp
  const data = needsBody(form) ? parseJson(Buffer.from(body).toString('utf8')) : undefined
  const timestamp =
    at === null ? '' : at.field === undefined ? timeText(now, at.unit) : textAt(data, at.field)
  const named = form.id?.field === undefined ? id : textAt(data, form.id.field)
  const signed = signedPart(form.signed, { timestamp, id: named, body })
  const bytes =
    form.hash === 'ed25519'
      ? signBytes(null, signed, key)
      : createHmac(form.hash, key).update(signed).digest()
  const headers: Record<string, string> = {}
  const put = (name: string, value: string) => {
    headers[name] = headers[name] === undefined ? value : `${headers[name]}${form.separator ?? ','}${value}`
  }
  if (at?.header !== undefined) put(at.header, (at.prefix ?? '') + timestamp)
  if (form.id?.header !== undefined) put(form.id.header, (form.id.prefix ?? '') + id)
  put(form.header, form.prefix + bytes.toString(form.encoding))
  return headers
}

function needsBody(form: SignedForm): boolean {
  return form.timestamp?.field !== undefined || form.id?.field !== undefined
}

function signaturesIn(form: SignedForm, head: RequestHead): readonly Buffer[] {
  const value = oneHeader(head, form.header)
  if (value === undefined) return []
  const found: Buffer[] = []
  let looked = 0
  for (const part of partsOf(value, form.separator)) {
    if (!part.startsWith(form.prefix)) continue
    if (++looked > MOST_SIGNATURES) break
    const bytes = decoded(part.slice(form.prefix.length), form.encoding)
    if (bytes !== null) found.push(bytes)
  }
  return found
}

function partsOf(value: string, separator: string | null): readonly string[] {
  if (separator === null) return [value.trim()]
  return value.split(separator, MOST_PARTS).map((part) => part.trim())
}

/** Null unless it is well-formed: Node ignores invalid characters. */
function decoded(text: string, encoding: 'hex' | 'base64'): Buffer | null {
  const wellFormed =
    encoding === 'hex'
      ? text.length % 2 === 0 && /^[0-9a-fA-F]{2,512}$/.test(text)
      : text.length % 4 === 0 && text.length <= 512 && /^[A-Za-z0-9+/]+={0,2}$/.test(text)
  return wellFormed ? Buffer.from(text, encoding) : null
}

function isSignedBy(form: SignedForm, key: KeyObject, signed: Uint8Array, given: Buffer): boolean {
  if (form.hash === 'ed25519') return given.length === 64 && verifyBytes(null, signed, key, given)
  const expected = createHmac(form.hash, key).update(signed).digest()
  return given.length === expected.length && timingSafeEqual(given, expected)
}

function signedPart(
  pattern: string,
  parts: { readonly timestamp: string; readonly id: string; readonly body: Uint8Array },
): Uint8Array {
  if (pattern === '{body}') return parts.body
  const pieces = pattern.split(/(\{(?:body|timestamp|id)\})/)
  return Buffer.concat(
    pieces.map((piece) => {
      if (piece === '{body}') return parts.body
      if (piece === '{timestamp}') return Buffer.from(parts.timestamp)
      return Buffer.from(piece === '{id}' ? parts.id : piece)
    }),
  )
}

/** Undefined: it is absent, or present twice. */
function valueAt(where: Where, head: RequestHead, body: unknown): string | undefined {
  if (where.field !== undefined) return textAt(body, where.field) || undefined
  const value = where.header === undefined ? undefined : oneHeader(head, where.header)
  if (value === undefined || where.prefix === undefined || where.prefix === '') return value || undefined
  const { prefix } = where
  const found = partsOf(value, ',').filter((part) => part.startsWith(prefix))
  return found.length === 1 ? found[0]?.slice(prefix.length) : undefined
}

function textAt(body: unknown, field: string): string {
  const value = lookUp(body, field)
  return typeof value === 'string' || typeof value === 'number' ? String(value) : ''
}

function isNow(text: string, unit: 's' | 'ms' | 'iso', now: number, toleranceMs: number): boolean {
  if (unit !== 'iso' && !/^\d{1,16}(?:\.\d{1,9})?$/.test(text)) return false
  if (unit === 'iso' && !/^\d{4}-\d\d-\d\dT[\d:.]{5,20}(?:Z|[+-]\d\d:?\d\d)$/i.test(text)) return false
  const at = unit === 'iso' ? Date.parse(text) : Number(text) * (unit === 's' ? 1000 : 1)
  return Number.isFinite(at) && Math.abs(now - at) <= toleranceMs
}

function timeText(now: number, unit: 's' | 'ms' | 'iso'): string {
  if (unit === 'iso') return new Date(now).toISOString()
  return String(unit === 's' ? Math.floor(now / 1000) : now)
}

/** Returns the header as it was sent. A repeated one, as far as Node shows it, counts as absent. */
function oneHeader(head: RequestHead, name: string): string | undefined {
  const value = head.headers[name]
  return typeof value === 'string' && value.length <= 8_192 ? value : undefined
}
