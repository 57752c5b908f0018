// Routes for browsers, operators and tools: the console, the chat page and its endpoint, `/api`, `/mcp`, `/events`,
// `/metrics`.
import type { IncomingMessage } from 'node:http'
import { type HttpReply, type Principal, SwitchboardError } from '../contract/index.ts'
import { consolePrincipal, consoleReply, sessionIn } from './console-session.ts'
import { guardBrowser } from './host-guard.ts'
import { isNear } from './near.ts'
import { errorReply, methodNotAllowed, notFound, SECURITY_HEADERS } from './reply.ts'
import {
  answer,
  badPath,
  decode,
  failure,
  type Incoming,
  isRead,
  type Listener,
  type RequestContext,
  rawRequest,
  takeHead,
  wrong,
} from './request-context.ts'
import { serveEndpoint } from './serve-endpoint.ts'
import type { CredentialRoute } from './wrong-credentials.ts'

export function page(context: RequestContext, listener: Listener, incoming: Incoming): void {
  const settle = (reply: HttpReply) => {
    answer(context, incoming.response, { ...reply, headers: { ...SECURITY_HEADERS, ...reply.headers } })
  }
  const refused = guardBrowser(incoming.request, listener, context.deps.settings().publicUrl)
  if (refused !== null) {
    settle(errorReply(refused))
    return
  }
  const judged = (reply: HttpReply) => settle(judge(context, incoming, reply))
  const failed = (thrown: unknown) => judged(failure(context, thrown, 'page'))
  const { path } = incoming
  const chat = path === '/chat' || path.startsWith('/chat/') ? context.deps.endpoints.chat() : null
  if (chat !== null && !(isRead(incoming.request) && isChatPage(path)) && decode(path) !== null) {
    const raw = rawRequest(context, listener, incoming, path.slice('/chat'.length))
    serveEndpoint(context, listener, incoming, { endpoint: chat, raw, settle: judged, refuse: judged })
    return
  }
  const admit = () => pageReply(context, listener, incoming)
  takeHead(context, listener, incoming, { admit, refuse: judged, settle: judged, fail: failed })
}

/** Returns the answer, or a function that takes the body. The credential was checked before. */
async function pageReply(
  context: RequestContext,
  listener: Listener,
  incoming: Incoming,
): Promise<HttpReply | ((body: Buffer) => Promise<HttpReply>)> {
  const { request, path, query } = incoming
  const { deps } = context
  const segments = path.slice(1).split('/').map(decode)
  if (segments.includes(null)) return badPath()
  // A path has one spelling. Otherwise /%61pi would get around a proxy that blocks /api.
  if (path.split('/', 2)[1]?.includes('%')) return notFound()
  if (segments[0] === 'api') {
    const principal = await whoAsks(context, listener, request)
    const api = await context.api()
    const via = listener.local ? 'cli' : bearerIn(request) === null ? 'console' : 'api'
    return (body) => api({ request, segments: segments.map(String), query, body, principal, via })
  }
  if (segments[0] === 'chat') {
    if (deps.endpoints.chat() === null) return notFound('no web integration is configured')
    return isRead(request) && isChatPage(path) ? context.files.page('index.html') : notFound()
  }
  if (segments[0] === 'console') return (body) => consoleReply(deps, request, path, body)
  if (segments[0] === 'mcp') {
    if (deps.mcp === undefined) return notFound('no agent can be reached through tools here')
    return deps.mcp.admit(rawRequest(context, listener, incoming, path.slice('/mcp'.length)))
  }
  if (path === '/attach') return upgradeNeeded()
  if (!isRead(request)) return known(path) ? methodNotAllowed('GET') : notFound()
  if (path === '/events') {
    if (request.method === 'HEAD') return methodNotAllowed('GET')
    const mayStay = () => mayHear(context, listener, request).then(() => true, isNoRefusal)
    const { principal, only } = await mayHear(context, listener, request)
    return context.events.open(principal, mayStay, only)
  }
  if (path === '/metrics') {
    if (!isNear(request, listener, deps.settings().publicUrl)) await mayRead(context, listener, request)
    return context.metrics.reply()
  }
  const { 'accept-encoding': accepted } = request.headers
  if (segments[0] === 'assets') return context.files.asset(path.slice('/assets/'.length), accepted)
  if (path === '/') return context.files.page('console.html')
  return notFound()
}

/** The page itself is public. Its data needs a session. */
function isChatPage(path: string): boolean {
  return path === '/chat' || path === '/chat/'
}

function known(path: string): boolean {
  return path === '/' || path === '/events' || path === '/metrics' || path.startsWith('/assets/')
}

async function mayRead(
  context: RequestContext,
  listener: Listener,
  request: IncomingMessage,
): Promise<Principal> {
  const principal = await whoAsks(context, listener, request)
  const allowed = context.deps.authorize(principal, 'admin.read', { kind: 'gateway' })
  if (!allowed.allowed) throw new SwitchboardError('forbidden', allowed.reason)
  return principal
}

/** A principal that may only see approvals gets no other events. */
async function mayHear(
  context: RequestContext,
  listener: Listener,
  request: IncomingMessage,
): Promise<{ readonly principal: Principal; readonly only?: readonly string[] }> {
  const principal = await whoAsks(context, listener, request)
  const asked = (action: 'admin.read' | 'approval.read') =>
    context.deps.authorize(principal, action, { kind: 'gateway' })
  const all = asked('admin.read')
  if (all.allowed) return { principal }
  if (asked('approval.read').allowed) return { principal, only: ['approval'] }
  throw new SwitchboardError('forbidden', all.reason)
}

/** Without the store, a credential cannot be judged. */
function isNoRefusal(thrown: unknown): boolean {
  return !(thrown instanceof SwitchboardError && ['unauthorized', 'forbidden'].includes(thrown.code))
}

function bearerIn(request: IncomingMessage): string | null {
  return /^Bearer +([^\s]+)$/i.exec(request.headers.authorization ?? '')?.[1] ?? null
}

/**
 * Returns the principal of the bearer token or the console's cookie. On the control socket it is the owner of the file.
 * Throws `unauthorized`.
 */
async function whoAsks(
  context: RequestContext,
  listener: Listener,
  request: IncomingMessage,
): Promise<Principal> {
  if (listener.local) return { kind: 'operator', id: 'local' }
  const bearer = bearerIn(request)
  const principal =
    bearer === null ? await consolePrincipal(context.deps, request) : await context.deps.authenticate(bearer)
  if (principal === null) {
    throw new SwitchboardError('unauthorized', 'an admin token is needed here', {
      hint: 'send it as Authorization: Bearer TOKEN',
    })
  }
  return principal
}

/** Counts an invalid bearer token, session or link. A request without any of them is not counted. */
function judge(context: RequestContext, incoming: Incoming, reply: HttpReply): HttpReply {
  const { path } = incoming
  // An invalid link is answered like an expired one.
  const isTicket = path === '/chat/session' || path === '/console/session'
  if (reply.status !== 401 && !(reply.status === 410 && isTicket)) return reply
  const { authorization, cookie } = incoming.request.headers
  const isChat = path.startsWith('/chat')
  const tried = authorization ?? (isChat ? cookie : sessionIn(incoming.request))
  if ((tried ?? null) === null && !isTicket) return reply
  return wrong(context, incoming, credentialRouteOf(path, authorization), reply)
}

function credentialRouteOf(path: string, authorization: string | undefined): CredentialRoute {
  if (path.startsWith('/chat')) return 'chat'
  if (path.startsWith('/mcp')) return 'mcp'
  return authorization === undefined ? 'console' : 'api'
}

function upgradeNeeded(): HttpReply {
  const reply = errorReply(
    new SwitchboardError('input_invalid', 'hosts attach here over a WebSocket', {
      hint: 'run: switchboard channel --agent ID --url URL --token-file FILE',
    }),
  )
  return { ...reply, status: 426, headers: { ...reply.headers, upgrade: 'websocket' } }
}
