// The only way to fetch foreign URLs. Private addresses are refused after DNS resolution, and the checked address is
// the one connected to. No redirect is followed, time and size are limited, and no error contains the URL, because it
// may be a secret.
import { type ClientRequest, request as httpRequest, type IncomingHttpHeaders } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { isIP } from 'node:net'
import { asSwitchboardError, type Clock, SwitchboardError } from '../../contract/index.ts'
import { createKeptConnections, type KeptConnections } from './kept-connections.ts'
import { type LookUp, lookUp, type ResolvedAddress } from './look-up.ts'
import { mayConnect } from './public-address.ts'

export interface GuardedRequest {
  readonly url: string
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array
  readonly timeoutMs: number
  readonly maxResponseBytes: number
  /** Resolves at the head with an empty body. The rest is read within the limits and ignored. */
  readonly headOnly?: boolean
  /** Allows loopback and private networks. Link-local addresses stay closed. */
  readonly allowPrivate: boolean
  /** Allows plain `http:`. It is also allowed for private targets when `allowPrivate` is set. */
  readonly allowHttp: boolean
  /**
   * Keeps the connection for a moment, for the next request to the same host and addresses. Absent: a new one each
   * time.
   */
  readonly keepAlive?: boolean
  /** Ends the exchange at once. The caller aborted it, and so can tell it from a fault. */
  readonly signal?: AbortSignal
}

export interface GuardedResponse {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  /** At most `maxResponseBytes`. */
  readonly body: Buffer
  readonly truncated: boolean
}

export interface GuardedFetchDeps {
  readonly clock: Pick<Clock, 'after'>
  /** Resolves a host name to all its addresses. */
  readonly resolve?: LookUp
}

/**
 * Resolves with the response, whatever its status. Redirects are ordinary responses.
 * Throws `input_invalid` (an unsupported URL, or a header that cannot be sent), `forbidden` (a closed address),
 * `platform_unavailable` (the request did not go out) or `outcome_unknown` (it went out, and no response came).
 */
export type GuardedFetch = (request: GuardedRequest) => Promise<GuardedResponse>

export function createGuardedFetch(deps: GuardedFetchDeps): GuardedFetch {
  const { resolve = lookUp } = deps
  const kept = createKeptConnections()
  return async (request) => {
    const url = parseUrl(request)
    const host = bareHost(url)
    const deadline = createDeadline(deps.clock, request.timeoutMs)
    const addresses = await Promise.race([resolveChecked(host, request, resolve), deadline.passed]).catch(
      (thrown: unknown) => {
        deadline.cancel()
        throw thrown
      },
    )
    return exchange(() => begin(url, addresses, request, kept), request, deadline)
  }
}

/** Returns why a request to this URL would be refused, judged by the URL alone. Null: it may be tried. */
export function urlRefusal(
  request: Pick<GuardedRequest, 'url' | 'allowPrivate' | 'allowHttp'>,
): SwitchboardError | null {
  try {
    const host = bareHost(parseUrl(request))
    const address = /(^|\.)localhost\.?$/.test(host) ? '127.0.0.1' : host
    if (isIP(address) > 0) refuseClosed([{ address }], request.allowPrivate)
    return null
  } catch (thrown) {
    return asSwitchboardError(thrown)
  }
}

function bareHost(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, '')
}

function parseUrl(request: Pick<GuardedRequest, 'url' | 'allowPrivate' | 'allowHttp'>): URL {
  let url: URL
  try {
    url = new URL(request.url)
  } catch {
    throw new SwitchboardError('input_invalid', 'the URL is malformed')
  }
  if (url.protocol === 'https:') return url
  if (url.protocol === 'http:' && (request.allowHttp || request.allowPrivate)) return url
  throw new SwitchboardError('input_invalid', `a URL with ${url.protocol} is not taken here, only https:`)
}

/** Returns all addresses of a host if each may be connected to. Throws `platform_unavailable` or `forbidden`. */
export async function resolveChecked(
  host: string,
  request: Pick<GuardedRequest, 'allowPrivate'>,
  resolve: LookUp,
): Promise<readonly ResolvedAddress[]> {
  let addresses: readonly ResolvedAddress[]
  if (isIP(host) > 0) addresses = [{ address: host, family: isIP(host) }]
  else {
    try {
      addresses = await resolve(host)
    } catch (thrown) {
      if (thrown instanceof SwitchboardError) throw thrown
      throw new SwitchboardError('platform_unavailable', 'the host name of the URL does not resolve')
    }
  }
  if (addresses.length === 0) {
    throw new SwitchboardError('platform_unavailable', 'the host name of the URL has no address')
  }
  refuseClosed(addresses, request.allowPrivate)
  return addresses
}

/** One closed address closes the name, because it is not known which one a connection would take. */
function refuseClosed(addresses: readonly { readonly address: string }[], allowPrivate: boolean): void {
  if (addresses.every(({ address }) => mayConnect(address, allowPrivate))) return
  throw new SwitchboardError('forbidden', 'the URL leads to an address that is not allowed', {
    hint: 'private and loopback addresses need allow_private: true',
  })
}

interface Deadline {
  readonly passed: Promise<never>
  cancel(): void
}

function createDeadline(clock: Pick<Clock, 'after'>, timeoutMs: number): Deadline {
  let cancel = () => {}
  const passed = new Promise<never>((_, reject) => {
    cancel = clock.after(timeoutMs, () => {
      reject(new SwitchboardError('platform_unavailable', `no answer within ${timeoutMs} ms`))
    })
  })
  passed.catch(() => {}) // It is heard through the races that await it.
  return { passed, cancel: () => cancel() }
}

function exchange(
  beginning: () => ClientRequest,
  request: GuardedRequest,
  deadline: Deadline,
): Promise<GuardedResponse> {
  return new Promise((resolve, reject) => {
    let written = false
    let outgoing: ClientRequest
    try {
      outgoing = beginning()
    } catch {
      deadline.cancel()
      throw new SwitchboardError('input_invalid', 'a header of the request cannot be sent', {
        hint: 'names are tokens; values are Latin-1 without control characters',
      })
    }
    const fail = (code: string) => {
      outgoing.destroy()
      if (written) reject(new SwitchboardError('outcome_unknown', `the request went out, but ${code}`))
      else reject(new SwitchboardError('platform_unavailable', `the request could not be sent: ${code}`))
    }
    outgoing.on('finish', () => {
      written = true
    })
    // After the head, the answer is decided. Later events only end the body.
    let endBody: (() => void) | null = null
    const trouble = (code: string) => (endBody ? endBody() : fail(code))
    outgoing.on('error', (error: NodeJS.ErrnoException) => trouble(faultName(error)))
    outgoing.on('response', (response) => {
      const chunks: Buffer[] = []
      let size = 0
      const done = (truncated: boolean) => {
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          body: Buffer.concat(chunks).subarray(0, request.maxResponseBytes),
          truncated,
        })
        if (truncated) response.destroy()
      }
      endBody = () => done(true)
      response.on('data', (chunk: Buffer) => {
        if (!request.headOnly) chunks.push(chunk)
        size += chunk.length
        if (size > request.maxResponseBytes) done(true)
      })
      response.on('end', () => done(false))
      response.on('error', () => done(true))
      response.on('close', () => done(true))
      if (request.headOnly) done(false)
    })
    deadline.passed.catch(() => trouble('no answer came in time'))
    const abort = () => fail('it was aborted')
    outgoing.on('close', () => {
      deadline.cancel()
      request.signal?.removeEventListener('abort', abort)
      // An answer that switches protocols ends the request without an error event, so it is reported here.
      if (endBody === null) fail('the connection was closed')
    })
    if (request.signal?.aborted) return abort()
    request.signal?.addEventListener('abort', abort, { once: true })
    outgoing.end(request.body)
  })
}

/** Throws Node's error for a header that HTTP cannot express. */
function begin(
  url: URL,
  addresses: readonly ResolvedAddress[],
  request: GuardedRequest,
  kept: KeptConnections,
): ClientRequest {
  const ended = request.keepAlive ? {} : { connection: 'close' }
  const send = url.protocol === 'https:' ? httpsRequest : httpRequest
  return send(url, {
    method: request.method,
    // Never a connection that was checked for another name or other addresses.
    agent: request.keepAlive ? kept(url, addresses) : false,
    headers: { ...request.headers, 'content-length': byteLength(request.body), ...ended },
    lookup: (_host, options, done) => {
      const first = addresses[0] ?? { address: '', family: 4 }
      if (options.all === true) (done as unknown as LookupAll)(null, [...addresses])
      else done(null, first.address, first.family)
    },
  })
}

export type LookupAll = (error: null, addresses: ResolvedAddress[]) => void

function byteLength(body: string | Uint8Array | undefined): number {
  if (body === undefined) return 0
  return typeof body === 'string' ? Buffer.byteLength(body) : body.byteLength
}

// Only the code. A network error's message may contain the host, and a TLS error's the names of the certificate.
export function faultName(error: NodeJS.ErrnoException): string {
  return /^[A-Z0-9_]{2,50}$/.test(error.code ?? '')
    ? `the connection failed (${error.code})`
    : 'the connection failed'
}
