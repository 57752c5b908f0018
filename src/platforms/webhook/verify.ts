// Verifies a webhook's sender: by a signature over the body, a shared secret, a certificate, or a header that only this
// machine may set.
import {
  type HttpReply,
  markVerified,
  type RawRequest,
  type RequestHead,
  type VerifiedRequest,
} from '../../contract/index.ts'
import { equalSecrets, sentByOtherSite, verifyStandard } from '../../kit/index.ts'
import type { Auth } from './auth.ts'
import type { WebhookConfig } from './config.ts'
import { challengeAnswer, forbidden, jsonError } from './render.ts'
import { hasSignature, verifyForm } from './signed-form.ts'
import type { SnsEndpoint } from './sns.ts'

/** The sender of everything with a shared secret, which proves the secret and not a person. */
const SECRET_SENDER = 'webhook'
export const LOOPBACK_SENDER = 'local'

export interface VerifyDeps {
  readonly now: () => number
  readonly sns: SnsEndpoint
}

/**
 * Returns the request with its sender, or the refusal. Wrong paths and methods are reported first, unless the path has
 * the secret.
 */
export function verifyRequest(
  config: WebhookConfig,
  request: RawRequest,
  deps: VerifyDeps,
): VerifiedRequest | HttpReply | Promise<VerifiedRequest | HttpReply> {
  const { auth } = config
  const path = pathBehind(auth, request)
  if (path === null || auth.kind === 'closed') return nothingHere()
  const asked = path === '' && request.method === 'GET' ? challenge(config, request) : null
  if (asked !== null) return asked
  const wrong = wrongPlace(config, path, request.method)
  if (wrong !== null) return wrong
  if (auth.kind === 'sns') return verifySns(auth, request, deps)
  if (auth.kind === 'sender') return verifyHeader(auth, request)
  if (auth.kind === 'loopback') return isLocal(request) ? markVerified(request, LOOPBACK_SENDER) : forbidden()
  const proven = prove(auth, request, deps.now())
  return proven === null ? unauthorized(auth) : markVerified(request, SECRET_SENDER, proven.messageId)
}

/** Whether the head is enough for a decision. A request without a signature is refused without reading its body. */
export function headDecides({ auth }: WebhookConfig, head: RequestHead): boolean {
  if (head.method !== 'POST') return true
  if (auth.kind === 'signed') return !hasSignature(auth.form, head)
  if (auth.kind === 'standard')
    return head.headers['webhook-signature'] === undefined && head.headers['svix-signature'] === undefined
  return auth.kind !== 'sns'
}

/** Returns the path without the secret in it; null: the secret is wrong. */
export function pathBehind(auth: Auth, { path }: RequestHead): string | null {
  if (auth.kind !== 'url') return path
  const [, given = '', rest] = /^\/([^/]*)(\/.*)?$/.exec(path) ?? []
  return auth.secrets.some((secret) => equalSecrets(decoded(given), secret)) ? (rest ?? '') : null
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    return ''
  }
}

function nothingHere(): HttpReply {
  return jsonError(404, 'not_found', 'there is nothing at this path')
}

function wrongPlace(config: WebhookConfig, path: string, method: string): HttpReply | null {
  const streams = path === '/events' && config.outward.kind === 'stream'
  if (path !== '' && !streams) return nothingHere()
  const takes = streams ? 'GET' : 'POST'
  if (method === takes) return null
  const reply = jsonError(405, 'method_not_allowed', `this path takes ${takes} only`)
  return { ...reply, headers: { ...reply.headers, allow: takes } }
}

/**
 * Some senders verify a URL once and expect their own text back. This promises nothing: their messages must still be
 * signed. A request with `hub.verify_token` must have ours.
 */
function challenge(config: WebhookConfig, { query }: RawRequest): HttpReply | null {
  const word = query.get('hub.challenge') ?? query.get('challenge')
  if (word === null || !/^[\x21-\x7e]{1,512}$/.test(word)) return null
  const token = query.get('hub.verify_token')
  if (token !== null && !config.verifyTokens.some((ours) => equalSecrets(token, ours))) return forbidden()
  return challengeAnswer(word)
}

/** Null: the proof is invalid. The id is one that the credential covers. */
function prove(
  auth: Exclude<Auth, { kind: 'sns' | 'sender' | 'loopback' | 'closed' }>,
  request: RawRequest,
  now: number,
): { readonly messageId?: string } | null {
  const any = (given: string | undefined) =>
    given !== undefined && auth.secrets.some((secret) => equalSecrets(given, secret)) ? {} : null
  switch (auth.kind) {
    case 'url':
      return {}
    case 'basic':
      return any(basicPair(request))
    case 'bearer':
      return any(bearerOf(request))
    case 'header':
      return any(header(request, auth.name))
    case 'plain':
      return any(header(request, 'x-webhook-secret') ?? bearerOf(request))
    default:
      // A GET has no body to sign, so watching the stream needs the secret itself.
      if (request.method === 'GET') return any(header(request, 'x-webhook-secret') ?? bearerOf(request))
      return auth.kind === 'signed' ? proveForm(auth, request, now) : proveStandard(auth, request, now)
  }
}

function proveForm(auth: Extract<Auth, { kind: 'signed' }>, request: RawRequest, now: number) {
  const verdict = verifyForm(auth.form, auth.keys, request, now)
  if (!verdict.ok) return null
  // Without a signed id, the signed text is the identity: the same signature under a new id is a replay.
  return { messageId: verdict.id ?? `signed:${verdict.digest}` }
}

function proveStandard(auth: Extract<Auth, { kind: 'standard' }>, request: RawRequest, nowMs: number) {
  const { headers, body } = request
  const verdict = verifyStandard(auth.keys, { headers, body, nowMs, toleranceMs: auth.toleranceMs })
  return verdict.ok ? { messageId: verdict.id } : null
}

async function verifySns(
  auth: Extract<Auth, { kind: 'sns' }>,
  request: RawRequest,
  { sns }: VerifyDeps,
): Promise<VerifiedRequest | HttpReply> {
  const message = await sns.verify(auth, request.body)
  if (message === null) return unauthorized(auth)
  if (message.type === 'SubscriptionConfirmation' && !(await sns.confirm(message)))
    return jsonError(503, 'platform_unavailable', 'the subscription could not be confirmed; send it again')
  return markVerified(request, SECRET_SENDER, message.id)
}

function bearerOf(request: RequestHead): string | undefined {
  return /^Bearer +([^ ].*)$/i.exec(header(request, 'authorization') ?? '')?.[1]
}

function basicPair(request: RequestHead): string | undefined {
  const given = /^Basic +([A-Za-z0-9+/]+={0,2})$/i.exec(header(request, 'authorization') ?? '')?.[1]
  return given === undefined ? undefined : Buffer.from(given, 'base64').toString('utf8')
}

/**
 * Whether the request comes from this machine, and not from another site's page in a browser. Such a page can reach
 * loopback, but it cannot hide its origin or use our host name.
 */
function isLocal(request: RawRequest): boolean {
  return request.fromLoopback && !sentByOtherSite(request.headers)
}

function verifyHeader(
  auth: Extract<Auth, { kind: 'sender' }>,
  request: RawRequest,
): VerifiedRequest | HttpReply {
  if (!auth.behindProxy && !request.fromLoopback) return forbidden()
  if (sentByOtherSite(request.headers)) return forbidden()
  const sender = header(request, auth.header)
  return sender === undefined || sender === '' ? forbidden() : markVerified(request, sender)
}

/** Returns a header as UTF-8; Node gives the bytes as Latin-1. Two different values count as none. */
export function header(request: RequestHead, name: string): string | undefined {
  const value = request.headers[name]
  if (typeof value !== 'string') return undefined
  if (/^[\0-\x7f]*$/.test(value)) return value.trim()
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(value, 'latin1')).trim()
  } catch {
    return value.trim()
  }
}

const ASKED_FOR: Readonly<Record<string, string>> = {
  standard: 'webhook-signature',
  basic: 'Authorization: Basic',
  bearer: 'Authorization: Bearer',
  plain: 'X-Webhook-Secret',
  sns: 'SNS signature of a listed topic',
}

function unauthorized(auth: Auth): HttpReply {
  const named = auth.kind === 'signed' ? auth.form.header : auth.kind === 'header' ? auth.name : null
  const what = named?.replace(/(^|-)[a-z]/g, (letter) => letter.toUpperCase()) ?? ASKED_FOR[auth.kind] ?? ''
  const reply = jsonError(401, 'unauthorized', `the credential (${what}) is missing, wrong or out of date`)
  if (auth.kind !== 'basic') return reply
  return { ...reply, headers: { ...reply.headers, 'www-authenticate': 'Basic realm="hook"' } }
}
