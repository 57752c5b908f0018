// HTTP at the door of a platform: a request is verified before it is handled, by type; and a request for a try.
import { defined } from '../defined.ts'

export interface RawRequest {
  readonly method: string
  /** What follows the integration's own prefix: '' or '/events'. */
  readonly path: string
  readonly query: URLSearchParams
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly body: Uint8Array
  /** It began on this machine and no proxy passed it on: see `src/server/near.ts`, the one judge of that. */
  readonly fromLoopback: boolean
  /** The peer's address, or the one that a trusted proxy names. Absent: there is none, or nobody can say. */
  readonly address?: string
}

declare const verified: unique symbol
/** A request that passed `verify`: unverified bytes cannot be handled, by type. */
export interface VerifiedRequest {
  readonly [verified]: true
  readonly request: RawRequest
  /** Who the credential speaks for. */
  readonly sender: string
  /** The id that the credential covers, where it covers one: nobody can change it and send the rest again. */
  readonly messageId?: string
}

/** Only an endpoint's `verify` calls this. */
export function markVerified(request: RawRequest, sender: string, messageId?: string): VerifiedRequest {
  return { request, sender, ...defined({ messageId }) } as VerifiedRequest
}

/** Types end at the door of modules of others: what their `verify` gives is looked at. */
export function isVerified(outcome: unknown): outcome is VerifiedRequest {
  if (typeof outcome !== 'object' || outcome === null) return false
  const { request, sender } = outcome as Partial<VerifiedRequest>
  return typeof request === 'object' && request !== null && typeof sender === 'string'
}

export interface StreamSink {
  /** Never waits. A peer for which too much waits already is dropped and resumes where it was. */
  write(chunk: string): void
  /**
   * Resolves when what was written has left the process, or the peer is gone; one that reads nothing at all is let go
   * after a while. Whoever replays waits for it after every row, so that a reader far behind gets one after the other.
   */
  drained(): Promise<void>
  /** True once the peer is gone. */
  readonly closed: boolean
  onClose(run: () => void): void
  end(): void
}

export interface HttpReply {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array
  /** Present: the reply stays open and this writes to it. */
  readonly stream?: (sink: StreamSink) => void
}

/** A request before its body was read. */
export type RequestHead = Omit<RawRequest, 'body'>

/**
 * A door that judges by the head, so that nobody's body is kept who may not come in: the refusal (it may also be thrown),
 * or what takes the body once it was read.
 */
export interface HeadEndpoint {
  admit(head: RequestHead): Promise<HttpReply | ((body: Uint8Array) => Promise<HttpReply>)>
}

export interface Endpoint {
  /**
   * True where the head alone decides: then `verify` is asked before the body is read, and the same request has its body
   * in `handle`. Absent: every body is read first, in a smaller share of what may be in flight.
   */
  headDecides?(head: RequestHead): boolean
  /** The platform itself posts as much at once: it is taken though `max_body_bytes` is less. */
  readonly postsBytes?: number
  /** Checks the credential. Gives the reply to make when it does not hold. A hot endpoint answers without a promise. */
  verify(request: RawRequest): VerifiedRequest | HttpReply | Promise<VerifiedRequest | HttpReply>
  handle(request: VerifiedRequest): Promise<HttpReply>
}

export function isReply(outcome: unknown): outcome is HttpReply {
  return typeof outcome === 'object' && outcome !== null && 'status' in outcome
}

// ---- A try through the real door ---------------------------------------------------------------------------

/** Which request to make: by the names of the adapter's page. */
export interface SampleOrder {
  readonly recipe?: string
  readonly event?: string
}

/** A request as a sender would make it, with a credential that holds. */
export interface SampleRequest {
  /** Which one was made. */
  readonly recipe: string
  readonly event: string
  /** Behind the integration's own prefix. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  /** Headers that hold a secret, and whether the path does: shown to nobody. */
  readonly hides: { readonly headers: readonly string[]; readonly path: boolean }
}
