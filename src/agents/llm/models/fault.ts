// Turns an API's error into ours: whether another try may help, and when. It contains no key and no URL.
import { defined, SwitchboardError, withoutNulls } from '../../../contract/index.ts'
import { isGatewayFault, retryAfterMs, toolText } from '../../../kit/index.ts'

const SHOWN_CHARS = 300
const TOO_LONG =
  /context[ _-]?(length|window)|too (long|many tokens)|maximum (context|prompt)|exceeds? .{0,40}(context|token)|prompt is too long/i
const LONGEST_WAIT_MS = 3_600_000

export interface FaultContext {
  readonly model: string
  readonly now: number
  readonly secrets: readonly string[]
}

/** Returns null if the input was too long for the model. An abort is passed on unchanged. */
export function modelFault(thrown: unknown, { model, now, secrets }: FaultContext): SwitchboardError | null {
  // It is our own error already.
  if (thrown instanceof SwitchboardError) return thrown
  const { status, headers, code, type, message } = factsOf(thrown)
  const said = toolText(message, SHOWN_CHARS, secrets)
  const why = said === '' ? '' : `: ${said}`
  if (code === 'insufficient_quota' || status === 402)
    return failed('the account at the API has no credit left', 'top it up, or set fallback to another model')
  if (status === 401 || status === 403)
    return failed(`the API refused the key (${status})`, 'set another one: switchboard secrets set NAME')
  if (status === 413 || code === 'context_length_exceeded' || (status === 400 && TOO_LONG.test(message)))
    return null
  if (status === 404)
    return failed(`the API knows no model "${model}", or nothing is at base_url (404)`, 'set connector.model')
  if (type === 'overloaded_error' || status === 529)
    return later('platform_unavailable', 'the API is overloaded (529)', headers, now)
  if (status === 429 || type === 'rate_limit_error')
    return later('rate_limited', 'the API asks to wait (429)', headers, now)
  if (status === undefined) return withoutStatus(thrown, why)
  if (isGatewayFault(status))
    return unreachable(`the API answered ${status}${why}`, {
      ...withoutNulls({ retryAfterMs: waitOf(headers, now) }),
      written: true,
    })
  if (status === 408 || status === 409 || status >= 500)
    return later('platform_unavailable', `the API failed (${status})${why}`, headers, now)
  return failed(`the API refused the request (${status})${why}`)
}

/** The stream ended before the answer, or contained none. */
export function brokenStream(pieces: number): SwitchboardError {
  if (pieces > 0)
    return new SwitchboardError('platform_unavailable', 'the answer of the API broke off before its end')
  return failed(
    'the answer of the API is not understood: it is no stream of an answer',
    'look at connector.base_url',
  )
}

/** Marks an error of the event reader. The server would send the same malformed event again. */
export function misread(thrown: unknown): unknown {
  if (!(thrown instanceof TypeError)) return thrown
  return failed(
    'the answer of the API is not understood: an event of its stream has another form',
    'look at connector.base_url',
  )
}

/** There was no answer, or it could not be read. */
function withoutStatus(thrown: unknown, why: string): SwitchboardError {
  const { code } = causeOf(thrown) ?? { code: null }
  if (code === 'platform_unavailable') return unreachable(`the API cannot be reached${why}`)
  // The server is wrong and would answer the same again.
  if (isMalformed(thrown))
    return failed(`the answer of the API is not understood${why}`, 'look at connector.base_url')
  const said =
    code === 'outcome_unknown'
      ? 'the API closed the connection before it answered'
      : 'the answer of the API broke off'
  return new SwitchboardError('platform_unavailable', said + why)
}

/** Returns our own fetch's error inside an SDK's error. */
function causeOf(thrown: unknown): SwitchboardError | null {
  let at: unknown = thrown
  for (let depth = 0; depth < 5 && at !== undefined && at !== null; depth++) {
    if (at instanceof SwitchboardError) return at
    at = objectOf(at).cause
  }
  return null
}

function isMalformed(thrown: unknown): boolean {
  return thrown instanceof SyntaxError || objectOf(thrown).cause instanceof SyntaxError
}

function unreachable(
  message: string,
  more: { readonly retryAfterMs?: number; readonly written?: true } = {},
) {
  return new SwitchboardError('agent_unreachable', message, more)
}

function failed(message: string, hint?: string): SwitchboardError {
  return new SwitchboardError('agent_failed', message, defined({ hint }))
}

function later(
  code: 'platform_unavailable' | 'rate_limited',
  message: string,
  headers: Headers | undefined,
  now: number,
): SwitchboardError {
  const retryAfterMs = waitOf(headers, now)
  return new SwitchboardError(code, message, withoutNulls({ retryAfterMs }))
}

function waitOf(headers: Headers | undefined, now: number): number | null {
  const exact = Number(headers?.get('retry-after-ms') ?? Number.NaN)
  if (Number.isFinite(exact) && exact >= 0) return Math.min(exact, LONGEST_WAIT_MS)
  return retryAfterMs(headers?.get('retry-after'), now)
}

interface Facts {
  readonly status: number | undefined
  readonly headers: Headers | undefined
  readonly code: string
  readonly type: string
  readonly message: string
}

/**
 * Both SDKs throw errors with `status`, `headers` and the body under `error`. Within a stream some of it is missing.
 */
function factsOf(thrown: unknown): Facts {
  const error = objectOf(thrown)
  const body = objectOf(error.error)
  const inner = objectOf(body.error)
  const word = (name: string) =>
    [inner[name], body[name], error[name]].find((one) => typeof one === 'string') ?? ''
  const cause = objectOf(error.cause)
  const message = [inner.message, body.message, cause.message, error.message].find(
    (one) => typeof one === 'string',
  )
  return {
    status: typeof error.status === 'number' ? error.status : undefined,
    headers: error.headers instanceof Headers ? error.headers : undefined,
    code: word('code') as string,
    type: word('type') as string,
    message: typeof message === 'string' ? message : '',
  }
}

function objectOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
}
