// Calls to the Graph API, in JSON. The kit judges what a failure means. Nothing is retried here.
import { type Clock, SwitchboardError } from '../../contract/index.ts'
import {
  type ApiAnswer,
  createApiClient,
  type GuardedFetch,
  isVendorUrl,
  type VendorServer,
} from '../../kit/index.ts'
import type { Timings, WhatsAppConfig } from './config.ts'
import type { Fields } from './fields.ts'
import { refusalOf } from './refusals.ts'

export interface CallOptions {
  readonly method?: 'GET' | 'POST'
  readonly json?: Fields
  readonly form?: { readonly body: Uint8Array; readonly type: string }
  /** Repeating it has the same effect (a read, an upload, a read mark). A lost answer then means no unknown outcome. */
  readonly repeatable?: boolean
}

export interface WhatsAppClient {
  /** `path` follows the version. Throws the errors of `refusalOf`, `platform_unavailable` or `outcome_unknown`. */
  call(path: string, options?: CallOptions): Promise<Fields>
  /** Returns the bytes of a URL from the API, at most `maxBytes`. `not_found`: it has expired, or was deleted. */
  download(url: string, maxBytes: number): Promise<Buffer>
}

export function createWhatsAppClient(
  config: WhatsAppConfig,
  { requestTimeoutMs: timeoutMs }: Pick<Timings, 'requestTimeoutMs'>,
  { clock }: { readonly clock: Clock },
  fetch?: GuardedFetch,
): WhatsAppClient {
  const authorization = `Bearer ${config.accessToken}`
  const headers = { authorization, accept: 'application/json' }
  const { ownServer } = config
  const api = createApiClient({ name: 'WhatsApp', clock, timeoutMs, ownServer, headers, fetch })

  return {
    call(path, options = {}) {
      const { json, form, repeatable } = options
      const method = options.method ?? (json === undefined && form === undefined ? 'GET' : 'POST')
      const body = method === 'POST' ? (form?.body ?? JSON.stringify(json ?? {})) : undefined
      const type = { 'content-type': form?.type ?? 'application/json' }
      const url = `${config.apiUrl}/${path}`
      return api.call({ url, method, headers: body === undefined ? {} : type, body, repeatable }, read)
    },

    async download(url, maxBytes) {
      if (!isMediaHost(url, config))
        throw new SwitchboardError(
          'platform_rejected',
          'the media lies outside of WhatsApp and is not fetched',
        )
      return (await api.download(url, { maxBytes, headers: { authorization }, read: readMedia })).bytes
    },
  }
}

/** Undefined: it is not an answer of the API, so the status decides. */
function read(answer: ApiAnswer): Fields | undefined {
  const { status, json, fields } = answer
  const isFields = typeof json === 'object' && json !== null
  if (isFields && status >= 200 && status < 300 && fields.error === undefined) return fields
  const refusal = refusalOf(fields, answer)
  if (refusal !== null) throw refusal
  return undefined
}

/** An answer without the media. 404 and 410 mean that it is gone, or that its address has expired. */
function readMedia(answer: ApiAnswer): void {
  const isGone = answer.status === 404 || answer.status === 410
  const refusal = isGone ? null : refusalOf(answer.fields, answer)
  if (refusal !== null) throw refusal
}

/** Whether the token may be sent there: Meta's own hosts, or the configured server. */
export function isMediaHost(url: string, server: VendorServer): boolean {
  return isVendorUrl(url, server, /(^|\.)(facebook\.com|fbsbx\.com|fbcdn\.net|whatsapp\.net)$/)
}
