// The console's sign-in: a one-time ticket becomes an HttpOnly cookie, and the cookie names the principal of `/api` and
// `/events`. Cookies ignore ports, so the cookie's name contains the browser's port. A page on another port of this
// machine counts as the same site, so Origin and Sec-Fetch-Site are checked too.
import type { IncomingMessage } from 'node:http'
import { ACTIONS, type HttpReply, type Principal, SwitchboardError } from '../contract/index.ts'
import { wordsIn } from '../words/index.ts'
import type { ServerDeps } from './deps.ts'
import { errorReply, json, methodNotAllowed, notFound } from './reply.ts'

/** Longer than any token of ours. */
const MOST_CHARS = 512

function cookieName(request: IncomingMessage): string {
  const port = /:(\d{1,5})$/.exec(request.headers.host ?? '')?.[1]
  return port === undefined ? 'swb_console' : `swb_console_${port}`
}

export function sessionIn(request: IncomingMessage): string | null {
  const wanted = cookieName(request)
  for (const pair of (request.headers.cookie ?? '').split(';')) {
    const at = pair.indexOf('=')
    if (at < 1 || pair.slice(0, at).trim() !== wanted) continue
    const value = pair.slice(at + 1).trim()
    return value === '' || value.length > MOST_CHARS ? null : value
  }
  return null
}

/** Returns the cookie's principal, or null. Throws `forbidden` if another page sent the cookie. */
export async function consolePrincipal(
  deps: Pick<ServerDeps, 'console'>,
  request: IncomingMessage,
): Promise<Principal | null> {
  const session = sessionIn(request)
  if (session === null || deps.console === undefined) return null
  demandOwnPage(request)
  return deps.console.who(session)
}

/** The Origin was compared before. Here it must be present, because a cookie proves nothing about the page. */
function demandOwnPage(request: IncomingMessage): void {
  const site = request.headers['sec-fetch-site']
  const isRead = request.method === 'GET' || request.method === 'HEAD'
  if (site !== undefined && site !== 'same-origin' && site !== 'none')
    throw new SwitchboardError('forbidden', 'the request comes from a page of another site')
  if (!isRead && request.headers.origin === undefined)
    throw new SwitchboardError('forbidden', 'the request names no Origin', {
      hint: 'send Origin, or use a bearer token',
    })
}

/** Answers the routes below `/console/`: `session`, `me` and `logout`. */
export async function consoleReply(
  deps: ServerDeps,
  request: IncomingMessage,
  path: string,
  body: Buffer,
): Promise<HttpReply> {
  const context = deps.console
  if (context === undefined) return notFound()
  const wanted = METHODS[path]
  if (wanted === undefined) return notFound()
  if (request.method !== wanted) return methodNotAllowed(wanted)
  if (path === '/console/session') {
    demandOwnPage(request)
    const entered = await context.enter(ticketIn(request, body), sessionIn(request))
    if (entered === null) {
      const { message, hint } = wordsIn().page.staleLink
      return errorReply(
        new SwitchboardError('gone', message, { hint: hint({ command: 'switchboard console' }) }),
      )
    }
    return json(200, { ok: true }, cookie(request, entered.token, Math.floor(entered.lifeMs / 1_000)))
  }
  const principal = await consolePrincipal(deps, request)
  if (principal === null)
    throw new SwitchboardError('unauthorized', 'this browser is not signed in', {
      hint: 'open a fresh link: switchboard console',
    })
  if (path === '/console/me') return json(200, meView(deps, principal), { 'cache-control': 'no-store' })
  await context.leave(sessionIn(request) ?? '')
  return json(200, { ok: true }, cookie(request, '', 0))
}

const METHODS: Readonly<Record<string, 'GET' | 'POST'>> = {
  '/console/session': 'POST',
  '/console/me': 'GET',
  '/console/logout': 'POST',
}

/** Uses the same check as every route, so that the page offers exactly what is allowed. */
function meView({ authorize }: ServerDeps, principal: Principal) {
  const on = { kind: 'gateway' } as const
  return {
    user: principal.id,
    roles: principal.kind === 'user' ? principal.roles : [],
    may: ACTIONS.filter((action) => authorize(principal, action, on).allowed),
  }
}

function ticketIn(request: IncomingMessage, body: Buffer): string {
  const type = request.headers['content-type']?.split(';')[0]?.trim().toLowerCase()
  if (type !== 'application/json')
    throw new SwitchboardError('unsupported_media', 'the body must be application/json')
  let ticket: unknown
  try {
    ticket = (JSON.parse(body.toString('utf8')) as { ticket?: unknown } | null)?.ticket
  } catch {
    throw new SwitchboardError('input_invalid', 'body: is not valid JSON')
  }
  if (typeof ticket === 'string' && ticket !== '' && ticket.length <= MOST_CHARS) return ticket
  throw new SwitchboardError('input_invalid', 'ticket: is missing')
}

function cookie(request: IncomingMessage, value: string, maxAge: number): Readonly<Record<string, string>> {
  const secure = request.headers.origin?.startsWith('https://') === true ? '; Secure' : ''
  return {
    'set-cookie': `${cookieName(request)}=${value}; Path=/; HttpOnly; SameSite=Strict; Max-Age=${maxAge}${secure}`,
    'cache-control': 'no-store',
  }
}
