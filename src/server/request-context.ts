// Shared by all routes: the request in an adapter's form, its body, and its answer.
import type { IncomingMessage, ServerResponse } from 'node:http'
import { asSwitchboardError, type HttpReply, type RawRequest, SwitchboardError } from '../contract/index.ts'
import type { Api } from './api/api.ts'
import type { BodyBudget } from './body-budget.ts'
import type { ServerDeps, ServerLimits } from './deps.ts'
import type { EventStreams } from './events.ts'
import { isLoopbackAddress, type ListenerView } from './host-guard.ts'
import type { Metrics } from './metrics.ts'
import { isNear, isPublic } from './near.ts'
import { peerAddress } from './peer-address.ts'
import { bodyRefusal, isStillSending, refuseUnread } from './read-body.ts'
import { errorReply, writeReply, writeStream } from './reply.ts'
import type { WebFiles } from './web-files.ts'
import type { CredentialRoute, WrongCredentials } from './wrong-credentials.ts'

export interface RequestContext {
  readonly deps: ServerDeps
  readonly limits: ServerLimits
  readonly metrics: Metrics
  readonly files: WebFiles
  draining(): boolean
  /** Whether the server drains and serves only working agents. */
  finishing(): boolean
  /** Open streams, which end when the server drains. */
  readonly streams: Set<ServerResponse>
  readonly wrong: WrongCredentials
  readonly events: EventStreams
  api(): Promise<Api>
}

export interface Listener extends ListenerView {
  readonly bodies: BodyBudget
}

export interface Incoming {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly path: string
  readonly query: URLSearchParams
}

/** After this time a credential is checked again. */
const LATE_BODY_MS = 1_000

/** `late`: the body was slow, and the credential of the head may have been revoked meanwhile. */
export function withBody(
  context: RequestContext,
  listener: Listener,
  { request, response }: Incoming,
  /** When the check of the head began. Null: the body proves the sender. */
  judgedAt: number | null,
  use: (body: Buffer, late: boolean) => void,
  maxBytes = context.deps.settings().maxBodyBytes,
): void {
  // Sent only now, so that a client refused by its head sends no body in vain.
  if (request.headers.expect !== undefined) response.writeContinue()
  const { publicUrl } = context.deps.settings()
  const shared = listener.local || isLoopbackAddress(request.socket.remoteAddress) || isPublic(publicUrl)
  listener.bodies.read(request, response, { maxBytes, proven: judgedAt !== null, shared }, (body) => {
    if (typeof body !== 'string')
      use(body, judgedAt !== null && Math.abs(context.deps.clock.now() - judgedAt) > LATE_BODY_MS)
    else refuseUnread(request, response, bodyRefusal(body, maxBytes))
  })
}

type Next = HttpReply | ((body: Buffer) => Promise<HttpReply>)

/** Checks the head, then reads the body. After a slow body it checks the head again. */
export function takeHead(
  context: RequestContext,
  listener: Listener,
  incoming: Incoming,
  how: {
    admit(): Promise<Next>
    refuse(reply: HttpReply): void
    settle(reply: HttpReply): void
    /** Thrown by `admit`, or by the function that takes the body. */
    fail(thrown: unknown, by: 'head' | 'body'): void
  },
): void {
  const { admit, refuse, settle } = how
  const judge = (then: (next: (body: Buffer) => Promise<HttpReply>) => void) =>
    admit()
      .then((next) => (typeof next === 'function' ? then(next) : refuse(next)))
      .catch((thrown) => how.fail(thrown, 'head'))
  const finish = (next: (body: Buffer) => Promise<HttpReply>, body: Buffer) =>
    void next(body).then(settle, (thrown) => how.fail(thrown, 'body'))
  const judgedAt = context.deps.clock.now()
  void judge((next) =>
    withBody(context, listener, incoming, judgedAt, (body, late) => {
      if (late) void judge((again) => finish(again, body))
      else finish(next, body)
    }),
  )
}

/** The server's own view of a request, whose body follows later. */
export type OpenRequest = { -readonly [Key in keyof RawRequest]: RawRequest[Key] }

export function rawRequest(
  context: RequestContext,
  listener: Listener,
  incoming: Incoming,
  path: string,
): OpenRequest {
  const { request, query } = incoming
  const { publicUrl, trustsProxy } = context.deps.settings()
  const address = peerAddress(request, trustsProxy)
  return {
    method: request.method ?? 'GET',
    path,
    query,
    headers: request.headers,
    body: NO_BODY,
    fromLoopback: isNear(request, listener, publicUrl),
    ...(address === undefined ? {} : { address }),
  }
}

const NO_BODY = Buffer.alloc(0)

/** Answers with the refusal, or with 429 if this source had too many. */
export function wrong(
  context: RequestContext,
  incoming: Incoming,
  route: CredentialRoute,
  refusal: HttpReply,
): HttpReply {
  const putOff = context.wrong.count(route, incoming.request.socket.remoteAddress)
  return putOff === null ? refusal : errorReply(putOff)
}

export function answer(context: RequestContext, response: ServerResponse, reply: HttpReply): void {
  if (reply.stream === undefined) {
    if (isStillSending(response.req)) refuseUnread(response.req, response, reply)
    else writeReply(response, reply, context.draining())
    return
  }
  // The peer may have left meanwhile. Its stream would then stay in the set for ever.
  if (response.destroyed) return
  context.streams.add(response)
  response.once('close', () => context.streams.delete(response))
  const { streamBacklogBytes: backlogBytes, streamStallMs: stallMs } = context.limits
  writeStream(response, { ...reply, stream: reply.stream }, { backlogBytes, stallMs })
}

/** Answers with the error. Only internal errors are logged. */
export function failure(context: RequestContext, thrown: unknown, where: string): HttpReply {
  const error = asSwitchboardError(thrown)
  if (error.code === 'internal') context.deps.log.error({ where, problem: error.message }, 'a request failed')
  return errorReply(error)
}

export function isRead(request: IncomingMessage): boolean {
  return request.method === 'GET' || request.method === 'HEAD'
}

export function badPath(): HttpReply {
  return errorReply(new SwitchboardError('input_invalid', 'the path is not well percent-encoded'))
}

export function decode(segment: string): string | null {
  if (!segment.includes('%')) return segment
  try {
    return decodeURIComponent(segment)
  } catch {
    return null
  }
}
