// The front door: routes a request by hand. Hooks come first and cost least; no framework, no log line per request.
import type { IncomingMessage, ServerResponse } from 'node:http'
import {
  asSwitchboardError,
  type Endpoint,
  type HttpReply,
  isReply,
  type Principal,
  type RawRequest,
  SwitchboardError,
  type VerifiedRequest,
} from '../contract/index.ts'
import type { Api } from './api/api.ts'
import type { BodyBudget } from './body-budget.ts'
import type { ServerDeps, ServerLimits } from './deps.ts'
import { eventsReply } from './events.ts'
import { healthReply, readyReply } from './health.ts'
import { guardBrowser, hostName, type ListenerView } from './host-guard.ts'
import type { Metrics } from './metrics.ts'
import { isNear } from './near.ts'
import { bodyRefusal, declaredTooLarge, isStillSending, refuseUnread } from './read-body.ts'
import { errorReply, methodNotAllowed, notFound, SECURITY_HEADERS, writeReply, writeStream } from './reply.ts'
import type { WebFiles } from './web-files.ts'
import type { CredentialRoute, WrongCredentials } from './wrong-credentials.ts'

export interface FrontDoor {
  readonly deps: ServerDeps
  readonly limits: ServerLimits
  readonly metrics: Metrics
  readonly files: WebFiles
  draining(): boolean
  /** Streams that are open, to be ended when the server drains. */
  readonly streams: Set<ServerResponse>
  readonly wrong: WrongCredentials
  api(): Promise<Api>
}

export interface Listener extends ListenerView {
  readonly bodies: BodyBudget
}

const NO_QUERY = new URLSearchParams()
const HOOKS = '/hooks/'
const CALLBACK = '/callback/'
const INBOX = '/inbox/'

export function handleRequest(
  door: FrontDoor,
  listener: Listener,
  request: IncomingMessage,
  response: ServerResponse,
): void {
  request.on('error', ignore)
  response.on('error', ignore)
  const url = request.url ?? '/'
  if (url.length > door.limits.maxUrlBytes) {
    const error = new SwitchboardError('input_invalid', `the URL is over ${door.limits.maxUrlBytes} bytes`)
    writeReply(response, { ...errorReply(error), status: 414 }, true)
    return
  }
  if (!listener.local && hostName(request.headers.host) === null) {
    const error = new SwitchboardError('input_invalid', 'the Host header is missing or malformed')
    writeReply(response, errorReply(error), true)
    return
  }
  const mark = url.indexOf('?')
  const path = mark === -1 ? url : url.slice(0, mark)
  const query = mark === -1 ? NO_QUERY : new URLSearchParams(url.slice(mark + 1))
  if (path === '/healthz' || path === '/readyz') {
    const reply = path === '/healthz' ? healthReply() : readyReply(door.deps.ready(), door.draining())
    answer(door, response, isRead(request) ? reply : methodNotAllowed('GET'))
  } else if (door.draining()) {
    answer(door, response, errorReply(new SwitchboardError('draining', 'the daemon is shutting down')))
  } else if (declaredTooLarge(request, door.deps.settings().maxBodyBytes)) {
    refuseUnread(request, response, bodyRefusal('too large', door.deps.settings().maxBodyBytes))
  } else if (path.startsWith(HOOKS)) {
    hook(door, listener, { request, response, path, query })
  } else if (path.startsWith(CALLBACK) || path.startsWith(INBOX)) {
    secretDoor(door, listener, { request, response, path, query })
  } else {
    page(door, listener, { request, response, path, query })
  }
}

interface Incoming {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly path: string
  readonly query: URLSearchParams
}

function hook(door: FrontDoor, listener: Listener, incoming: Incoming): void {
  const { path } = incoming
  const slash = path.indexOf('/', HOOKS.length)
  const id = decode(slash === -1 ? path.slice(HOOKS.length) : path.slice(HOOKS.length, slash))
  const settle = (reply: HttpReply) => {
    door.metrics.countHook(reply.status)
    answer(door, incoming.response, reply)
  }
  if (id === null) {
    settle(badPath())
    return
  }
  const endpoint = id === '' ? null : door.deps.endpoints.hook(id)
  if (endpoint === null) {
    settle(notFound('there is no such hook'))
    return
  }
  const raw = rawRequest(door, listener, incoming, slash === -1 ? '' : path.slice(slash))
  const refuse = (reply: HttpReply) =>
    settle(reply.status === 401 || reply.status === 403 ? wrong(door, incoming, 'hook', reply) : reply)
  serve(door, listener, incoming, { endpoint, raw, settle, refuse })
}

interface Serving {
  readonly endpoint: Endpoint
  readonly raw: OpenRequest
  settle(reply: HttpReply): void
  /** `verify` said no. */
  refuse(reply: HttpReply): void
}

/** Verify, then handle: bytes that were not verified never get further, and are not read where the head decides. */
function serve(door: FrontDoor, listener: Listener, incoming: Incoming, serving: Serving): void {
  const { endpoint, raw, settle, refuse } = serving
  const fail = (thrown: unknown) => settle(failure(door, thrown, 'endpoint'))
  const read = (proven: boolean, then: () => void) =>
    withBody(door, listener, incoming, proven, (body) => {
      raw.body = body
      then()
    })
  // Adapters of others are called here: whatever one of them throws is an answer, also out of a socket's event.
  const handle = async (verified: VerifiedRequest) => endpoint.handle(verified)
  const verify = (next: (verified: VerifiedRequest) => void) => {
    const judged = (outcome: VerifiedRequest | HttpReply) =>
      isReply(outcome) ? refuse(outcome) : next(outcome)
    try {
      const outcome = endpoint.verify(raw)
      if (outcome instanceof Promise) outcome.then(judged).catch(fail)
      else judged(outcome)
    } catch (thrown) {
      fail(thrown)
    }
  }
  const finish = (verified: VerifiedRequest) => void handle(verified).then(settle, fail)
  if (headDecides(endpoint, raw)) verify((verified) => read(true, () => finish(verified)))
  else read(false, () => verify(finish))
}

function headDecides(endpoint: Endpoint, raw: RawRequest): boolean {
  try {
    return endpoint.headDecides?.(raw) === true
  } catch {
    return false
  }
}

/** The URL is the credential: it is handed on, never told, and nothing may keep or forward the answer. */
function secretDoor(door: FrontDoor, listener: Listener, incoming: Incoming): void {
  const { path } = incoming
  const start = path.startsWith(CALLBACK) ? CALLBACK : INBOX
  const route = start === CALLBACK ? 'callback' : 'inbox'
  const behind = start === CALLBACK ? door.deps.callbacks : door.deps.inbox
  const settle = (reply: HttpReply) => {
    answer(door, incoming.response, { ...reply, headers: { ...SECRET_HEADERS, ...reply.headers } })
  }
  const secret = decode(path.slice(start.length))
  if (behind === undefined || secret === null) {
    settle(notFound())
    return
  }
  const refuse = (reply: HttpReply) =>
    settle(reply.status === 404 ? wrong(door, incoming, route, reply) : reply)
  const fail = (thrown: unknown) => refuse(failure(door, thrown, route))
  behind.admit(rawRequest(door, listener, incoming, `/${secret}`)).then((next) => {
    if (typeof next !== 'function') refuse(next)
    else
      withBody(door, listener, incoming, true, (body) => {
        next(body).then(settle, (thrown) => settle(failure(door, thrown, route)))
      })
  }, fail)
}

const SECRET_HEADERS = { 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' }

function page(door: FrontDoor, listener: Listener, incoming: Incoming): void {
  const settle = (reply: HttpReply) => {
    answer(door, incoming.response, { ...reply, headers: { ...SECURITY_HEADERS, ...reply.headers } })
  }
  const refused = guardBrowser(incoming.request, listener, door.deps.settings().publicUrl)
  if (refused !== null && incoming.path !== '/metrics') {
    settle(errorReply(refused))
    return
  }
  const judged = (reply: HttpReply) => settle(judge(door, incoming, reply))
  const failed = (thrown: unknown) => judged(failure(door, thrown, 'page'))
  const { path } = incoming
  const chat = path === '/chat' || path.startsWith('/chat/') ? door.deps.endpoints.chat() : null
  if (chat !== null && !(isRead(incoming.request) && isChatPage(path)) && decode(path) !== null) {
    const raw = rawRequest(door, listener, incoming, path.slice('/chat'.length))
    serve(door, listener, incoming, { endpoint: chat, raw, settle: judged, refuse: judged })
    return
  }
  pageReply(door, listener, incoming).then((next) => {
    if (typeof next !== 'function') judged(next)
    else withBody(door, listener, incoming, true, (body) => next(body).then(judged, failed))
  }, failed)
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
    const mayStay = () => mayRead(door, listener, request).then(() => true, isNoRefusal)
    await mayRead(door, listener, request)
    return eventsReply(deps.desk, deps.clock, door.limits.heartbeatMs, mayStay)
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

async function mayRead(door: FrontDoor, listener: Listener, request: IncomingMessage): Promise<void> {
  const principal = await whoAsks(door, listener, request)
  const allowed = door.deps.authorize(principal, 'admin.read', { kind: 'gateway' })
  if (!allowed.allowed) throw new SwitchboardError('forbidden', allowed.reason)
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

function withBody(
  door: FrontDoor,
  listener: Listener,
  { request, response }: Incoming,
  proven: boolean,
  use: (body: Buffer) => void,
): void {
  const { maxBodyBytes: maxBytes } = door.deps.settings()
  // Said only now: who was refused by the head has sent nothing in vain.
  if (request.headers.expect !== undefined) response.writeContinue()
  listener.bodies.read(request, response, { maxBytes, proven }, (body) => {
    if (typeof body !== 'string') use(body)
    else refuseUnread(request, response, bodyRefusal(body, maxBytes))
  })
}

/** The server's own view of a request: its body comes after the head. */
type OpenRequest = { -readonly [Key in keyof RawRequest]: RawRequest[Key] }

function rawRequest(door: FrontDoor, listener: Listener, incoming: Incoming, path: string): OpenRequest {
  const { request, query } = incoming
  return {
    method: request.method ?? 'GET',
    path,
    query,
    headers: request.headers,
    body: NO_BODY,
    fromLoopback: isNear(request, listener, door.deps.settings().publicUrl),
  }
}

const NO_BODY = Buffer.alloc(0)

/** A refusal as it stands, or 429 where this source has had too many. */
function wrong(door: FrontDoor, incoming: Incoming, route: CredentialRoute, refusal: HttpReply): HttpReply {
  const putOff = door.wrong.count(route, incoming.request.socket.remoteAddress)
  return putOff === null ? refusal : errorReply(putOff)
}

/** Of the pages: a bearer, session or link that did not hold. To have brought none is no try. */
function judge(door: FrontDoor, incoming: Incoming, reply: HttpReply): HttpReply {
  if (reply.status !== 401) return reply
  const { path } = incoming
  const { authorization, cookie } = incoming.request.headers
  const isChat = path.startsWith('/chat')
  const tried = authorization ?? (isChat ? cookie : undefined)
  if (tried === undefined && path !== '/chat/session') return reply
  return wrong(door, incoming, isChat ? 'chat' : path.startsWith('/mcp') ? 'mcp' : 'api', reply)
}

function answer(door: FrontDoor, response: ServerResponse, reply: HttpReply): void {
  if (reply.stream === undefined) {
    if (isStillSending(response.req)) refuseUnread(response.req, response, reply)
    else writeReply(response, reply, door.draining())
    return
  }
  // A peer that left meanwhile has closed already: it would stay among the streams for ever.
  if (response.destroyed) return
  door.streams.add(response)
  response.once('close', () => door.streams.delete(response))
  const { streamBacklogBytes: backlogBytes, streamStallMs: stallMs } = door.limits
  writeStream(response, { ...reply, stream: reply.stream }, { backlogBytes, stallMs })
}

/** Errors are answers; only those that are a bug of ours or a store that is away are worth a line in the log. */
function failure(door: FrontDoor, thrown: unknown, where: string): HttpReply {
  const error = asSwitchboardError(thrown)
  if (error.code === 'internal') door.deps.log.error({ where, problem: error.message }, 'a request failed')
  return errorReply(error)
}

function isRead(request: IncomingMessage): boolean {
  return request.method === 'GET' || request.method === 'HEAD'
}

function upgradeNeeded(): HttpReply {
  const reply = errorReply(
    new SwitchboardError('input_invalid', 'hosts attach here over a WebSocket', {
      hint: 'run: switchboard channel --agent ID --url URL --token-file FILE',
    }),
  )
  return { ...reply, status: 426, headers: { ...reply.headers, upgrade: 'websocket' } }
}

function badPath(): HttpReply {
  return errorReply(new SwitchboardError('input_invalid', 'the path is not well percent-encoded'))
}

function decode(segment: string): string | null {
  if (!segment.includes('%')) return segment
  try {
    return decodeURIComponent(segment)
  } catch {
    return null
  }
}

function ignore(): void {}
