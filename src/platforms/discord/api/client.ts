// The way to Discord's REST API, through the kit: every failure told by what it means for the message. It was refused, it
// did not go out, or nobody knows. Nothing is tried again here, and nothing waits.
import { asSwitchboardError, type Clock, defined, SwitchboardError } from '../../../contract/index.ts'
import { createGuardedFetch, type GuardedFetch, type GuardedResponse } from '../../../kit/index.ts'
import type { DiscordConfig, Timings } from '../config.ts'
import { multipartOf, type Upload } from './multipart.ts'
import { createLimits, routeOf } from './rate-limits.ts'
import { refusalOf } from './refusals.ts'

export type Verb = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

export interface CallOptions {
  readonly body?: Readonly<Record<string, unknown>>
  readonly files?: readonly Upload[]
  readonly timeoutMs?: number
  /** Doing it twice shows the same (an edit, a reaction, a read): a lost answer is then no open question. */
  readonly repeatable?: boolean
}

export type DiscordAnswer = Readonly<Record<string, unknown>>

export interface DiscordClient {
  /**
   * What was answered, an empty object where nothing was. Throws `DiscordRefusal` (platform_rejected, or
   * platform_unavailable for a token that counts no more), `rate_limited`, `platform_unavailable`, `outcome_unknown`.
   */
  call(verb: Verb, path: string, options?: CallOptions): Promise<DiscordAnswer>
  /** The same for what answers with a list. */
  list(path: string, options?: CallOptions): Promise<readonly DiscordAnswer[]>
  /** The bytes behind an address of Discord's, at most `maxBytes`. Null: it is not there, or no longer. */
  download(url: string, maxBytes: number): Promise<Buffer | null>
}

const MAX_ANSWER_BYTES = 32 * 1_048_576
const WITHOUT_WORDS_MS = 60_000
const USER_AGENT = 'DiscordBot (switchboard, 1)'

export function createDiscordClient(
  config: DiscordConfig,
  timings: Pick<Timings, 'requestTimeoutMs'>,
  deps: { readonly clock: Clock },
  guarded: GuardedFetch = createGuardedFetch(deps),
): DiscordClient {
  const limits = createLimits(deps.clock)
  const guard = { allowPrivate: config.ownServer, allowHttp: config.ownServer }

  const exchange = async (verb: Verb, path: string, options: CallOptions): Promise<unknown> => {
    const route = routeOf(verb, path)
    const wait = limits.take(route)
    if (wait > 0) throw limited(wait)
    const { body, headers } = contentOf(options)
    const response = await guarded({
      url: config.apiUrl + path,
      method: verb,
      headers: {
        authorization: `Bot ${config.token}`,
        accept: 'application/json',
        'user-agent': USER_AGENT,
        ...headers,
      },
      ...defined({ body }),
      timeoutMs: options.timeoutMs ?? timings.requestTimeoutMs,
      maxResponseBytes: MAX_ANSWER_BYTES,
      ...guard,
    }).catch((thrown: unknown) => {
      throw meaningOf(thrown, options)
    })
    const parsed = parseJson(response)
    const retryAfterMs = response.status === 429 ? retryAfterOf(response, parsed) : 0
    const isGlobal = response.headers['x-ratelimit-global'] === 'true' || objectOf(parsed).global === true
    limits.heard(route, { ...response, retryAfterMs, global: isGlobal })
    if (response.status === 429) throw limited(retryAfterMs)
    return read(response, parsed, options)
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
      const response = await guarded({
        url,
        method: 'GET',
        // No token: these addresses are signed, and their host is told by whoever wrote the message.
        headers: { 'user-agent': USER_AGENT },
        timeoutMs: timings.requestTimeoutMs * 4,
        maxResponseBytes: maxBytes + 1,
        ...guard,
      }).catch((thrown: unknown) => {
        throw meaningOf(thrown, { repeatable: true })
      })
      if (response.status === 403 || response.status === 404 || response.status === 410) return null
      if (response.status !== 200)
        throw new SwitchboardError('platform_unavailable', `Discord gave the file as ${response.status}`)
      if (response.body.length > maxBytes || response.truncated)
        throw new SwitchboardError('too_large', `the file is over ${maxBytes} bytes`)
      return response.body
    },
  }
}

interface Content {
  readonly body: string | Uint8Array | undefined
  readonly headers: Readonly<Record<string, string>>
}

function contentOf({ body, files = [] }: CallOptions): Content {
  if (files.length > 0) return multipartOf(body ?? {}, files)
  if (body === undefined) return { body: undefined, headers: {} }
  return { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }
}

function read(response: GuardedResponse, parsed: unknown, options: CallOptions): unknown {
  const { status, body } = response
  // An answer that was cut in front of its body is not one without a body.
  const isEmpty = body.length === 0 && !response.truncated
  if (status >= 200 && status < 300 && (parsed !== undefined || isEmpty)) return parsed ?? {}
  if (status >= 400 && status < 500) {
    if (typeof parsed === 'object' && parsed !== null) throw refusalOf(status, parsed)
    if (status === 401) throw refusalOf(status, {})
    // A page instead of an answer: what stands before Discord refuses the whole address.
    if (status === 403)
      throw new SwitchboardError('platform_unavailable', 'Discord: HTTP 403 with a page and not an answer', {
        hint: 'requests of this address are blocked for a while: too many were refused',
        retryAfterMs: WITHOUT_WORDS_MS,
      })
    throw refusalOf(status, {})
  }
  const said = status < 300 ? 'an answer that could not be read' : `HTTP ${status}`
  if (options.repeatable === true) throw new SwitchboardError('platform_unavailable', `Discord: ${said}`)
  throw new SwitchboardError('outcome_unknown', `Discord: ${said}`)
}

/** Undefined: it is no JSON. */
function parseJson({ body }: GuardedResponse): unknown {
  try {
    return JSON.parse(body.toString('utf8'))
  } catch {
    return undefined
  }
}

function objectOf(value: unknown): DiscordAnswer {
  return typeof value === 'object' && value !== null ? (value as DiscordAnswer) : {}
}

/** The body tells it with fractions, the header without. */
function retryAfterOf({ headers }: GuardedResponse, parsed: unknown): number {
  const given = [objectOf(parsed).retry_after, headers['retry-after'], headers['x-ratelimit-reset-after']]
  const seconds = given.map(Number).find((one) => Number.isFinite(one) && one > 0)
  return Math.ceil((seconds ?? 5) * 1_000)
}

function limited(retryAfterMs: number): SwitchboardError {
  return new SwitchboardError('rate_limited', 'Discord asks to wait', {
    retryAfterMs: Math.max(1, retryAfterMs),
  })
}

function meaningOf(thrown: unknown, options: CallOptions): SwitchboardError {
  const error = asSwitchboardError(thrown, 'platform_unavailable')
  if (error.code === 'outcome_unknown' && options.repeatable)
    return new SwitchboardError('platform_unavailable', `Discord: ${error.message}`)
  if (error.code === 'forbidden' || error.code === 'input_invalid')
    return new SwitchboardError('platform_unavailable', `api_url: ${error.message}`)
  return error
}
