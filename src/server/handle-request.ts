// Routes each request without a framework and without a log line. Webhooks are checked first, because they are the most
// frequent.
import type { IncomingMessage, ServerResponse } from 'node:http'
import { defined, type HttpReply, SwitchboardError } from '../contract/index.ts'
import { unclearHead } from './host-guard.ts'
import { isNear } from './near.ts'
import { page } from './pages.ts'
import { PROBE_HEADER } from './probe-proxies.ts'
import { bodyRefusal, declaredTooLarge, refuseUnread } from './read-body.ts'
import { errorReply, json, methodNotAllowed, notFound, writeReply } from './reply.ts'
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

const NO_QUERY = new URLSearchParams()
const HOOKS = '/hooks/'
const CALLBACK = '/callback/'
const INBOX = '/inbox/'

export function handleRequest(
  context: RequestContext,
  listener: Listener,
  request: IncomingMessage,
  response: ServerResponse,
): void {
  request.on('error', ignore)
  response.on('error', ignore)
  const url = request.url ?? '/'
  if (url.length > context.limits.maxUrlBytes) {
    const error = new SwitchboardError('input_invalid', `the URL is over ${context.limits.maxUrlBytes} bytes`)
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
        ? healthReply(probed(context, listener, request))
        : readyReply(context.deps.ready(), context.draining())
    answer(context, response, isRead(request) ? reply : methodNotAllowed('GET'))
  } else if (context.draining() && !(context.finishing() && isOfWork(path))) {
    answer(context, response, errorReply(new SwitchboardError('draining', 'the daemon is shutting down')))
  } else if (path.startsWith(HOOKS)) {
    hook(context, listener, { request, response, path, query })
  } else if (declaredTooLarge(request, context.deps.settings().maxBodyBytes)) {
    refuseUnread(request, response, bodyRefusal('too large', context.deps.settings().maxBodyBytes))
  } else if (path.startsWith(CALLBACK) || path.startsWith(INBOX)) {
    secretUrl(context, listener, { request, response, path, query })
  } else {
    page(context, listener, { request, response, path, query })
  }
}

/** Routes that working agents, and people who answer them, need. */
function isOfWork(path: string): boolean {
  return path.startsWith(CALLBACK) || path === '/mcp' || path.startsWith('/api/')
}

/** Whether our own probe, which knows the key of this run, looked local. Undefined: it is another client. */
function probed({ deps }: RequestContext, listener: Listener, request: IncomingMessage): boolean | undefined {
  const key = request.headers[PROBE_HEADER]
  if (key === undefined || key !== deps.probeKey) return undefined
  return isNear(request, listener, deps.settings().publicUrl)
}

function hook(context: RequestContext, listener: Listener, incoming: Incoming): void {
  const { path } = incoming
  const slash = path.indexOf('/', HOOKS.length)
  const id = decode(slash === -1 ? path.slice(HOOKS.length) : path.slice(HOOKS.length, slash))
  const settle = (reply: HttpReply) => {
    context.metrics.countHook(reply.status)
    answer(context, incoming.response, reply)
  }
  const endpoint = id === null || id === '' ? null : context.deps.endpoints.hook(id)
  const maxBytes = Math.max(context.deps.settings().maxBodyBytes, endpoint?.postsBytes ?? 0)
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
  const raw = rawRequest(context, listener, incoming, slash === -1 ? '' : path.slice(slash))
  const refuse = (reply: HttpReply) =>
    settle(isWrong(reply, raw.path) ? wrong(context, incoming, 'hook', reply) : reply)
  serveEndpoint(context, listener, incoming, { endpoint, maxBytes, raw, settle, refuse })
}

/** If the path contains the secret, a wrong one is answered with 404, so that status counts too. */
function isWrong({ status }: HttpReply, path: string): boolean {
  return status === 401 || status === 403 || (status === 404 && path !== '' && path !== '/events')
}

/** The URL is the credential: it must not be logged, and the answer must not be cached or forwarded. */
function secretUrl(context: RequestContext, listener: Listener, incoming: Incoming): void {
  const { path } = incoming
  const start = path.startsWith(CALLBACK) ? CALLBACK : INBOX
  const route = start === CALLBACK ? 'callback' : 'inbox'
  const behind = start === CALLBACK ? context.deps.callbacks : context.deps.inbox
  const settle = (reply: HttpReply) => {
    answer(context, incoming.response, { ...reply, headers: { ...SECRET_HEADERS, ...reply.headers } })
  }
  const secret = decode(path.slice(start.length))
  if (behind === undefined || secret === null) {
    settle(notFound())
    return
  }
  const refuse = (reply: HttpReply) =>
    settle(reply.status === 404 ? wrong(context, incoming, route, reply) : reply)
  const fail = (thrown: unknown, by: 'head' | 'body') =>
    (by === 'head' ? refuse : settle)(failure(context, thrown, route))
  const admit = () => behind.admit(rawRequest(context, listener, incoming, `/${secret}`))
  takeHead(context, listener, incoming, { admit, refuse, settle, fail })
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
