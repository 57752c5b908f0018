// How a browser's session under /chat begins and ends. A ticket is used once, and a cookie replaces it.
import { defined, type HttpReply, type RawRequest } from '../../contract/index.ts'
import { wordsIn } from '../../words/index.ts'
import { SESSION_KIND, SESSION_TTL_MS, TICKET_KIND, type WebConfig, type WebDeps } from './config.ts'
import { parseJson, parseTicket } from './parse.ts'
import { errorReply, jsonReply } from './render.ts'
import { cameOverHttps, header, type Session, sessionCookie, type WebVerifier } from './verify.ts'
import type { Windows } from './windows.ts'

export interface SignIn {
  enter(request: RawRequest): Promise<HttpReply>
  leave(request: RawRequest, session: Session): Promise<HttpReply>
}

export function createSignIn(
  config: WebConfig,
  parts: { readonly deps: WebDeps; readonly windows: Windows; readonly verifier: WebVerifier },
): SignIn {
  const { windows, verifier } = parts
  const { tokens } = parts.deps

  /** A ticket opens one session. Its kind is checked before it is used up, so another kind of token is not burnt. */
  async function enter(request: RawRequest): Promise<HttpReply> {
    const ticket = parseTicket(parseJson(request.body, header(request, 'content-type')))
    const seen = await tokens.find(ticket)
    const right = seen?.kind === TICKET_KIND && seen.scope.integration === config.integration
    const used = right ? await tokens.consume(ticket) : null
    const { staleLink } = wordsIn().page
    if (used === null)
      return errorReply('gone', staleLink.message, staleLink.hint({ command: 'switchboard link' }))
    const sender = used.scope.sender || 'owner'
    const name = used.scope.name
    const minted = await tokens.mint({
      kind: SESSION_KIND,
      scope: { integration: config.integration, sender, ...defined({ name }) },
      ttlMs: SESSION_TTL_MS,
    })
    await endReplaced(request)
    return jsonReply(
      200,
      { ok: true, sender },
      { 'set-cookie': cookie(request, minted.token, SESSION_TTL_MS / 1_000) },
    )
  }

  /** The new cookie replaces the old one. The old session is ended, because no cookie for its sign-out is left. */
  async function endReplaced(request: RawRequest): Promise<void> {
    const session = await verifier.sessionIn(request)
    if (session === null) return
    await tokens.consume(session.token)
    await windows.recheck(session.sender)
  }

  return {
    enter,
    async leave(request, session) {
      await tokens.consume(session.token)
      await windows.recheck(session.sender)
      return jsonReply(200, { ok: true }, { 'set-cookie': cookie(request, '', 0) })
    },
  }
}

function cookie(request: RawRequest, value: string, maxAgeSeconds: number): string {
  const secure = cameOverHttps(request) ? '; Secure' : ''
  return `${sessionCookie(request)}=${value}; Path=/; HttpOnly; SameSite=Strict; Max-Age=${maxAgeSeconds}${secure}`
}
