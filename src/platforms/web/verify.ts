// Verifies requests to the web chat: a session cookie or a bearer, and an Origin that is our own. The cookie is
// SameSite=Strict, but cookies ignore ports. So Origin and Sec-Fetch-Site are checked too, and pages of other origins
// are refused.
import {
  type HttpReply,
  markVerified,
  type RawRequest,
  type TokenList,
  type VerifiedRequest,
} from '../../contract/index.ts'
import { SESSION_KIND, type WebConfig } from './config.ts'
import { errorReply } from './render.ts'

export interface Session {
  readonly token: string
  readonly sender: string
  readonly name: string | null
}

export interface WebVerifier {
  verify(request: RawRequest): Promise<VerifiedRequest | HttpReply>
  /** The session of a verified request; null only for `POST /session`, which has none yet. */
  sessionOf(request: VerifiedRequest): Session | null
  /** The session of a request's credential; null: it names none of this chat. */
  sessionIn(request: RawRequest): Promise<Session | null>
}

export function createWebVerifier(config: WebConfig, deps: { readonly tokens: TokenList }): WebVerifier {
  // Kept separately, because a VerifiedRequest carries only the sender.
  const sessions = new WeakMap<VerifiedRequest, Session>()
  const sessionIn: WebVerifier['sessionIn'] = async (request) => {
    const token = bearerOf(request) ?? cookieOf(request, sessionCookie(request))
    const row = token === null || token.length > 512 ? null : await deps.tokens.find(token)
    if (token === null || row?.kind !== SESSION_KIND || row.scope.integration !== config.integration) {
      return null
    }
    const { sender, name } = row.scope
    return sender === undefined || sender === '' ? null : { token, sender, name: name ?? null }
  }
  return {
    async verify(request) {
      const foreign = foreignPage(request, config.publicUrl)
      if (foreign !== null) return errorReply('forbidden', foreign)
      if (request.path === '/session') return markVerified(request, '')
      // A browser always sends its origin with a POST. Without an origin the cookie proves nothing about the page.
      const byCookie = bearerOf(request) === null
      if (byCookie && request.method !== 'GET' && header(request, 'origin') === null) {
        return errorReply('forbidden', 'the request names no Origin', 'send Origin, or use a bearer token')
      }
      const session = await sessionIn(request)
      if (session === null) {
        return errorReply(
          'unauthorized',
          'this browser has no session',
          'open a fresh link: switchboard link',
        )
      }
      const verified = markVerified(request, session.sender)
      sessions.set(verified, session)
      return verified
    },
    sessionIn,
    sessionOf: (request) => sessions.get(request) ?? null,
  }
}

/** Returns why the requesting page is not ours; null when it is, or when the client is no browser. */
function foreignPage(request: RawRequest, publicUrl: string | null): string | null {
  const site = header(request, 'sec-fetch-site')
  if (site !== null && site !== 'same-origin' && site !== 'none') return 'the request comes from another site'
  const origin = header(request, 'origin')
  if (origin === null) return null
  const host = header(request, 'host')
  const own = [
    ...(host === null ? [] : [`http://${host}`, `https://${host}`]),
    ...(publicUrl === null ? [] : [originOf(publicUrl)]),
  ]
  return own.includes(origin.toLowerCase()) ? null : 'the Origin is not this chat'
}

/** Whether the browser uses https, so that the cookie can require it. */
export function cameOverHttps(request: RawRequest): boolean {
  const origin = header(request, 'origin')
  if (origin !== null) return origin.startsWith('https://')
  return header(request, 'x-forwarded-proto')?.split(',')[0]?.trim() === 'https'
}

export function header(request: RawRequest, name: string): string | null {
  const value = request.headers[name]
  const first = Array.isArray(value) ? value[0] : value
  return first === undefined || first === '' ? null : name === 'host' ? first.toLowerCase() : first
}

/** Cookies ignore ports, so the name contains the port. Two daemons on one host then stay apart. */
export function sessionCookie(request: RawRequest): string {
  const port = /:(\d{1,5})$/.exec(header(request, 'host') ?? '')?.[1]
  return port === undefined ? 'swb_chat' : `swb_chat_${port}`
}

export function cookieOf(request: RawRequest, name: string): string | null {
  for (const pair of (header(request, 'cookie') ?? '').split(';')) {
    const at = pair.indexOf('=')
    if (at > 0 && pair.slice(0, at).trim() === name) return pair.slice(at + 1).trim() || null
  }
  return null
}

function bearerOf(request: RawRequest): string | null {
  const found = /^bearer +([^\s]+)$/i.exec(header(request, 'authorization') ?? '')
  return found?.[1] ?? null
}

function originOf(url: string): string {
  return URL.canParse(url) ? new URL(url).origin : ''
}
