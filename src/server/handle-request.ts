// Routes each request without a framework and without a log line. Webhooks are checked first, because they are the most
// frequent.
import type { IncomingMessage, ServerResponse } from 'node:http'
import { defined, type HttpReply, SwitchboardError } from '../contract/index.ts'
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
import { unclearHead } from './host-guard.ts'
import { isNear } from './near.ts'
import { page } from './pages.ts'
import { PROBE_HEADER } from './probe-proxies.ts'
import { bodyRefusal, declaredTooLarge, refuseUnread } from './read-body.ts'
import { errorReply, json, methodNotAllowed, notFound, writeReply } from './reply.ts'
import { serveEndpoint } from './serve-endpoint.ts'

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
  const unclear = unclearHead(request, listener)
  if (unclear !== null) {
    writeReply(response, errorReply(unclear), true)
    return
  }
  const mark = url.indexOf('?')
  const path = mark === -1 ? url : url.slice(0, mark)
  const query = mark === -1 ? NO_QUERY : new URLSearchParams(url.slice(mark + 1))
  if (path === '/healthz' || path === '/readyz') {
    const reply =
      path === '/healthz'
        ? healthReply(probed(door, listener, request))
        : readyReply(door.deps.ready(), door.draining())
    answer(door, response, isRead(request) ? reply : methodNotAllowed('GET'))
  } else if (door.draining() && !(door.finishing() && isOfWork(path))) {
    answer(door, response, errorReply(new SwitchboardError('draining', 'the daemon is shutting down')))
  } else if (path.startsWith(HOOKS)) {
    hook(door, listener, { request, response, path, query })
  } else if (declaredTooLarge(request, door.deps.settings().maxBodyBytes)) {
    refuseUnread(request, response, bodyRefusal('too large', door.deps.settings().maxBodyBytes))
  } else if (path.startsWith(CALLBACK) || path.startsWith(INBOX)) {
    secretDoor(door, listener, { request, response, path, query })
  } else {
    page(door, listener, { request, response, path, query })
  }
}

/** Routes that working agents, and people who answer them, need. */
function isOfWork(path: string): boolean {
  return path.startsWith(CALLBACK) || path === '/mcp' || path.startsWith('/api/')
}

/** Whether our own probe, which knows the key of this run, looked local. Undefined: it is another client. */
function probed({ deps }: FrontDoor, listener: Listener, request: IncomingMessage): boolean | undefined {
  const key = request.headers[PROBE_HEADER]
  if (key === undefined || key !== deps.probeKey) return undefined
  return isNear(request, listener, deps.settings().publicUrl)
}

function hook(door: FrontDoor, listener: Listener, incoming: Incoming): void {
  const { path } = incoming
  const slash = path.indexOf('/', HOOKS.length)
  const id = decode(slash === -1 ? path.slice(HOOKS.length) : path.slice(HOOKS.length, slash))
  const settle = (reply: HttpReply) => {
    door.metrics.countHook(reply.status)
    answer(door, incoming.response, reply)
  }
  const endpoint = id === null || id === '' ? null : door.deps.endpoints.hook(id)
  const maxBytes = Math.max(door.deps.settings().maxBodyBytes, endpoint?.postsBytes ?? 0)
  if (declaredTooLarge(incoming.request, maxBytes)) {
    refuseUnread(incoming.request, incoming.response, bodyRefusal('too large', maxBytes))
    return
  }
  if (id === null) {
    settle(badPath())
    return
  }
  if (endpoint === null) {
    settle(notFound('there is no such hook'))
    return
  }
  const raw = rawRequest(door, listener, incoming, slash === -1 ? '' : path.slice(slash))
  const refuse = (reply: HttpReply) =>
    settle(isWrong(reply, raw.path) ? wrong(door, incoming, 'hook', reply) : reply)
  serveEndpoint(door, listener, incoming, { endpoint, maxBytes, raw, settle, refuse })
}

/** If the path contains the secret, a wrong one is answered with 404, so that status counts too. */
function isWrong({ status }: HttpReply, path: string): boolean {
  return status === 401 || status === 403 || (status === 404 && path !== '' && path !== '/events')
}

/** The URL is the credential: it must not be logged, and the answer must not be cached or forwarded. */
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
  const fail = (thrown: unknown, by: 'head' | 'body') =>
    (by === 'head' ? refuse : settle)(failure(door, thrown, route))
  const admit = () => behind.admit(rawRequest(door, listener, incoming, `/${secret}`))
  takeHead(door, listener, incoming, { admit, refuse, settle, fail })
}

const SECRET_HEADERS = { 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' }

function ignore(): void {}

// /healthz: the process is alive. /readyz: it accepts messages.

/** Only our own probe gets `near`. */
function healthReply(near?: boolean): HttpReply {
  return json(200, { ok: true, ...defined({ near }) }, { 'cache-control': 'no-store' })
}

function readyReply(
  ready: { readonly ready: boolean; readonly detail: string },
  draining: boolean,
): HttpReply {
  const headers = { 'cache-control': 'no-store' }
  if (draining) return json(503, { ready: false, reason: 'draining' }, { ...headers, 'retry-after': '5' })
  if (ready.ready) return json(200, { ready: true }, headers)
  return json(503, { ready: false, reason: ready.detail }, { ...headers, 'retry-after': '5' })
}
