// Calls to the HTTP API of a vendor, under a deadline and the guard. Each failure is told by what it means for the message: it
// was refused, it did not go out, or the outcome is unknown. Nothing is tried again here, because the core does that.
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
  /** The vendor, as errors name it. */
  readonly name: string
  readonly clock: Pick<Clock, 'now' | 'after'>
  readonly timeoutMs: number
  /** The key of the configuration that holds the address, for errors. Absent: `api_url`. */
  readonly urlKey?: string
  /** The operator's own server: private addresses and plain `http:` are open. */
  readonly ownServer?: boolean
  /** Sent with every call, and not with downloads. */
  readonly headers?: Readonly<Record<string, string>>
  readonly fetch?: GuardedFetch | undefined
}

export interface ApiCall {
  readonly url: string
  readonly method: GuardedRequest['method']
  readonly headers?: Readonly<Record<string, string>> | undefined
  readonly body?: string | Uint8Array | undefined
  /** Absent: that of the client. */
  readonly timeoutMs?: number | undefined
  readonly signal?: AbortSignal | undefined
  /** Doing it twice shows the same (an edit, a reaction, a read). A lost answer then leaves no question open. */
  readonly repeatable?: boolean | undefined
}

export interface ApiAnswer {
  readonly status: number
  readonly headers: GuardedResponse['headers']
  /** The body as JSON. Undefined: it is none. */
  readonly json: unknown
  /** The same when it is an object, else an empty one. */
  readonly fields: Readonly<Record<string, unknown>>
  readonly bytes: Buffer
  /** The connection broke, or the limit was reached, before the body was whole. */
  readonly truncated: boolean
  /** The pause that its header `Retry-After` asks for. Null: none. */
  readonly retryAfterMs: number | null
}

export interface DownloadOptions {
  readonly maxBytes: number
  /** Sent with the first request, never with one that a redirect leads to. */
  readonly headers?: Readonly<Record<string, string>>
  /** Most redirects that are followed. Absent: none. */
  readonly redirects?: number
  /** Throws what an answer without the file means. Absent, or when it returns: the status decides. */
  readonly read?: (answer: ApiAnswer) => void
}

export interface ApiClient {
  /**
   * Returns what `read` makes of the answer. `read` throws what the vendor's error means (`createRefusals`), and returns
   * undefined for what is no answer of this API: then the status decides.
   *
   * Throws `platform_unavailable` when the request did not go out, and `outcome_unknown` when it went out and no answer came.
   * A repeatable call throws `platform_unavailable` for both.
   */
  call<Value>(call: ApiCall, read: (answer: ApiAnswer) => Value | undefined): Promise<Value>
  /**
   * The bytes behind a URL, and their content type. Throws `too_large` above `maxBytes`, `not_found` for 404 and 410, and
   * `platform_unavailable` for everything else.
   */
  download(url: string, options: DownloadOptions): Promise<{ readonly bytes: Buffer; readonly type: string }>
}

const MAX_ANSWER_BYTES = 32 * 1_048_576
/** A file may take this many times as long as a call. */
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

  /** The status of what is no answer of the API. A redirect may come after the work was done. */
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

/** The vendor did nothing, and accepts the same later. Without a pause of its own: after five seconds. */
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
