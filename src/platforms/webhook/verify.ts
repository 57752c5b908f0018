// Who sends to a webhook: a signature over the body, a shared secret, or a header that only this machine may set.
import {
  type HttpReply,
  markVerified,
  type RawRequest,
  type RequestHead,
  type VerifiedRequest,
} from '../../contract/index.ts'
import { equalSecrets, sentByOtherSite, verifySha256 } from '../../kit/index.ts'
import type { Credential, WebhookConfig } from './config.ts'
import { forbidden, jsonError } from './render.ts'

/** The sender of everything that a shared secret vouches for: it proves the secret, not a person. */
const SECRET_SENDER = 'webhook'

/** The request with its sender, or the refusal. Paths and methods are told first: they are no secret. */
export function verifyRequest(config: WebhookConfig, request: RawRequest): VerifiedRequest | HttpReply {
  const wrong = wrongPlace(config, request)
  if (wrong !== null) return wrong
  const { credential } = config
  if (credential.kind === 'header') return verifyHeader(credential, request)
  return holdsSecret(credential, request) ? markVerified(request, SECRET_SENDER) : unauthorized(credential)
}

/** Only a signature over the body needs it; a request that brings none is refused without. */
export function headDecides({ credential }: WebhookConfig, head: RequestHead): boolean {
  if (credential.kind !== 'github' || head.method !== 'POST') return true
  return !/^sha256=[0-9a-f]{64}$/i.test(header(head, 'x-hub-signature-256') ?? '')
}

function wrongPlace(config: WebhookConfig, request: RawRequest): HttpReply | null {
  const streams = request.path === '/events' && config.outward.kind === 'stream'
  if (request.path !== '' && !streams) return jsonError(404, 'not_found', 'there is nothing at this path')
  const takes = streams ? 'GET' : 'POST'
  if (request.method === takes) return null
  const reply = jsonError(405, 'method_not_allowed', `this path takes ${takes} only`)
  return { ...reply, headers: { ...reply.headers, allow: takes } }
}

function holdsSecret(credential: Extract<Credential, { secret: string }>, request: RawRequest): boolean {
  // A GET has no body to sign: watching the stream takes the secret itself.
  if (credential.kind === 'github' && request.method === 'POST') {
    return verifySha256(credential.key, request.body, header(request, 'x-hub-signature-256') ?? '')
  }
  const bearer = /^Bearer +(.+)$/i.exec(header(request, 'authorization') ?? '')?.[1]
  const given = header(request, 'x-webhook-secret') ?? bearer
  return given !== undefined && equalSecrets(given, credential.secret)
}

/**
 * The header is believed from this machine only, and never from a browser that another site's page is using: such a
 * page can reach loopback, but it cannot hide its origin or come under our name.
 */
function verifyHeader(
  credential: Extract<Credential, { kind: 'header' }>,
  request: RawRequest,
): VerifiedRequest | HttpReply {
  if (!credential.behindProxy && !request.fromLoopback) return forbidden()
  if (sentByOtherSite(request.headers)) return forbidden()
  const sender = header(request, credential.header)
  return sender === undefined || sender === '' ? forbidden() : markVerified(request, sender)
}

/** One header as UTF-8 text; Node hands the bytes over as Latin-1. Sent twice with two values, it is no header. */
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

function unauthorized(credential: Credential): HttpReply {
  const what = credential.kind === 'github' ? 'X-Hub-Signature-256' : 'X-Webhook-Secret'
  return jsonError(401, 'unauthorized', `the credential (${what}) is missing or wrong`)
}
