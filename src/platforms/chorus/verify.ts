// Checks a request whose URL secret was already found: its method, and with `verify` its address and its token.
import { type HttpReply, markVerified, type RawRequest, type VerifiedRequest } from '../../contract/index.ts'
import type { JwtVerdict } from '../../kit/index.ts'
import type { ChorusConfig } from './config.ts'
import { jsonReply } from './render.ts'

/** `judgeToken`: null if no token is required. */
export function verifyRequest(
  config: Pick<ChorusConfig, 'id' | 'identity' | 'mayCome'>,
  request: RawRequest,
  judgeToken: ((token: string) => Promise<JwtVerdict>) | null,
): VerifiedRequest | HttpReply | Promise<VerifiedRequest | HttpReply> {
  const takes = config.identity ? ['POST', 'GET'] : ['POST']
  if (!takes.includes(request.method)) {
    const error = `this path takes ${takes.join(' and ')} only`
    return jsonReply(405, { ok: false, code: 'method_not_allowed', error }, { allow: takes.join(', ') })
  }
  if (config.mayCome?.(request.address ?? null) === false)
    return jsonReply(403, {
      ok: false,
      code: 'forbidden',
      error: 'deliveries from this address are not taken',
    })
  const verified = markVerified(request, config.id)
  if (judgeToken === null) return verified
  return tokenProblem(request, judgeToken).then((problem) =>
    problem === null ? verified : unauthorized(problem),
  )
}

async function tokenProblem(
  { headers }: RawRequest,
  judgeToken: (token: string) => Promise<JwtVerdict>,
): Promise<string | null> {
  const { authorization } = headers
  const token = /^Bearer +([^ ]+)$/i.exec(typeof authorization === 'string' ? authorization : '')?.[1]
  if (token === undefined) return 'a signed JWT is needed here, as Authorization: Bearer'
  const verdict = await judgeToken(token)
  return verdict.ok ? null : `the JWT does not count: ${verdict.problem}`
}

function unauthorized(error: string): HttpReply {
  return jsonReply(401, { ok: false, code: 'unauthorized', error }, { 'www-authenticate': 'Bearer' })
}
