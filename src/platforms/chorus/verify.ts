// The secret was looked up before a request comes here; what is left to check is how it asks.
import { type HttpReply, markVerified, type RawRequest, type VerifiedRequest } from '../../contract/index.ts'
import type { ChorusConfig } from './config.ts'
import { jsonReply } from './render.ts'

export function verifyRequest(config: ChorusConfig, request: RawRequest): VerifiedRequest | HttpReply {
  const takes = config.identity ? ['POST', 'GET'] : ['POST']
  if (takes.includes(request.method)) return markVerified(request, config.id)
  const error = `this path takes ${takes.join(' and ')} only`
  return jsonReply(405, { ok: false, code: 'method_not_allowed', error }, { allow: takes.join(', ') })
}
