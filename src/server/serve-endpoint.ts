// A request for an adapter's endpoint: verified first, then handled.
import {
  type Endpoint,
  type HttpReply,
  isReply,
  isVerified,
  type RawRequest,
  type VerifiedRequest,
} from '../contract/index.ts'
import {
  type FrontDoor,
  failure,
  type Incoming,
  type Listener,
  type OpenRequest,
  withBody,
} from './front-door.ts'

interface Serving {
  readonly endpoint: Endpoint
  /** Absent: as configured. */
  readonly maxBytes?: number
  readonly raw: OpenRequest
  settle(reply: HttpReply): void
  /** `verify` said no. */
  refuse(reply: HttpReply): void
}

/** Verify, then handle: bytes that were not verified never get further, and are not read where the head decides. */
export function serveEndpoint(
  door: FrontDoor,
  listener: Listener,
  incoming: Incoming,
  serving: Serving,
): void {
  const { endpoint, raw, settle, refuse, maxBytes } = serving
  const fail = (thrown: unknown) => settle(failure(door, thrown, 'endpoint'))
  const read = (judgedAt: number | null, then: (late: boolean) => void) =>
    withBody(
      door,
      listener,
      incoming,
      judgedAt,
      (body, late) => {
        raw.body = body
        then(late)
      },
      maxBytes,
    )
  // Adapters of others are called here: whatever one of them throws is an answer, also out of a socket's event.
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
    const judgedAt = door.deps.clock.now()
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
