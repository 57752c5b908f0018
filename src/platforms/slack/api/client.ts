// Calls to the Web API of Slack: form-encoded requests and their answers. The kit judges what a failure means.
import { type Clock, SwitchboardError } from '../../../contract/index.ts'
import {
  type ApiAnswer,
  asksToWait,
  createApiClient,
  type GuardedFetch,
  isVendorUrl,
  type VendorServer,
} from '../../../kit/index.ts'
import type { SlackConfig, Timings } from '../config.ts'
import { refusalOf } from './refusals.ts'

export interface CallOptions {
  readonly timeoutMs?: number
  readonly signal?: AbortSignal
  /** Repeating it has the same effect (an edit, a reaction, a read). A lost answer then means no unknown outcome. */
  readonly repeatable?: boolean
  /** The token of the call. Absent: the bot's. */
  readonly as?: 'app'
}

/** The answer of a method, with `ok` true. */
export type SlackAnswer = Readonly<Record<string, unknown>>

interface Answered {
  readonly answer: SlackAnswer
  /** The token's scopes. Null: Slack did not report them. */
  readonly scopes: readonly string[] | null
}

export interface SlackClient {
  /** Throws the errors of `refusalOf`, `rate_limited`, `platform_unavailable` or `outcome_unknown`. */
  call(method: string, params?: Readonly<Record<string, unknown>>, options?: CallOptions): Promise<Answered>
  /**
   * Returns the bytes of a URL, at most `maxBytes`. The token goes only to Slack's own hosts, never past a redirect.
   */
  download(url: string, maxBytes: number): Promise<{ readonly bytes: Buffer; readonly type: string }>
  upload(url: string, bytes: Uint8Array): Promise<void>
  /** How far our clock is ahead of Slack's, by its newest answer. 0: less than half a minute. */
  aheadMs(): number
}

const MOST_REDIRECTS = 3
const SKEW_MS = 30_000

export function createSlackClient(
  config: SlackConfig,
  { requestTimeoutMs: timeoutMs }: Pick<Timings, 'requestTimeoutMs'>,
  { clock }: { readonly clock: Clock },
  fetch?: GuardedFetch,
): SlackClient {
  let ahead = 0
  /** The date of an answer has no fractions. It was written between the request and the answer. */
  const compareClocks = (date: unknown, asked: number, answered: number) => {
    const theirs = typeof date === 'string' ? Date.parse(date) : Number.NaN
    if (Number.isNaN(theirs)) return
    const skew = asked > theirs + 999 ? asked - theirs - 999 : Math.min(0, answered - theirs)
    ahead = Math.abs(skew) < SKEW_MS ? 0 : skew
  }
  const api = createApiClient({ name: 'Slack', clock, timeoutMs, ownServer: config.ownServer, fetch })

  return {
    aheadMs: () => ahead,
    call(method, params = {}, options = {}) {
      const askedAt = clock.now()
      const token = options.as === 'app' ? (config.appToken ?? '') : config.botToken
      const headers = {
        authorization: `Bearer ${token}`,
        accept: 'application/json',
        'content-type': 'application/x-www-form-urlencoded; charset=utf-8',
      }
      const url = config.apiUrl + method
      return api.call({ ...options, url, method: 'POST', headers, body: formOf(params) }, (answer) => {
        compareClocks(answer.headers.date, askedAt, clock.now())
        return read(method, answer)
      })
    },

    download: (url, maxBytes) =>
      api.download(url, {
        maxBytes,
        headers: isSlackHost(url, config) ? { authorization: `Bearer ${config.botToken}` } : {},
        redirects: MOST_REDIRECTS,
      }),

    async upload(url, bytes) {
      const headers = { 'content-type': 'application/octet-stream' }
      const call = { url, headers, body: bytes, timeoutMs: timeoutMs * 4, repeatable: true }
      await api.call({ ...call, method: 'POST' }, ({ status }) => {
        // The next try uses another place for the file, whatever happened to this one.
        if (status === 200) return true
        throw new SwitchboardError('platform_unavailable', `Slack took the file with ${status}`)
      })
    },
  }
}

/** Writes lists and objects as JSON, booleans as words, and omits undefined values. */
function formOf(params: Readonly<Record<string, unknown>>): string {
  const form = new URLSearchParams()
  for (const [key, value] of Object.entries(params)) {
    if (value === undefined || value === null) continue
    form.set(key, typeof value === 'object' ? JSON.stringify(value) : String(value))
  }
  return form.toString()
}

/** Undefined: it is not an answer of Slack, so the status decides. */
function read(method: string, answer: ApiAnswer): Answered | undefined {
  const { status, fields } = answer
  const error = fields.ok === false && typeof fields.error === 'string' ? fields.error : null
  if (status === 429 || error === 'ratelimited' || error === 'rate_limited')
    throw asksToWait(`ratelimited: Slack asks to wait with ${method}`, answer.retryAfterMs)
  if (fields.ok === true) return { answer: fields, scopes: scopesOf(answer) }
  if (error !== null) throw refusalOf(error, fields)
  // A compatible server may lack this method.
  if ([404, 405, 501].includes(status)) throw refusalOf('unknown_method', {})
  return undefined
}

function scopesOf({ headers }: ApiAnswer): readonly string[] | null {
  const given = headers['x-oauth-scopes']
  if (typeof given !== 'string') return null
  return given
    .split(',')
    .map((scope) => scope.trim())
    .filter((scope) => scope !== '')
}

/** Whether the bot's token may be sent there: Slack's own hosts, or the configured server. */
export function isSlackHost(url: string, server: VendorServer): boolean {
  return isVendorUrl(url, server, /(^|\.)slack\.com$/)
}
