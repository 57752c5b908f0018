// Serves an adapter's endpoint: the request is verified first, then handled.
import {
  type Endpoint,
  type HttpReply,
  isReply,
  isVerified,
  type RawRequest,
  type VerifiedRequest,
} from '../contract/index.ts'
import {
  failure,
  type Incoming,
  type Listener,
  type OpenRequest,
  type RequestContext,
  withBody,
} from './request-context.ts'

interface Serving {
  readonly endpoint: Endpoint
  /** Absent: the configured limit. */
  readonly maxBytes?: number
  readonly raw: OpenRequest
  settle(reply: HttpReply): void
  /** `verify` refused the request. */
  refuse(reply: HttpReply): void
}

/** Verifies, then handles. Unverified bytes go no further, and are not read if the head is enough for a decision. */
export function serveEndpoint(
  context: RequestContext,
  listener: Listener,
  incoming: Incoming,
  serving: Serving,
): void {
  const { endpoint, raw, settle, refuse, maxBytes } = serving
  const fail = (thrown: unknown) => settle(failure(context, thrown, 'endpoint'))
  const read = (judgedAt: number | null, then: (late: boolean) => void) =>
    withBody(
      context,
      listener,
      incoming,
      judgedAt,
      (body, late) => {
        raw.body = body
        then(late)
      },
      maxBytes,
    )
  // This calls foreign adapters. Anything that they throw becomes an answer, also in a socket's event.
  const handle = async (verified: VerifiedRequest) => endpoint.handle(verified)
  const verify = (next: (verified: VerifiedRequest) => void) => {
    const judged = (outcome: unknown) => {
      if (isReply(outcome)) refuse(outcome)
      else if (isVerified(outcome)) next(outcome)
      else fail(new Error('verify gave neither a verified request nor an answer'))
    }
    try {
      const outcome = endpoint.verify(raw)
      if (outcome instanceof Promise) outcome.then(judged).catch(fail)
      else judged(outcome)
    } catch (thrown) {
      fail(thrown)
    }
  }
  const finish = (verified: VerifiedRequest) => void handle(verified).then(settle, fail)
  if (headDecides(endpoint, raw)) {
    const judgedAt = context.deps.clock.now()
    verify((verified) => read(judgedAt, (late) => (late ? verify(finish) : finish(verified))))
  } else read(null, () => verify(finish))
}

function headDecides(endpoint: Endpoint, raw: RawRequest): boolean {
  try {
    return endpoint.headDecides?.(raw) === true
  } catch {
    return false
  }
}
