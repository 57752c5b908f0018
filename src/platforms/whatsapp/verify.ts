// The webhook of WhatsApp: Meta's verification request with the verify token, and posts with a signature of the app
// secret over their bytes, compared in constant time.
import type { KeyObject } from 'node:crypto'
import { type HttpReply, markVerified, type RawRequest, type VerifiedRequest } from '../../contract/index.ts'
import { equalSecrets, verifySha256 } from '../../kit/index.ts'

const MOST_CHALLENGE = 500

export interface EndpointKeys {
  readonly appSecret: KeyObject
  readonly verifyToken: string
}

export function verifyRequest(keys: EndpointKeys, request: RawRequest): VerifiedRequest | HttpReply {
  if (request.path !== '') return refusal(404, 'not_found')
  if (request.method === 'GET') return answerQuestion(keys, request)
  if (request.method !== 'POST')
    return { ...refusal(405, 'method_not_allowed'), headers: { allow: 'GET, POST' } }
  const signature = request.headers['x-hub-signature-256']
  if (typeof signature !== 'string' || !verifySha256(keys.appSecret, request.body, signature))
    return refusal(401, 'unauthorized')
  return markVerified(request, 'whatsapp')
}

/** Returns the challenge as plain text. */
function answerQuestion({ verifyToken }: EndpointKeys, { query }: RawRequest): HttpReply {
  const challenge = query.get('hub.challenge') ?? ''
  const given = query.get('hub.verify_token') ?? ''
  if (query.get('hub.mode') !== 'subscribe' || !equalSecrets(given, verifyToken))
    return refusal(403, 'forbidden')
  return {
    status: 200,
    headers: { 'content-type': 'text/plain; charset=utf-8', 'x-content-type-options': 'nosniff' },
    body: challenge.slice(0, MOST_CHALLENGE),
  }
}

function refusal(status: number, code: string): HttpReply {
  return {
    status,
    headers: { 'content-type': 'application/json; charset=utf-8' },
    body: JSON.stringify({ ok: false, error: code }),
  }
}
