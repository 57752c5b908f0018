// The only way out to URLs that others gave us: no private address after DNS resolution (the checked address is the
// one connected to), no redirects, limits of time and size, and no URL in any error, for a URL may be a secret.
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
  /** Resolve at the head, with an empty body: what follows runs out within the limits and is ignored. */
  readonly headOnly?: boolean
  /** Loopback and private networks too. Link-local addresses stay closed. */
  readonly allowPrivate: boolean
  /** Plain `http:`; also allowed for private targets when `allowPrivate` is set. */
  readonly allowHttp: boolean
  /** The connection may be used again, for a moment, by the next request to the same host and addresses. Absent: a fresh one. */
  readonly keepAlive?: boolean
  /** Ends the exchange at once; told apart from a fault by the caller, who aborted it. */
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
 * Resolves with the response, whatever its status; redirects are responses like any other.
 * Throws `input_invalid` (not a URL we take, or a header that cannot be sent), `forbidden` (address not allowed),
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

/** Why a request to this URL could only be refused, as far as the URL itself tells; null: it may be tried. */
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

/** All addresses of a host, if every one of them may be connected to. Throws `platform_unavailable` or `forbidden`. */
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

/** One closed address closes the name: which of them a connection would take is not ours to guess. */
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
    // Once the head has come, that is the answer: whatever happens then only ends the body.
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
      // An answer that switches protocols ends the request without an error; nobody else would tell of it.
      if (endBody === null) fail('the connection was closed')
    })
    if (request.signal?.aborted) return abort()
    request.signal?.addEventListener('abort', abort, { once: true })
    outgoing.end(request.body)
  })
}

/** Throws what Node makes of a header that HTTP has no form for. */
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
    // Never one that was checked for another name or other addresses.
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

// Only the code: the message of a network error can hold the host, and that of a TLS error the certificate's names.
export function faultName(error: NodeJS.ErrnoException): string {
  return /^[A-Z0-9_]{2,50}$/.test(error.code ?? '')
    ? `the connection failed (${error.code})`
    : 'the connection failed'
}
