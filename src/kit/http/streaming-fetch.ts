// Requests whose answers stream without a time limit. It has the form of the web's fetch and the rules of the guard.
// Private addresses are open if the operator allows them, and link-local ones stay closed. The checked address is the
// one connected to. No redirect is followed, because headers are credentials. No error contains the URL.
import { request as httpRequest, type IncomingMessage } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { type Clock, SwitchboardError } from '../../contract/index.ts'
import { faultName, type LookupAll, resolveChecked } from './guarded-fetch.ts'
import { type LookUp, lookUp, type ResolvedAddress } from './look-up.ts'

export interface StreamingFetchOptions {
  readonly clock: Pick<Clock, 'after'>
  /** The deadline of the answer's head. The body may take any time. */
  readonly headTimeoutMs: number
  /** The deadline of the connection, with TLS. Absent: the deadline of the head. */
  readonly connectTimeoutMs?: number
  /** Allows loopback, private networks and plain `http:`. Absent: allowed, because the operator chose the URL. */
  readonly allowPrivate?: boolean
  readonly resolve?: LookUp
}

/**
 * Throws `platform_unavailable` if the request did not go out, and `outcome_unknown` if it did and no answer came. If
 * the caller aborted it, throws an AbortError that says whether it was `written`.
 */
export type StreamingFetch = (input: string | URL | Request, init?: RequestInit) => Promise<Response>

/** Statuses without a body. The web's Response refuses a body for them. */
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

/** The body is pulled, so a reader that stops reading slows the peer down. */
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
        // The end may follow, and a cancelled stream must not be closed again.
        over = true
        answer.destroy()
      },
    },
    { highWaterMark: 4 },
  )
  // A status that the web's Response refuses must not become another exception.
  return new Response(body, { status: status >= 200 && status <= 599 ? status : 502, headers })
}

/** `written`: whether the request had gone out. */
function abortError(written: boolean): Error {
  return Object.assign(new Error('the request was aborted'), { name: 'AbortError', written })
}
