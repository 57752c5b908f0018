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
} from '../contract/index.ts'
import type { Api } from './api/api.ts'
import type { ServerDeps, ServerLimits } from './deps.ts'
import { eventsReply } from './events.ts'
import { healthReply, readyReply } from './health.ts'
import { guardBrowser, hostName, type ListenerView } from './host-guard.ts'
import type { Metrics } from './metrics.ts'
import { isNear } from './near.ts'
import { readBody, refuseTooLarge } from './read-body.ts'
import { errorReply, methodNotAllowed, notFound, SECURITY_HEADERS, writeReply, writeStream } from './reply.ts'
import type { WebFiles } from './web-files.ts'

export interface FrontDoor {
  readonly deps: ServerDeps
  readonly limits: ServerLimits
  readonly metrics: Metrics
  readonly files: WebFiles
  draining(): boolean
  /** Streams that are open, to be ended when the server drains. */
  readonly streams: Set<ServerResponse>
  api(): Promise<Api>
}

const NO_QUERY = new URLSearchParams()
const HOOKS = '/hooks/'
const CALLBACK = '/callback/'
const INBOX = '/inbox/'

export function handleRequest(
  door: FrontDoor,
  listener: ListenerView,
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

function hook(door: FrontDoor, listener: ListenerView, incoming: Incoming): void {
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
  withBody(door, incoming, (body) => {
    serve(endpoint, rawRequest(door, listener, incoming, slash === -1 ? '' : path.slice(slash), body)).then(
      settle,
      (thrown) => settle(failure(door, thrown, 'hook')),
    )
  })
}

/** Verify, then handle: bytes that were not verified never get further. */
async function serve(endpoint: Endpoint, raw: RawRequest): Promise<HttpReply> {
  const outcome = endpoint.verify(raw)
  const verified = outcome instanceof Promise ? await outcome : outcome
  return isReply(verified) ? verified : endpoint.handle(verified)
}

/** The URL is the credential: it is handed on, never told, and nothing may keep or forward the answer. */
function secretDoor(door: FrontDoor, listener: ListenerView, incoming: Incoming): void {
  const { path } = incoming
  const start = path.startsWith(CALLBACK) ? CALLBACK : INBOX
  const behind = start === CALLBACK ? door.deps.callbacks : door.deps.inbox
  const settle = (reply: HttpReply) => {
    answer(door, incoming.response, { ...reply, headers: { ...SECRET_HEADERS, ...reply.headers } })
  }
  withBody(door, incoming, (body) => {
    const secret = decode(path.slice(start.length))
    if (behind === undefined || secret === null) return settle(notFound())
    behind
      .handle(rawRequest(door, listener, incoming, `/${secret}`, body))
      .then(settle, (thrown) => settle(failure(door, thrown, start)))
  })
}

const SECRET_HEADERS = { 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' }

function page(door: FrontDoor, listener: ListenerView, incoming: Incoming): void {
  const settle = (reply: HttpReply) => {
    answer(door, incoming.response, { ...reply, headers: { ...SECURITY_HEADERS, ...reply.headers } })
  }
  const refused = guardBrowser(incoming.request, listener, door.deps.settings().publicUrl)
  if (refused !== null && incoming.path !== '/metrics') {
    settle(errorReply(refused))
    return
  }
  withBody(door, incoming, (body) => {
    pageReply(door, listener, incoming, body).then(settle, (thrown) => settle(failure(door, thrown, 'page')))
  })
}

async function pageReply(
  door: FrontDoor,
  listener: ListenerView,
  incoming: Incoming,
  body: Buffer,
): Promise<HttpReply> {
  const { request, path, query } = incoming
  const { deps } = door
  const segments = path.slice(1).split('/').map(decode)
  if (segments.includes(null)) return badPath()
  if (segments[0] === 'api') {
    const principal = await whoAsks(door, listener, request)
    const api = await door.api()
    const via = listener.local ? 'cli' : 'api'
    return api({ request, segments: segments.map(String), query, body, principal, via })
  }
  if (segments[0] === 'chat') {
    const chat = deps.endpoints.chat()
    if (chat === null) return notFound('no web integration is configured')
    // The page itself is no secret: what it shows needs a session.
    if (isRead(request) && (path === '/chat' || path === '/chat/')) return door.files.page('index.html')
    return serve(chat, rawRequest(door, listener, incoming, path.slice('/chat'.length), body))
  }
  if (segments[0] === 'mcp') {
    if (deps.mcp === undefined) return notFound('no agent can be reached through tools here')
    return deps.mcp.handle(rawRequest(door, listener, incoming, path.slice('/mcp'.length), body))
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

function known(path: string): boolean {
  return path === '/' || path === '/events' || path === '/metrics' || path.startsWith('/assets/')
}

async function mayRead(door: FrontDoor, listener: ListenerView, request: IncomingMessage): Promise<void> {
  const principal = await whoAsks(door, listener, request)
  const allowed = door.deps.authorize(principal, 'admin.read', { kind: 'gateway' })
  if (!allowed.allowed) throw new SwitchboardError('forbidden', allowed.reason)
}

/** A store that is away says nothing about a credential. */
function isNoRefusal(thrown: unknown): boolean {
  return !(thrown instanceof SwitchboardError && ['unauthorized', 'forbidden'].includes(thrown.code))
}

/** The principal behind the bearer; on the control socket the owner of the file. Throws `unauthorized`. */
async function whoAsks(
  door: FrontDoor,
  listener: ListenerView,
  request: IncomingMessage,
): Promise<Principal> {
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

function withBody(door: FrontDoor, incoming: Incoming, use: (body: Buffer) => void): void {
  const { maxBodyBytes } = door.deps.settings()
  readBody(incoming.request, maxBodyBytes, (body) => {
    if (body === 'too large') refuseTooLarge(incoming.request, incoming.response, maxBodyBytes)
    else use(body)
  })
}

function rawRequest(
  door: FrontDoor,
  listener: ListenerView,
  incoming: Incoming,
  path: string,
  body: Buffer,
): RawRequest {
  const { request, query } = incoming
  return {
    method: request.method ?? 'GET',
    path,
    query,
    headers: request.headers,
    body,
    fromLoopback: isNear(request, listener, door.deps.settings().publicUrl),
  }
}

function answer(door: FrontDoor, response: ServerResponse, reply: HttpReply): void {
  if (reply.stream === undefined) {
    writeReply(response, reply, door.draining())
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
