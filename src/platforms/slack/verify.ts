// Verifies requests of the Events API: Slack's v0 signature over time and body, compared in constant time, and at most
// five minutes old or ahead.
import { createHmac, timingSafeEqual } from 'node:crypto'
import { type HttpReply, markVerified, type RawRequest, type VerifiedRequest } from '../../contract/index.ts'

const MAX_SKEW_MS = 5 * 60_000

export function verifyRequest(
  { signingSecret, now }: { readonly signingSecret: string | null; readonly now: number },
  request: RawRequest,
): VerifiedRequest | HttpReply {
  if (request.path !== '' || signingSecret === null) return refusal(404, 'not_found')
  if (request.method !== 'POST') return { ...refusal(405, 'method_not_allowed'), headers: { allow: 'POST' } }
  const timestamp = request.headers['x-slack-request-timestamp']
  const signature = request.headers['x-slack-signature']
  if (typeof timestamp !== 'string' || typeof signature !== 'string') return refusal(401, 'unauthorized')
  if (!/^\d{1,12}$/.test(timestamp) || Math.abs(now - Number(timestamp) * 1_000) > MAX_SKEW_MS)
    return refusal(401, 'unauthorized')
  if (!/^v0=[0-9a-f]{64}$/.test(signature)) return refusal(401, 'unauthorized')
  const expected = createHmac('sha256', signingSecret)
    .update(`v0:${timestamp}:`)
    .update(request.body)
    .digest()
  if (!timingSafeEqual(Buffer.from(signature.slice(3), 'hex'), expected)) return refusal(401, 'unauthorized')
  return markVerified(request, 'slack')
}

function refusal(status: number, code: string): HttpReply {
  return {
    status,
    headers: { 'content-type': 'application/json; charset=utf-8' },
    body: JSON.stringify({ ok: false, error: code }),
  }
}
