// The way to the Web API: form-encoded requests through the kit, and every failure told by what it means for the message:
// it was refused, it did not go out, or nobody knows. Nothing is tried again here.
import { asSwitchboardError, type Clock, SwitchboardError } from '../../../contract/index.ts'
import { createGuardedFetch, type GuardedFetch, type GuardedResponse } from '../../../kit/index.ts'
import type { SlackConfig, Timings } from '../config.ts'
import { refusalOf, UNCERTAIN } from './refusals.ts'

export interface CallOptions {
  readonly timeoutMs?: number
  readonly signal?: AbortSignal
  /** Doing it twice shows the same (an edit, a reaction, a read): a lost answer is then no open question. */
  readonly repeatable?: boolean
  /** Which token; absent: the bot's. */
  readonly as?: 'app'
}

/** What a method answered, `ok` being true. */
export type SlackAnswer = Readonly<Record<string, unknown>>

export interface SlackClient {
  /**
   * Throws `SlackRefusal` (platform_rejected, or platform_unavailable for a token that counts no more), `rate_limited`,
   * `platform_unavailable`, `outcome_unknown`.
   */
  call(
    method: string,
    params?: Readonly<Record<string, unknown>>,
    options?: CallOptions,
  ): Promise<{ readonly answer: SlackAnswer; readonly scopes: readonly string[] | null }>
  /** The bytes behind a URL of Slack's, at most `maxBytes`; the token goes along to Slack's own hosts, never past a redirect. */
  download(url: string, maxBytes: number): Promise<{ readonly bytes: Buffer; readonly type: string }>
  upload(url: string, bytes: Uint8Array): Promise<void>
  /** By how much our clock is ahead of Slack's, by the date of its newest answer; 0 where that is less than half a minute. */
  aheadMs(): number
}

const MAX_ANSWER_BYTES = 32 * 1_048_576
const MOST_REDIRECTS = 3
const SKEW_MS = 30_000

export function createSlackClient(
  config: SlackConfig,
  timings: Pick<Timings, 'requestTimeoutMs'>,
  deps: { readonly clock: Clock },
  guarded: GuardedFetch = createGuardedFetch(deps),
): SlackClient {
  let ahead = 0
  /** An answer's date has no fractions, and was written somewhere between our two looks at the clock. */
  const compareClocks = (date: unknown, asked: number, answered: number) => {
    const theirs = typeof date === 'string' ? Date.parse(date) : Number.NaN
    if (Number.isNaN(theirs)) return
    const skew = asked > theirs + 999 ? asked - theirs - 999 : Math.min(0, answered - theirs)
    ahead = Math.abs(skew) < SKEW_MS ? 0 : skew
  }
  const guard = { allowPrivate: config.ownServer, allowHttp: config.ownServer }

  return {
    aheadMs: () => ahead,
    async call(method, params = {}, options = {}) {
      const askedAt = deps.clock.now()
      const token = options.as === 'app' ? (config.appToken ?? '') : config.botToken
      const response = await guarded({
        url: config.apiUrl + method,
        method: 'POST',
        headers: {
          authorization: `Bearer ${token}`,
          accept: 'application/json',
          'content-type': 'application/x-www-form-urlencoded; charset=utf-8',
        },
        body: formOf(params),
        timeoutMs: options.timeoutMs ?? timings.requestTimeoutMs,
        maxResponseBytes: MAX_ANSWER_BYTES,
        ...guard,
        ...(options.signal ? { signal: options.signal } : {}),
      }).catch((thrown: unknown) => {
        throw meaningOf(thrown, options)
      })
      compareClocks(response.headers.date, askedAt, deps.clock.now())
      return { answer: read(method, response, options), scopes: scopesOf(response) }
    },

    async download(first, maxBytes) {
      let url = first
      for (let hop = 0; hop <= MOST_REDIRECTS; hop++) {
        const response = await guarded({
          url,
          method: 'GET',
          headers:
            isSlackHost(url, config) && hop === 0 ? { authorization: `Bearer ${config.botToken}` } : {},
          timeoutMs: timings.requestTimeoutMs * 4,
          maxResponseBytes: maxBytes + 1,
          ...guard,
        }).catch((thrown: unknown) => {
          throw meaningOf(thrown, { repeatable: true })
        })
        const next = response.headers.location
        if (response.status >= 300 && response.status < 400 && typeof next === 'string') {
          url = new URL(next, url).href
          continue
        }
        if (response.status !== 200)
          throw new SwitchboardError('platform_unavailable', `Slack gave the file as ${response.status}`)
        if (response.body.length > maxBytes || response.truncated)
          throw new SwitchboardError('too_large', `the file is over ${maxBytes} bytes`)
        return { bytes: response.body, type: String(response.headers['content-type'] ?? '') }
      }
      throw new SwitchboardError('platform_rejected', 'Slack led the file in a circle')
    },

    async upload(url, bytes) {
      const response = await guarded({
        url,
        method: 'POST',
        headers: { 'content-type': 'application/octet-stream' },
        body: bytes,
        timeoutMs: timings.requestTimeoutMs * 4,
        maxResponseBytes: 65_536,
        ...guard,
      }).catch((thrown: unknown) => {
        throw meaningOf(thrown, { repeatable: true })
      })
      if (response.status !== 200)
        throw new SwitchboardError('platform_unavailable', `Slack took the file with ${response.status}`)
    },
  }
}

/** Lists and objects as JSON, booleans as words; what is undefined is left out. */
function formOf(params: Readonly<Record<string, unknown>>): string {
  const form = new URLSearchParams()
  for (const [key, value] of Object.entries(params)) {
    if (value === undefined || value === null) continue
    form.set(key, typeof value === 'object' ? JSON.stringify(value) : String(value))
  }
  return form.toString()
}

function read(method: string, response: GuardedResponse, options: CallOptions): SlackAnswer {
  const { status, headers } = response
  const parsed = parseJson(response)
  const error =
    parsed !== null && parsed.ok === false && typeof parsed.error === 'string' ? parsed.error : null
  if (status === 429 || error === 'ratelimited' || error === 'rate_limited') {
    const seconds = Number(headers['retry-after'])
    throw new SwitchboardError('rate_limited', `ratelimited: Slack asks to wait with ${method}`, {
      retryAfterMs: Number.isFinite(seconds) && seconds > 0 ? seconds * 1_000 : 5_000,
    })
  }
  if (parsed !== null && parsed.ok === true) return parsed
  if (parsed !== null && error !== null && !UNCERTAIN.has(error)) throw refusalOf(error, parsed)
  // A server that others wrote, without this method.
  if (error === null && [404, 405, 501].includes(status)) throw refusalOf('unknown_method', {})
  const said = error ?? (status === 200 ? 'an answer that could not be read' : `HTTP ${status}`)
  if (options.repeatable === true) throw new SwitchboardError('platform_unavailable', `Slack: ${said}`)
  if (status >= 400 && status < 500) throw new SwitchboardError('platform_rejected', `Slack: ${said}`)
  throw new SwitchboardError('outcome_unknown', `Slack: ${said}`)
}

function parseJson(response: GuardedResponse): SlackAnswer | null {
  try {
    const parsed: unknown = JSON.parse(response.body.toString('utf8'))
    return typeof parsed === 'object' && parsed !== null ? (parsed as SlackAnswer) : null
  } catch {
    return null
  }
}

function scopesOf({ headers }: GuardedResponse): readonly string[] | null {
  const given = headers['x-oauth-scopes']
  if (typeof given !== 'string') return null
  return given
    .split(',')
    .map((scope) => scope.trim())
    .filter((scope) => scope !== '')
}

function meaningOf(thrown: unknown, options: CallOptions): SwitchboardError {
  const error = asSwitchboardError(thrown, 'platform_unavailable')
  if (error.code === 'outcome_unknown' && options.repeatable)
    return new SwitchboardError('platform_unavailable', `Slack: ${error.message}`)
  if (error.code === 'forbidden' || error.code === 'input_invalid')
    return new SwitchboardError('platform_unavailable', `api_url: ${error.message}`)
  return error
}

/** Where the bot's token may go: Slack's own hosts, or that of the configured server. */
export function isSlackHost(url: string, config: Pick<SlackConfig, 'apiUrl' | 'ownServer'>): boolean {
  if (!URL.canParse(url)) return false
  const { host, hostname, protocol } = new URL(url)
  if (config.ownServer && host === new URL(config.apiUrl).host) return true
  return protocol === 'https:' && /(^|\.)slack\.com$/.test(hostname)
}
