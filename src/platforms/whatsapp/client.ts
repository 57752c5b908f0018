// The way to the Graph API: JSON through the kit, and every failure told by what it means for the message: it was refused, it did
// not go out, or nobody knows. Nothing is tried again here.
import { asSwitchboardError, type Clock, SwitchboardError } from '../../contract/index.ts'
import { createGuardedFetch, type GuardedFetch, type GuardedResponse } from '../../kit/index.ts'
import type { Timings, WhatsAppConfig } from './config.ts'
import { type Fields, fieldsOf } from './fields.ts'
import { refusalOf } from './refusals.ts'

export interface CallOptions {
  readonly method?: 'GET' | 'POST'
  readonly json?: Fields
  readonly form?: { readonly body: Uint8Array; readonly type: string }
  /** Doing it twice shows the same (a look, an upload, a read mark): a lost answer is then no open question. */
  readonly repeatable?: boolean
  readonly timeoutMs?: number
}

export interface WhatsAppClient {
  /** `path` behind the version. Throws what `refusalOf` makes, `platform_unavailable` or `outcome_unknown`. */
  call(path: string, options?: CallOptions): Promise<Fields>
  /** The bytes behind a URL that the API gave, at most `maxBytes`. `not_found`: it has run out, or was deleted. */
  download(url: string, maxBytes: number): Promise<Buffer>
}

const MAX_ANSWER_BYTES = 4 * 1_048_576

export function createWhatsAppClient(
  config: WhatsAppConfig,
  timings: Pick<Timings, 'requestTimeoutMs'>,
  deps: { readonly clock: Clock },
  guarded: GuardedFetch = createGuardedFetch(deps),
): WhatsAppClient {
  const guard = { allowPrivate: config.ownServer, allowHttp: config.ownServer }
  const authorization = `Bearer ${config.accessToken}`

  return {
    async call(path, options = {}) {
      const { json, form, repeatable = false } = options
      const method = options.method ?? (json === undefined && form === undefined ? 'GET' : 'POST')
      const type = form?.type ?? 'application/json'
      const response = await guarded({
        url: `${config.apiUrl}/${path}`,
        method,
        headers: {
          authorization,
          accept: 'application/json',
          ...(method === 'POST' ? { 'content-type': type } : {}),
        },
        ...(method === 'POST' ? { body: form?.body ?? JSON.stringify(json ?? {}) } : {}),
        timeoutMs: options.timeoutMs ?? timings.requestTimeoutMs,
        maxResponseBytes: MAX_ANSWER_BYTES,
        ...guard,
      }).catch((thrown: unknown) => {
        throw meaningOf(thrown, repeatable)
      })
      return read(response, repeatable, deps.clock.now())
    },

    async download(url, maxBytes) {
      if (!isMediaHost(url, config))
        throw new SwitchboardError(
          'platform_rejected',
          'the media lies outside of WhatsApp and is not fetched',
        )
      const response = await guarded({
        url,
        method: 'GET',
        headers: { authorization },
        timeoutMs: timings.requestTimeoutMs * 4,
        maxResponseBytes: maxBytes + 1,
        ...guard,
      }).catch((thrown: unknown) => {
        throw meaningOf(thrown, true)
      })
      if (response.status === 404 || response.status === 410)
        throw new SwitchboardError('not_found', 'the media is gone, or its address has run out')
      if (response.status !== 200) {
        const answered = { status: response.status, retryAfter: undefined, now: deps.clock.now() }
        const refusal = refusalOf(parsed(response) ?? {}, answered)
        throw meaningOf(
          refusal ??
            new SwitchboardError('platform_unavailable', `WhatsApp gave the media as ${response.status}`),
          true,
        )
      }
      if (response.body.length > maxBytes || response.truncated)
        throw new SwitchboardError('too_large', `the media is over ${maxBytes} bytes`)
      return response.body
    },
  }
}

function read(response: GuardedResponse, repeatable: boolean, now: number): Fields {
  const { status, headers } = response
  const body = parsed(response)
  if (body !== null && status >= 200 && status < 300 && body.error === undefined) return body
  const refusal = body === null ? null : refusalOf(body, { status, retryAfter: headers['retry-after'], now })
  if (refusal !== null) throw meaningOf(refusal, repeatable)
  const said = status >= 200 && status < 300 ? 'an answer that could not be read' : `HTTP ${status}`
  if (status === 429) throw new SwitchboardError('rate_limited', `WhatsApp: ${said}`, { retryAfterMs: 5_000 })
  if (status >= 400 && status < 500)
    throw new SwitchboardError(
      repeatable && status === 408 ? 'platform_unavailable' : 'platform_rejected',
      `WhatsApp: ${said}`,
    )
  if (repeatable) throw new SwitchboardError('platform_unavailable', `WhatsApp: ${said}`)
  throw new SwitchboardError('outcome_unknown', `WhatsApp: ${said}`)
}

function parsed(response: GuardedResponse): Fields | null {
  try {
    const value: unknown = JSON.parse(response.body.toString('utf8'))
    return typeof value === 'object' && value !== null ? fieldsOf(value) : null
  } catch {
    return null
  }
}

function meaningOf(thrown: unknown, repeatable: boolean): SwitchboardError {
  const error = asSwitchboardError(thrown, 'platform_unavailable')
  if (error.code === 'outcome_unknown' && repeatable)
    return new SwitchboardError('platform_unavailable', `WhatsApp: ${error.message}`)
  if (error.code === 'forbidden' || error.code === 'input_invalid')
    return new SwitchboardError('platform_unavailable', `api_url: ${error.message}`)
  return error
}

/** Where the token may go: Meta's own hosts, or that of the configured server. */
export function isMediaHost(url: string, config: Pick<WhatsAppConfig, 'apiUrl' | 'ownServer'>): boolean {
  if (!URL.canParse(url)) return false
  const { host, hostname, protocol } = new URL(url)
  if (config.ownServer && host === new URL(config.apiUrl).host) return true
  return protocol === 'https:' && /(^|\.)(facebook\.com|fbsbx\.com|fbcdn\.net|whatsapp\.net)$/.test(hostname)
}
