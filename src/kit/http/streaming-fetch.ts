// Requests whose answers stream for as long as the peer likes: the shape of the web's fetch over the rules of the guard.
// Private addresses are open where the operator says so; link-local ones stay closed; the checked address is the one
// connected to; no redirect is followed, for headers are credentials; no URL is in any error.
import { request as httpRequest, type IncomingMessage } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { type Clock, SwitchboardError } from '../../contract/index.ts'
import { faultName, type LookupAll, resolveChecked } from './guarded-fetch.ts'
import { type LookUp, lookUp, type ResolvedAddress } from './look-up.ts'

export interface StreamingFetchOptions {
  readonly clock: Pick<Clock, 'after'>
  /** Until the head of the answer; its body may take any time. */
  readonly headTimeoutMs: number
  /** Until the connection stands, with TLS. Absent: as long as the head may take. */
  readonly connectTimeoutMs?: number
  /** Loopback, private networks and plain `http:`. Absent: they are open, as the operator's own. */
  readonly allowPrivate?: boolean
  readonly resolve?: LookUp
}

/**
 * Throws `platform_unavailable` when the request did not go out, `outcome_unknown` when it did and no answer came; an
 * AbortError that says whether it was `written` when the caller aborted it.
 */
export type StreamingFetch = (input: string | URL | Request, init?: RequestInit) => Promise<Response>

/** Statuses that carry no body: the web's Response refuses one. */
const BARE = new Set([101, 103, 204, 205, 304])

export function createStreamingFetch(options: StreamingFetchOptions): StreamingFetch {
  const { resolve = lookUp, allowPrivate = true } = options
  return async (input, init = {}) => {
    const url = new URL(input instanceof Request ? input.url : input)
    if (url.protocol !== 'http:' && url.protocol !== 'https:')
      throw new SwitchboardError('input_invalid', 'only http: and https: URLs are taken here')
    if (url.protocol === 'http:' && !allowPrivate)
      throw new SwitchboardError('input_invalid', 'a URL with http: is not taken here, only https:', {
        hint: 'plain http and private addresses need allow_private: true',
      })
    const host = url.hostname.replace(/^\[|\]$/g, '')
    const addresses = await resolveChecked(host, { allowPrivate }, resolve)
    if (init.signal?.aborted) throw abortError(false)
    const answer = await exchange(url, addresses, init, options)
    return toResponse(answer)
  }
}

function exchange(
  url: URL,
  addresses: readonly ResolvedAddress[],
  init: RequestInit,
  options: StreamingFetchOptions,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    let written = false
    let answered = false
    const body = typeof init.body === 'string' ? init.body : undefined
    const send = url.protocol === 'https:' ? httpsRequest : httpRequest
    const outgoing = send(url, {
      method: init.method ?? 'GET',
      agent: false, // A fresh connection each time: a pooled one was checked for another name.
      headers: {
        ...Object.fromEntries(new Headers(init.headers)),
        ...(body === undefined ? {} : { 'content-length': Buffer.byteLength(body) }),
        connection: 'close',
      },
      lookup: (_host, wanted, done) => {
        const first = addresses[0] ?? { address: '', family: 4 }
        if (wanted.all === true) (done as unknown as LookupAll)(null, [...addresses])
        else done(null, first.address, first.family)
      },
    })
    const abort = () => outgoing.destroy(abortError(written))
    const cancel = options.clock.after(options.headTimeoutMs, () => {
      outgoing.destroy(Object.assign(new Error('late'), { code: 'NO_ANSWER_IN_TIME' }))
    })
    let cancelConnect = () => {}
    if (options.connectTimeoutMs !== undefined) {
      cancelConnect = options.clock.after(options.connectTimeoutMs, () => {
        outgoing.destroy(Object.assign(new Error('late'), { code: 'ETIMEDOUT' }))
      })
      outgoing.on('socket', (socket) =>
        socket.once(url.protocol === 'https:' ? 'secureConnect' : 'connect', () => cancelConnect()),
      )
    }
    init.signal?.addEventListener('abort', abort, { once: true })
    outgoing.on('finish', () => {
      written = true
    })
    outgoing.on('close', () => {
      cancel()
      cancelConnect()
      init.signal?.removeEventListener('abort', abort)
      if (!answered) reject(new SwitchboardError('outcome_unknown', 'the connection was closed'))
    })
    outgoing.on('error', (error: NodeJS.ErrnoException) => {
      if (error.name === 'AbortError') return reject(error)
      const code = written ? 'outcome_unknown' : 'platform_unavailable'
      reject(new SwitchboardError(code, faultName(error)))
    })
    outgoing.on('response', (response) => {
      answered = true
      cancel()
      resolve(response)
    })
    outgoing.end(body)
  })
}

/** Pulled, not pushed: a reader that stops reading holds the peer back. */
function toResponse(answer: IncomingMessage): Response {
  const status = answer.statusCode ?? 500
  const headers = new Headers()
  for (const [name, value] of Object.entries(answer.headers)) {
    for (const one of Array.isArray(value) ? value : [value]) if (one !== undefined) headers.append(name, one)
  }
  if (BARE.has(status)) {
    answer.resume()
    return new Response(null, { status, headers })
  }
  answer.pause()
  let over = false
  const body = new ReadableStream<Uint8Array>(
    {
      start(controller) {
        const end = (settle: () => void) => {
          if (over) return
          over = true
          settle()
        }
        answer.on('data', (chunk: Buffer) => {
          if (over) return
          controller.enqueue(new Uint8Array(chunk))
          if ((controller.desiredSize ?? 0) <= 0) answer.pause()
        })
        answer.on('end', () => end(() => controller.close()))
        answer.on('error', () => end(() => controller.error(new Error('the stream broke off'))))
        answer.on('close', () => end(() => controller.error(new Error('the stream broke off'))))
      },
      pull() {
        answer.resume()
      },
      cancel() {
        // Its end may be on its way already: a stream that was left must not be closed once more.
        over = true
        answer.destroy()
      },
    },
    { highWaterMark: 4 },
  )
  // A status that the web does not know must not become an exception of its own.
  return new Response(body, { status: status >= 200 && status <= 599 ? status : 502, headers })
}

/** `written`: it had gone out by then. */
function abortError(written: boolean): Error {
  return Object.assign(new Error('the request was aborted'), { name: 'AbortError', written })
}
