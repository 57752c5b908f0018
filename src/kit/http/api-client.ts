// Calls the HTTP API of a vendor, with a deadline and the guard. Each failure says what it means for the message: it
// was refused, it did not go out, or the outcome is unknown. Nothing is retried here, because the core does that.
import { asSwitchboardError, type Clock, defined, SwitchboardError } from '../../contract/index.ts'
import { overLimit } from '../files/file-store.ts'
import { ApiError, statusError } from './failures.ts'
import {
  createGuardedFetch,
  type GuardedFetch,
  type GuardedRequest,
  type GuardedResponse,
} from './guarded-fetch.ts'
import { retryAfterMs } from './retry-after.ts'

export interface ApiClientOptions {
  /** The vendor's name in errors. */
  readonly name: string
  readonly clock: Pick<Clock, 'now' | 'after'>
  readonly timeoutMs: number
  /** The configuration key of the address, for errors. Absent: `api_url`. */
  readonly urlKey?: string
  /** The operator's own server: private addresses and plain `http:` are allowed. */
  readonly ownServer?: boolean
  /** Sent with every call, but not with downloads. */
  readonly headers?: Readonly<Record<string, string>>
  readonly fetch?: GuardedFetch | undefined
}

export interface ApiCall {
  readonly url: string
  readonly method: GuardedRequest['method']
  readonly headers?: Readonly<Record<string, string>> | undefined
  readonly body?: string | Uint8Array | undefined
  /** Absent: the client's deadline. */
  readonly timeoutMs?: number | undefined
  readonly signal?: AbortSignal | undefined
  /**
   * Repeating the call has the same effect (an edit, a reaction, a read). A lost answer then means no unknown outcome.
   */
  readonly repeatable?: boolean | undefined
}

export interface ApiAnswer {
  readonly status: number
  readonly headers: GuardedResponse['headers']
  /** The body as JSON. Undefined: it is not JSON. */
  readonly json: unknown
  /** The JSON object, or an empty one. */
  readonly fields: Readonly<Record<string, unknown>>
  readonly bytes: Buffer
  /** Whether the connection broke, or the limit was reached, before the body was whole. */
  readonly truncated: boolean
  /** The pause that the header `Retry-After` requests. Null: none. */
  readonly retryAfterMs: number | null
}

export interface DownloadOptions {
  readonly maxBytes: number
  /** Sent with the first request, never after a redirect. */
  readonly headers?: Readonly<Record<string, string>>
  /** The most redirects that are followed. Absent: none. */
  readonly redirects?: number
  /** Throws the meaning of an answer without the file. If it is absent or returns, the status decides. */
  readonly read?: (answer: ApiAnswer) => void
}

export interface ApiClient {
  /**
   * Returns the result of `read`. `read` throws the meaning of a vendor's error (`createRefusals`). It returns undefined if
   * the answer is not one of this API; then the status decides.
   *
   * Throws `platform_unavailable` if the request did not go out, and `outcome_unknown` if it went out and no answer came.
   * A repeatable call throws `platform_unavailable` for both.
   */
  call<Value>(call: ApiCall, read: (answer: ApiAnswer) => Value | undefined): Promise<Value>
  /**
   * Returns the bytes of a URL, and their content type. Throws `too_large` above `maxBytes`, `not_found` for 404 and
   * 410, and `platform_unavailable` for other failures.
   */
  download(url: string, options: DownloadOptions): Promise<{ readonly bytes: Buffer; readonly type: string }>
}

const MAX_ANSWER_BYTES = 32 * 1_048_576
/** The deadline of a download, as a multiple of a call's. */
const DOWNLOAD_PATIENCE = 4
const PAUSE_MS = 5_000

export function createApiClient(options: ApiClientOptions): ApiClient {
  const { name, clock, urlKey = 'api_url', ownServer = false } = options
  const { fetch = createGuardedFetch(options) } = options

  const exchange = (call: ApiCall, maxResponseBytes: number): Promise<GuardedResponse> => {
    const { url, method, headers, body, signal, timeoutMs = options.timeoutMs } = call
    const request = { url, method, timeoutMs, maxResponseBytes, ...defined({ headers, body, signal }) }
    return fetch({ ...request, allowPrivate: ownServer, allowHttp: ownServer }).catch((thrown: unknown) => {
      throw fetchError(thrown, call)
    })
  }

  const fetchError = (thrown: unknown, call: ApiCall): SwitchboardError => {
    const error = asSwitchboardError(thrown, 'platform_unavailable')
    if (error.code === 'forbidden' || error.code === 'input_invalid')
      return new SwitchboardError('platform_unavailable', `${urlKey}: ${error.message}`)
    return unlessRepeatable(error, call)
  }

  const unlessRepeatable = (thrown: unknown, { repeatable }: ApiCall): SwitchboardError => {
    const error = asSwitchboardError(thrown, 'outcome_unknown')
    if (error.code !== 'outcome_unknown' || repeatable !== true) return error
    const message = error.message.startsWith(name) ? error.message : `${name}: ${error.message}`
    return new SwitchboardError('platform_unavailable', message)
  }

  /** The error for an answer that is not one of the API. A redirect may come after the work was done. */
  const bareStatus = (answer: ApiAnswer): SwitchboardError => {
    if (answer.status === 429) return asksToWait(`${name} asks to wait`, answer.retryAfterMs)
    const context = { whom: name, now: clock.now(), codes: { '3xx': 'outcome_unknown' } } as const
    return statusError(answer.status, context)
  }

  return {
    async call(call, read) {
      const headers = { ...options.headers, ...call.headers }
      const answer = answerOf(await exchange({ ...call, headers }, MAX_ANSWER_BYTES), clock.now())
      try {
        const value = read(answer)
        if (value !== undefined) return value
      } catch (thrown) {
        throw unlessRepeatable(thrown, call)
      }
      throw unlessRepeatable(bareStatus(answer), call)
    },

    async download(first, { maxBytes, headers, redirects = 0, read }) {
      const timeoutMs = options.timeoutMs * DOWNLOAD_PATIENCE
      let call: ApiCall = { url: first, method: 'GET', headers, timeoutMs, repeatable: true }
      for (let hop = 0; ; hop++) {
        const response = await exchange(call, maxBytes + 1)
        const { status, headers: given, body: bytes, truncated } = response
        const next = status >= 300 && status < 400 ? given.location : undefined
        if (typeof next === 'string' && hop < redirects) {
          call = { ...call, url: new URL(next, call.url).href, headers: undefined }
          continue
        }
        if (status !== 200) {
          const answer = answerOf(response, clock.now())
          try {
            read?.(answer)
          } catch (thrown) {
            throw unlessRepeatable(thrown, call)
          }
          throw new ApiError(
            status === 404 || status === 410 ? 'not_found' : 'platform_unavailable',
            `${name} gave the file as ${status}`,
            { key: null, status, ...defined({ retryAfterMs: answer.retryAfterMs ?? undefined }) },
          )
        }
        if (bytes.length > maxBytes) throw overLimit('too_large', { maxBytes })
        if (truncated) throw new SwitchboardError('platform_unavailable', `${name}: the file was cut off`)
        return { bytes, type: given['content-type'] ?? '' }
      }
    },
  }
}

/** The vendor did nothing and will accept the call later. Without a requested pause: after five seconds. */
export function asksToWait(message: string, pauseMs: number | null): SwitchboardError {
  return new SwitchboardError('rate_limited', message, { retryAfterMs: pauseMs || PAUSE_MS })
}

function answerOf({ status, headers, body, truncated }: GuardedResponse, now: number): ApiAnswer {
  let json: unknown
  try {
    json = JSON.parse(body.toString('utf8'))
  } catch {
    json = undefined
  }
  const fields = typeof json === 'object' && json !== null ? (json as ApiAnswer['fields']) : {}
  const pauseMs = retryAfterMs(headers['retry-after'], now)
  return { status, headers, json, fields, bytes: body, truncated, retryAfterMs: pauseMs }
}
