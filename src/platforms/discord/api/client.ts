// Calls to Discord's REST API, within its limits. The kit judges what a failure means. Nothing waits here.
import { type Clock, SwitchboardError } from '../../../contract/index.ts'
import {
  type ApiAnswer,
  asksToWait,
  createApiClient,
  type GuardedFetch,
  isStatus,
  multipartForm,
} from '../../../kit/index.ts'
import type { DiscordConfig, Timings } from '../config.ts'
import { createLimits, routeOf } from './rate-limits.ts'
import { refusalOf } from './refusals.ts'

export type Verb = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

export interface Upload {
  readonly name: string
  readonly mime: string
  readonly bytes: Uint8Array
}

export interface CallOptions {
  readonly body?: Readonly<Record<string, unknown>>
  readonly files?: readonly Upload[]
  readonly timeoutMs?: number
  /** Repeating it has the same effect (an edit, a reaction, a read). A lost answer then means no unknown outcome. */
  readonly repeatable?: boolean
}

export type DiscordAnswer = Readonly<Record<string, unknown>>

export interface DiscordClient {
  /**
   * Returns the answer, or an empty object for an empty one. Throws the errors of `refusalOf`, `rate_limited`,
   * `platform_unavailable` or `outcome_unknown`.
   */
  call(verb: Verb, path: string, options?: CallOptions): Promise<DiscordAnswer>
  /** The same for routes that answer with a list. */
  list(path: string, options?: CallOptions): Promise<readonly DiscordAnswer[]>
  /** Returns the bytes of an address at Discord, at most `maxBytes`. Null: it does not exist, or no longer. */
  download(url: string, maxBytes: number): Promise<Buffer | null>
}

const BLOCKED_MS = 60_000
const USER_AGENT = 'DiscordBot (switchboard, 1)'

export function createDiscordClient(
  config: DiscordConfig,
  { requestTimeoutMs: timeoutMs }: Pick<Timings, 'requestTimeoutMs'>,
  { clock }: { readonly clock: Clock },
  fetch?: GuardedFetch,
): DiscordClient {
  const limits = createLimits(clock)
  const api = createApiClient({ name: 'Discord', clock, timeoutMs, ownServer: config.ownServer, fetch })

  const exchange = async (method: Verb, path: string, options: CallOptions): Promise<unknown> => {
    const route = routeOf(method, path)
    const wait = limits.take(route)
    if (wait > 0) throw askedToWait(wait)
    const { body, type } = contentOf(options)
    const headers = {
      authorization: `Bot ${config.token}`,
      accept: 'application/json',
      'user-agent': USER_AGENT,
      ...(type === undefined ? {} : { 'content-type': type }),
    }
    const { repeatable } = options
    const call = {
      url: config.apiUrl + path,
      method,
      headers,
      body,
      timeoutMs: options.timeoutMs,
      repeatable,
    }
    return api.call(call, (answer) => {
      const { status, fields } = answer
      const retryAfterMs = status === 429 ? pauseOf(answer) : 0
      const isGlobal = answer.headers['x-ratelimit-global'] === 'true' || fields.global === true
      limits.heard(route, { status, headers: answer.headers, retryAfterMs, global: isGlobal })
      if (status === 429) throw askedToWait(retryAfterMs)
      return read(answer)
    })
  }

  return {
    call: async (verb, path, options = {}) => objectOf(await exchange(verb, path, options)),
    async list(path, options = {}) {
      const answer = await exchange('GET', path, { ...options, repeatable: true })
      if (!Array.isArray(answer))
        throw new SwitchboardError('platform_unavailable', 'Discord: a list was asked for, and none came')
      return answer.filter((one): one is DiscordAnswer => typeof one === 'object' && one !== null)
    },
    async download(url, maxBytes) {
      try {
        // Without a token, because these addresses are signed, and a message names their host.
        return (await api.download(url, { maxBytes, headers: { 'user-agent': USER_AGENT } })).bytes
      } catch (thrown) {
        if (isStatus(thrown, 403, 404, 410)) return null
        throw thrown
      }
    },
  }
}

interface Content {
  readonly body?: string | Uint8Array
  readonly type?: string
}

/** The body of a message with files: `payload_json`, then `files[n]`. */
function contentOf({ body, files = [] }: CallOptions): Content {
  if (files.length === 0)
    return body === undefined ? {} : { body: JSON.stringify(body), type: 'application/json' }
  const attachments = files.map(({ name }, id) => ({ id, filename: name }))
  const payload = {
    name: 'payload_json',
    value: JSON.stringify({ ...body, attachments }),
    type: 'application/json',
  }
  const parts = files.map(({ name, mime, bytes }, at) => ({
    name: `files[${at}]`,
    filename: name,
    type: mime,
    value: bytes,
  }))
  return multipartForm([payload, ...parts])
}

/** Undefined: it is not an answer of Discord, so the status decides. */
function read({ status, json, fields, bytes, truncated }: ApiAnswer): unknown {
  // An answer that was cut before its body is not an empty answer.
  const isEmpty = bytes.length === 0 && !truncated
  if (status >= 200 && status < 300) return isEmpty ? {} : json
  if (status < 400 || status >= 500) return undefined
  // A page instead of an answer: a firewall in front of Discord blocks the whole address.
  if (status === 403 && (typeof json !== 'object' || json === null))
    throw new SwitchboardError('platform_unavailable', 'Discord: HTTP 403 with a page and not an answer', {
      hint: 'requests of this address are blocked for a while: too many were refused',
      retryAfterMs: BLOCKED_MS,
    })
  throw refusalOf(status, fields)
}

function objectOf(value: unknown): DiscordAnswer {
  return typeof value === 'object' && value !== null ? (value as DiscordAnswer) : {}
}

/** Returns the requested pause. The body has fractions of seconds, the header has not. */
function pauseOf({ headers, fields }: ApiAnswer): number {
  const given = [fields.retry_after, headers['retry-after'], headers['x-ratelimit-reset-after']]
  const seconds = given.map(Number).find((one) => Number.isFinite(one) && one > 0)
  return Math.ceil((seconds ?? 5) * 1_000)
}

const askedToWait = (delayMs: number) => asksToWait('Discord asks to wait', Math.max(1, delayMs))
