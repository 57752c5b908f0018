// Verifies a request of Telegram's webhook: the secret token in its header, compared in constant time before the body
// is read.
import { type HttpReply, markVerified, type RawRequest, type VerifiedRequest } from '../../contract/index.ts'
import { equalSecrets } from '../../kit/index.ts'
import type { TelegramConfig } from './config.ts'

const HEADER = 'x-telegram-bot-api-secret-token'

export function verifyRequest(config: TelegramConfig, request: RawRequest): VerifiedRequest | HttpReply {
  if (request.path !== '' || config.webhook === null) return refusal(404, 'not_found')
  if (request.method !== 'POST') return { ...refusal(405, 'method_not_allowed'), headers: { allow: 'POST' } }
  const given = request.headers[HEADER]
  if (typeof given !== 'string' || !equalSecrets(given, config.webhook.secret)) {
    return refusal(401, 'unauthorized')
  }
  return markVerified(request, 'telegram')
}

function refusal(status: number, code: string): HttpReply {
  return {
    status,
    headers: { 'content-type': 'application/json; charset=utf-8' },
    body: JSON.stringify({ ok: false, error: code }),
  }
}
