// What browsers, operators and tools ask for: the chat page and its endpoint, `/api`, `/mcp`, `/events`, `/metrics`.
import type { IncomingMessage } from 'node:http'
import { type HttpReply, type Principal, SwitchboardError } from '../contract/index.ts'
import {
  answer,
  badPath,
  decode,
  type FrontDoor,
  failure,
  type Incoming,
  isRead,
  type Listener,
  rawRequest,
  takeHead,
  wrong,
} from './front-door.ts'
import { guardBrowser } from './host-guard.ts'
import { isNear } from './near.ts'
import { errorReply, methodNotAllowed, notFound, SECURITY_HEADERS } from './reply.ts'
import { serveEndpoint } from './serve-endpoint.ts'

export function page(door: FrontDoor, listener: Listener, incoming: Incoming): void {
  const settle = (reply: HttpReply) => {
    answer(door, incoming.response, { ...reply, headers: { ...SECURITY_HEADERS, ...reply.headers } })
  }
  const refused = guardBrowser(incoming.request, listener, door.deps.settings().publicUrl)
  if (refused !== null) {
    settle(errorReply(refused))
    return
  }
  const judged = (reply: HttpReply) => settle(judge(door, incoming, reply))
  const failed = (thrown: unknown) => judged(failure(door, thrown, 'page'))
  const { path } = incoming
  const chat = path === '/chat' || path.startsWith('/chat/') ? door.deps.endpoints.chat() : null
  if (chat !== null && !(isRead(incoming.request) && isChatPage(path)) && decode(path) !== null) {
    const raw = rawRequest(door, listener, incoming, path.slice('/chat'.length))
    serveEndpoint(door, listener, incoming, { endpoint: chat, raw, settle: judged, refuse: judged })
    return
  }
  const admit = () => pageReply(door, listener, incoming)
  takeHead(door, listener, incoming, { admit, refuse: judged, settle: judged, fail: failed })
}

/** The answer, or what takes the body: by then the credential was looked at. */
async function pageReply(
  door: FrontDoor,
  listener: Listener,
  incoming: Incoming,
): Promise<HttpReply | ((body: Buffer) => Promise<HttpReply>)> {
  const { request, path, query } = incoming
  const { deps } = door
  const segments = path.slice(1).split('/').map(decode)
  if (segments.includes(null)) return badPath()
  // A door has one spelling: whoever stands in front and keeps /api shut must not be walked around as /%61pi.
  if (path.split('/', 2)[1]?.includes('%')) return notFound()
  if (segments[0] === 'api') {
    const principal = await whoAsks(door, listener, request)
    const api = await door.api()
    const via = listener.local ? 'cli' : 'api'
    return (body) => api({ request, segments: segments.map(String), query, body, principal, via })
  }
  if (segments[0] === 'chat') {
    if (deps.endpoints.chat() === null) return notFound('no web integration is configured')
    return isRead(request) && isChatPage(path) ? door.files.page('index.html') : notFound()
  }
  if (segments[0] === 'mcp') {
    if (deps.mcp === undefined) return notFound('no agent can be reached through tools here')
    return deps.mcp.admit(rawRequest(door, listener, incoming, path.slice('/mcp'.length)))
  }
  if (path === '/attach') return upgradeNeeded()
  if (!isRead(request)) return known(path) ? methodNotAllowed('GET') : notFound()
  if (path === '/events') {
    if (request.method === 'HEAD') return methodNotAllowed('GET')
    const mayStay = () => mayRead(door, listener, request).then(() => true, isNoRefusal)
    return door.events.open(await mayRead(door, listener, request), mayStay)
  }
  if (path === '/metrics') {
    if (!isNear(request, listener, deps.settings().publicUrl)) await mayRead(door, listener, request)
    return door.metrics.reply()
  }
  if (segments[0] === 'assets') return door.files.asset(path.slice('/assets/'.length))
  if (path === '/') return { status: 302, headers: { location: '/chat' } }
  return notFound()
}

/** The page itself is no secret: what it shows needs a session. */
function isChatPage(path: string): boolean {
  return path === '/chat' || path === '/chat/'
}

function known(path: string): boolean {
  return path === '/' || path === '/events' || path === '/metrics' || path.startsWith('/assets/')
}

async function mayRead(door: FrontDoor, listener: Listener, request: IncomingMessage): Promise<Principal> {
  const principal = await whoAsks(door, listener, request)
  const allowed = door.deps.authorize(principal, 'admin.read', { kind: 'gateway' })
  if (!allowed.allowed) throw new SwitchboardError('forbidden', allowed.reason)
  return principal
}

/** A store that is away says nothing about a credential. */
function isNoRefusal(thrown: unknown): boolean {
  return !(thrown instanceof SwitchboardError && ['unauthorized', 'forbidden'].includes(thrown.code))
}

/** The principal behind the bearer; on the control socket the owner of the file. Throws `unauthorized`. */
async function whoAsks(door: FrontDoor, listener: Listener, request: IncomingMessage): Promise<Principal> {
  if (listener.local) return { kind: 'operator', id: 'local' }
  const bearer = /^Bearer +([^\s]+)$/i.exec(request.headers.authorization ?? '')?.[1]
  const principal = bearer === undefined ? null : await door.deps.authenticate(bearer)
  if (principal === null) {
    throw new SwitchboardError('unauthorized', 'an admin token is needed here', {
      hint: 'send it as Authorization: Bearer TOKEN',
    })
  }
  return principal
}

/** Of the pages: a bearer, session or link that did not hold. To have brought none is no try. */
function judge(door: FrontDoor, incoming: Incoming, reply: HttpReply): HttpReply {
  const { path } = incoming
  // A link that does not hold is told as one that is too old.
  if (reply.status !== 401 && !(reply.status === 410 && path === '/chat/session')) return reply
  const { authorization, cookie } = incoming.request.headers
  const isChat = path.startsWith('/chat')
  const tried = authorization ?? (isChat ? cookie : undefined)
  if (tried === undefined && path !== '/chat/session') return reply
  return wrong(door, incoming, isChat ? 'chat' : path.startsWith('/mcp') ? 'mcp' : 'api', reply)
}

function upgradeNeeded(): HttpReply {
  const reply = errorReply(
    new SwitchboardError('input_invalid', 'hosts attach here over a WebSocket', {
      hint: 'run: switchboard channel --agent ID --url URL --token-file FILE',
    }),
  )
  return { ...reply, status: 426, headers: { ...reply.headers, upgrade: 'websocket' } }
}
