// Calls to the Bot API: grammy builds the requests, and the kit carries them and judges what a failure means.
import { Api, HttpError } from 'grammy'
import { type Clock, SwitchboardError } from '../../contract/index.ts'
import {
  type ApiAnswer,
  createApiClient,
  createRefusals,
  type FailureTable,
  type GuardedFetch,
} from '../../kit/index.ts'
import type { TelegramConfig, Timings } from './config.ts'

type RawApi = Api['raw']
type Method = keyof RawApi
type Payload<M extends Method> = Parameters<RawApi[M]>[0]
type Result<M extends Method> = Awaited<ReturnType<RawApi[M]>>

export interface CallOptions {
  readonly timeoutMs?: number
  readonly signal?: AbortSignal
  /** Repeating it has the same effect (an edit, a reaction, a read). A lost answer then means no unknown outcome. */
  readonly repeatable?: boolean
}

export interface TelegramClient {
  /** Throws `rate_limited`, `platform_rejected`, `platform_unavailable`, `outcome_unknown`, or `conflict` (a 409). */
  call<M extends Method>(method: M, payload: Payload<M>, options?: CallOptions): Promise<Result<M>>
  /** Returns the bytes of a file by the path of getFile, at most `maxBytes`. */
  file(path: string, maxBytes: number): Promise<Uint8Array>
}

/** The group became a supergroup; this is its new id. */
export class MovedChatError extends SwitchboardError {
  readonly to: number
  constructor(message: string, to: number) {
    super('platform_rejected', message)
    this.to = to
  }
}

/** Telegram does not name its errors. `kindOf` gives these names. */
const FAILURES: FailureTable = {
  flood: { code: 'rate_limited', retryAfterMs: 1_000 },
  conflict: { code: 'conflict' },
  // Waiting messages are sent once the token is right.
  token: {
    code: 'platform_unavailable',
    meaning: 'Telegram does not know the bot’s token',
    hint: 'see the token of the integration; @BotFather shows it',
    retryAfterMs: 30_000,
  },
  // A gateway that gave up waiting does not know the outcome.
  timeout: { code: 'outcome_unknown' },
  fault: { code: 'platform_unavailable' },
  gone: { code: 'platform_rejected', placeGone: true },
  markup: { code: 'platform_rejected' },
  refused: { code: 'platform_rejected' },
}

const refusal = createRefusals('Telegram', FAILURES)

export function createTelegramClient(
  config: TelegramConfig,
  { requestTimeoutMs: timeoutMs }: Timings,
  { clock }: { readonly clock: Clock },
  fetch?: GuardedFetch,
): TelegramClient {
  const { ownServer, token } = config
  const api = createApiClient({ name: 'Telegram', urlKey: 'api_root', clock, timeoutMs, ownServer, fetch })

  // One client per call, because its fetch contains the call's own deadline and signal.
  const grammyFor = (options: CallOptions): Api => {
    const carry = async (url: unknown, init: Carried) => {
      const headers = { 'content-type': init.headers['content-type'] ?? 'application/json' }
      const body = typeof init.body === 'string' ? init.body : await gathered(init.body)
      const call = { ...options, url: String(url), method: 'POST', headers, body } as const
      const envelope = await api.call(call, (answer) => read(answer, token))
      return { json: async () => envelope }
    }
    return new Api(token, { apiRoot: config.apiRoot, fetch: carry as never, timeoutSeconds: 3_600 })
  }

  return {
    async call(method, payload, options = {}) {
      const raw = grammyFor(options).raw
      try {
        const run = raw[method] as unknown as (payload: unknown) => Promise<never>
        // Methods without parameters take a signal in place of the payload.
        return await run(Object.keys(payload ?? {}).length === 0 ? undefined : payload)
      } catch (thrown) {
        // The token is in the URL, so no text of grammy's error is passed on.
        const cause = thrown instanceof HttpError ? thrown.error : thrown
        if (cause instanceof SwitchboardError) throw cause
        throw new SwitchboardError('internal', 'the request to Telegram could not be made')
      }
    },
    async file(path, maxBytes) {
      const url = `${config.apiRoot}/file/bot${token}/${path.split('/').map(encodeURIComponent).join('/')}`
      return (await api.download(url, { maxBytes })).bytes
    },
  }
}

interface Carried {
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | AsyncIterable<Uint8Array>
}

async function gathered(body: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  for await (const chunk of body) chunks.push(chunk)
  return Buffer.concat(chunks)
}

/** Undefined: it is not an answer of the Bot API, so the status decides. */
function read({ status, fields }: ApiAnswer, token: string): unknown {
  const { ok, error_code, description, parameters } = fields
  if (ok === true) return fields
  const isError = 'ok' in fields && typeof error_code === 'number' && typeof description === 'string'
  if (isError) throw refusalOf(error_code, description.replaceAll(token, '…').slice(0, 300), parameters)
  if (status === 401 || status === 409) throw refusalOf(status, `HTTP ${status}`, {})
  return undefined
}

function refusalOf(status: number, description: string, parameters: unknown): SwitchboardError {
  const { retry_after, migrate_to_chat_id } = (parameters ?? {}) as Readonly<Record<string, unknown>>
  const key = kindOf(status, description)
  if (key === 'refused' && typeof migrate_to_chat_id === 'number')
    return new MovedChatError(`Telegram: ${description}`, migrate_to_chat_id)
  if (key === 'token') return refusal({ key, status, label: '', detail: String(status) })
  const retryAfterMs = typeof retry_after === 'number' ? retry_after * 1_000 : null
  return refusal({
    key,
    status,
    label: 'Telegram',
    said: description,
    retryAfterMs: key === 'flood' ? retryAfterMs : null,
  })
}

function kindOf(status: number, description: string): string {
  if (status === 429) return 'flood'
  if (status === 409) return 'conflict'
  if (status === 401 || (status === 404 && description === 'Not Found')) return 'token'
  if (status >= 500) return status === 504 ? 'timeout' : 'fault'
  if (/can't parse entities/i.test(description)) return 'markup'
  const isGone = /chat not found|bot was (blocked|kicked)|user is deactivated|chat was deleted/i.test(
    description,
  )
  return isGone ? 'gone' : 'refused'
}
