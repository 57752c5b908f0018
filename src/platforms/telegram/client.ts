// The way to the Bot API: grammy makes the requests, the kit carries them, and every failure is told by what it means
// for the message: it was refused, it did not go out, or nobody knows.
import { Api, GrammyError, HttpError } from 'grammy'
import { type Clock, defined, SwitchboardError } from '../../contract/index.ts'
import { createGuardedFetch, type GuardedFetch, type GuardedResponse } from '../../kit/index.ts'
import type { TelegramConfig, Timings } from './config.ts'

type RawApi = Api['raw']
type Method = keyof RawApi
type Payload<M extends Method> = Parameters<RawApi[M]>[0]
type Result<M extends Method> = Awaited<ReturnType<RawApi[M]>>

export interface CallOptions {
  readonly timeoutMs?: number
  readonly signal?: AbortSignal
  /** Doing it twice shows the same (an edit, a reaction, a read): a lost answer is then no open question. */
  readonly repeatable?: boolean
}

export interface TelegramClient {
  /** Throws `rate_limited`, `platform_rejected`, `platform_unavailable`, `outcome_unknown`, or `conflict` (a 409). */
  call<M extends Method>(method: M, payload: Payload<M>, options?: CallOptions): Promise<Result<M>>
  /** The bytes of a file by the path that getFile gave, at most `maxBytes`. */
  file(path: string, maxBytes: number): Promise<Uint8Array>
}

/** Known by its description: the message was refused for its markup, and may be tried without. */
export class UnreadableMarkupError extends SwitchboardError {}

/** The group became a supergroup; this is its new id. */
export class MovedChatError extends SwitchboardError {
  readonly to: number
  constructor(message: string, to: number) {
    super('platform_rejected', message)
    this.to = to
  }
}

const MAX_ANSWER_BYTES = 32 * 1_048_576

export function createTelegramClient(
  config: TelegramConfig,
  timings: Timings,
  deps: { readonly clock: Clock },
  guarded: GuardedFetch = createGuardedFetch(deps),
): TelegramClient {
  const guard = { allowPrivate: config.ownServer, allowHttp: config.ownServer }

  // One client per call: the call's own deadline and signal are in the fetch that it is given.
  const apiFor = (options: CallOptions): Api => {
    const carry = async (url: unknown, init: Carried) => {
      const response = await guarded({
        url: String(url),
        method: 'POST',
        headers: { 'content-type': init.headers['content-type'] ?? 'application/json' },
        body: typeof init.body === 'string' ? init.body : await gathered(init.body),
        timeoutMs: options.timeoutMs ?? timings.requestTimeoutMs,
        maxResponseBytes: MAX_ANSWER_BYTES,
        ...guard,
        ...defined({ signal: options.signal }),
      })
      return { json: () => envelope(response) }
    }
    return new Api(config.token, { apiRoot: config.apiRoot, fetch: carry as never, timeoutSeconds: 3_600 })
  }

  return {
    async call(method, payload, options = {}) {
      const raw = apiFor(options).raw
      try {
        const run = raw[method] as unknown as (payload: unknown) => Promise<never>
        // Methods without parameters take a signal in the place of the payload.
        return await run(Object.keys(payload ?? {}).length === 0 ? undefined : payload)
      } catch (thrown) {
        throw meaning(thrown, config, options)
      }
    },
    async file(path, maxBytes) {
      const response = await guarded({
        url: `${config.apiRoot}/file/bot${config.token}/${path.split('/').map(encodeURIComponent).join('/')}`,
        method: 'GET',
        timeoutMs: timings.requestTimeoutMs * 4,
        maxResponseBytes: maxBytes + 1,
        ...guard,
      }).catch((thrown) => {
        throw meaning(thrown, config, { repeatable: true })
      })
      if (response.body.length > maxBytes)
        throw new SwitchboardError('too_large', `the file is over ${maxBytes} bytes`)
      if (response.status !== 200 || response.truncated)
        throw new SwitchboardError('platform_unavailable', `Telegram gave the file as ${response.status}`)
      return response.body
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

/** The answer as grammy reads it. What is no answer of the Bot API is judged here, by its status. */
function envelope(response: GuardedResponse): unknown {
  const { status } = response
  const parsed = parseJson(response)
  if (typeof parsed === 'object' && parsed !== null && 'ok' in parsed) {
    const { ok, error_code, description } = parsed as Record<string, unknown>
    if (ok === true || (typeof error_code === 'number' && typeof description === 'string')) return parsed
  }
  if (status === 429) {
    const seconds = Number(response.headers['retry-after'])
    const parameters = Number.isFinite(seconds) ? { retry_after: seconds } : {}
    return { ok: false, error_code: 429, description: 'Too Many Requests', parameters }
  }
  // A page of something in front of the Bot API: nobody knows what the Bot API did.
  if (status >= 500) throw new SwitchboardError('outcome_unknown', `Telegram: HTTP ${status}`)
  if (status >= 400) return { ok: false, error_code: status, description: `HTTP ${status}` }
  throw new SwitchboardError('outcome_unknown', 'Telegram’s answer could not be read')
}

function parseJson(response: GuardedResponse): unknown {
  try {
    return JSON.parse(response.body.toString('utf8'))
  } catch {
    return undefined
  }
}

/** grammy's errors and the kit's as ours. The token is in the URL, so nothing of theirs is passed on unread. */
function meaning(thrown: unknown, config: TelegramConfig, options: CallOptions): SwitchboardError {
  if (thrown instanceof HttpError) return meaning(thrown.error, config, options)
  if (thrown instanceof GrammyError) return refusal(thrown, config, options)
  if (thrown instanceof SwitchboardError) {
    if (thrown.code === 'outcome_unknown' && options.repeatable)
      return new SwitchboardError('platform_unavailable', `Telegram: ${thrown.message}`)
    if (thrown.code === 'forbidden' || thrown.code === 'input_invalid')
      return new SwitchboardError('platform_unavailable', `api_root: ${thrown.message}`)
    return thrown
  }
  return new SwitchboardError('internal', 'the request to Telegram could not be made')
}

function refusal(error: GrammyError, config: TelegramConfig, options: CallOptions): SwitchboardError {
  const description = error.description.replaceAll(config.token, '…').slice(0, 300)
  const { error_code: status, parameters } = error
  const said = `Telegram: ${description}`
  if (status === 429) {
    const seconds = parameters.retry_after ?? 1
    return new SwitchboardError('rate_limited', said, { retryAfterMs: seconds * 1000 })
  }
  if (status === 409) return new SwitchboardError('conflict', said)
  if (status === 401 || (status === 404 && description === 'Not Found')) {
    // Nothing is lost for a wrong token: what waits goes out once it is right.
    return new SwitchboardError(
      'platform_unavailable',
      `Telegram does not know the bot’s token (${status})`,
      {
        hint: 'see the token of the integration; @BotFather shows it',
        retryAfterMs: 30_000,
      },
    )
  }
  // A gateway that gave up waiting cannot say what became of the request.
  if (status === 504 && !options.repeatable) return new SwitchboardError('outcome_unknown', said)
  if (status >= 500) return new SwitchboardError('platform_unavailable', said)
  if (parameters.migrate_to_chat_id !== undefined)
    return new MovedChatError(said, parameters.migrate_to_chat_id)
  if (/can't parse entities/i.test(description)) return new UnreadableMarkupError('platform_rejected', said)
  const gone = /chat not found|bot was (blocked|kicked)|user is deactivated|chat was deleted/i.test(
    description,
  )
  return new SwitchboardError('platform_rejected', said, gone ? { placeGone: true } : {})
}
