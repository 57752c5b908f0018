// The one POST of a turn: signed, guarded, and judged by whether another try can help. The URL may be a credential, so neither
// it nor the agent's answer appears in an error.
import { asSwitchboardError, SwitchboardError, withoutNulls } from '../../contract/index.ts'
import { isGatewayFault, retryAfterMs, type StreamingFetch, signStandard } from '../../kit/index.ts'
import type { HttpAgentConfig } from './config.ts'

export interface TurnPost {
  readonly config: Pick<HttpAgentConfig, 'url' | 'keys'>
  /** The same for every try. */
  readonly id: string
  readonly body: string
  readonly signal: AbortSignal
  readonly now: number
  readonly answered?: () => void
}

/**
 * Resolves with a 2xx response, or with `aborted` if the caller aborted after the request was written. Throws
 * `agent_unreachable` (the request was not read), `platform_unavailable`, `outcome_unknown` or `rate_limited` (another try may
 * help), `platform_rejected` with the status, or `forbidden` by the guard. `answered` is called for every answer of the agent.
 */
export async function post(given: TurnPost, reach: StreamingFetch): Promise<Response | 'aborted'> {
  const { config, id, body, now } = given
  const { 'webhook-signature': signature, ...named } = signStandard(config.keys, { id, atMs: now, body })
  const response = await reach(config.url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, application/x-ndjson, text/event-stream, text/plain',
      'accept-encoding': 'identity',
      'user-agent': 'switchboard',
      ...named,
      ...(signature === '' ? {} : { 'webhook-signature': signature }),
    },
    body,
    signal: given.signal,
  }).catch((thrown: unknown) => {
    if (isAbort(thrown)) return notSent(thrown)
    throw guardRefusal(thrown)
  })
  if (response === 'aborted') return response
  if (!isGatewayFault(response.status)) given.answered?.()
  if (response.status >= 200 && response.status < 300) return response
  await response.body?.cancel().catch(() => undefined)
  throw refusal(response, now)
}

function isAbort(thrown: unknown): thrown is Error & { readonly written: boolean } {
  return thrown instanceof Error && thrown.name === 'AbortError'
}

function notSent({ written }: { readonly written: boolean }): 'aborted' {
  if (written) return 'aborted'
  throw new SwitchboardError('agent_unreachable', 'the agent could not be reached in time')
}

function refusal({ status, headers }: Response, now: number): SwitchboardError {
  const said = `the agent answered ${status}`
  const pauseMs = retryAfterMs(headers.get('retry-after'), now)
  const later = withoutNulls({ retryAfterMs: pauseMs })
  if (isGatewayFault(status))
    return new SwitchboardError('agent_unreachable', said, { ...later, written: true })
  if (status === 429) return new SwitchboardError('rate_limited', said, later)
  if (status >= 500 || status === 408) return new SwitchboardError('platform_unavailable', said, later)
  const hint = status < 400 ? { hint: 'redirects are not followed: give the final URL' } : {}
  return new SwitchboardError('platform_rejected', said, hint)
}

function guardRefusal(thrown: unknown): SwitchboardError {
  const error = asSwitchboardError(thrown, 'outcome_unknown')
  if (error.code === 'platform_unavailable') return new SwitchboardError('agent_unreachable', error.message)
  if (error.code !== 'forbidden' && error.code !== 'input_invalid') return error
  return new SwitchboardError('forbidden', `the agent is not called: ${error.message}`, {
    hint: error.hint ?? 'https only; plain http and private addresses need allow_private: true',
  })
}
