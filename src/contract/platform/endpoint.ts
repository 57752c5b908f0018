// HTTP endpoints of platforms. The types require that a request is verified before it is handled. Also the request for
// a test.
import { defined } from '../defined.ts'

export interface RawRequest {
  readonly method: string
  /** The path after the integration's own prefix: '' or '/events'. */
  readonly path: string
  readonly query: URLSearchParams
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly body: Uint8Array
  /** It comes from this machine and through no proxy. Only `src/server/near.ts` judges this. */
  readonly fromLoopback: boolean
  /** The peer's address, or the one that a trusted proxy names. Absent: none, or unknown. */
  readonly address?: string
}

declare const verified: unique symbol
/** A request that passed `verify`. The type system rejects unverified requests. */
export interface VerifiedRequest {
  readonly [verified]: true
  readonly request: RawRequest
  /** The sender behind the credential. */
  readonly sender: string
  /** The message id that the credential covers, if any. It cannot be changed in a replay. */
  readonly messageId?: string
}

/** Marks a request as verified. Only an endpoint's `verify` calls this. */
export function markVerified(request: RawRequest, sender: string, messageId?: string): VerifiedRequest {
  return { request, sender, ...defined({ messageId }) } as VerifiedRequest
}

/** Checks at run time, because third-party modules may ignore types. */
export function isVerified(outcome: unknown): outcome is VerifiedRequest {
  if (typeof outcome !== 'object' || outcome === null) return false
  const { request, sender } = outcome as Partial<VerifiedRequest>
  return typeof request === 'object' && request !== null && typeof sender === 'string'
}

export interface StreamSink {
  /** Never waits. A peer with too much unread data is disconnected, and resumes where it was. */
  write(chunk: string): void
  /**
   * Resolves when the written data has left the process, or the peer is gone. A peer that reads nothing is
   * disconnected after a while. A replay waits for it after every row, so that a slow reader gets one row at a time.
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
  /** Present: the reply stays open, and this function writes to it. */
  readonly stream?: (sink: StreamSink) => void
}

/** A request before its body is read. */
export type RequestHead = Omit<RawRequest, 'body'>

/**
 * Judges a request by its head, so that bodies of refused senders are never stored. Returns the refusal (which may
 * also be thrown), or the function that takes the body.
 */
export interface HeadEndpoint {
  admit(head: RequestHead): Promise<HttpReply | ((body: Uint8Array) => Promise<HttpReply>)>
}

export interface Endpoint {
  /**
   * Where the requests arrive. `inbox`: at /inbox/SECRET, and the secret was looked up and names this integration.
   * Absent: at /hooks/ID (or /chat for web).
   */
  readonly at?: 'inbox'
  /** An HTTP status tells senders at once that a message was refused, so no further message is sent. */
  readonly answersRefusals?: true
  /**
   * True if the head alone decides. Then `verify` runs before the body is read, and `handle` gets the request with its
   * body. Absent: every body is read first, within a smaller share of the memory limit.
   */
  headDecides?(head: RequestHead): boolean
  /** The platform itself posts this many bytes at once. They are accepted even if `max_body_bytes` is less. */
  readonly postsBytes?: number
  /**
   * Checks the credential. Returns the reply to send when it is invalid. A hot endpoint returns without a promise.
   */
  verify(request: RawRequest): VerifiedRequest | HttpReply | Promise<VerifiedRequest | HttpReply>
  handle(request: VerifiedRequest): Promise<HttpReply>
}

export function isReply(outcome: unknown): outcome is HttpReply {
  return typeof outcome === 'object' && outcome !== null && 'status' in outcome
}

// ---- A try through the real door ---------------------------------------------------------------------------

/** Which request to make, by the names on the adapter's page. */
export interface SampleOrder {
  readonly recipe?: string
  readonly event?: string
}

/** A request as a sender would make it, with a valid credential. */
export interface SampleRequest {
  /** The request that was made. */
  readonly recipe: string
  readonly event: string
  /** After the integration's own prefix. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  /** Headers that contain a secret, and whether the path does. These are never shown. */
  readonly hides: { readonly headers: readonly string[]; readonly path: boolean }
}
