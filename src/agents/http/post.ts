// The one POST of a turn: signed, guarded, and judged by whether another try can help. The URL may be a credential, so
// neither it nor the agent's answer appears in an error.
import { asSwitchboardError, SwitchboardError } from '../../contract/index.ts'
import { isGatewayFault, type StreamingFetch, signStandard, statusError } from '../../kit/index.ts'
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
 * `agent_unreachable` (the request was not read), `platform_unavailable`, `outcome_unknown` or `rate_limited` (another
 * try may help), `platform_rejected` with the status, or `forbidden` by the guard. `answered` is called for every
 * answer of the agent.
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
  const retryAfter = response.headers.get('retry-after')
  throw statusError(response.status, { whom: 'the agent', retryAfter, now, codes: CODES })
}

function isAbort(thrown: unknown): thrown is Error & { readonly written: boolean } {
  return thrown instanceof Error && thrown.name === 'AbortError'
}

function notSent({ written }: { readonly written: boolean }): 'aborted' {
  if (written) return 'aborted'
  throw new SwitchboardError('agent_unreachable', 'the agent could not be reached in time')
}

/** Posted again it is the same turn, so a fault of the server leaves no question open. */
const CODES = {
  502: 'agent_unreachable',
  503: 'agent_unreachable',
  504: 'agent_unreachable',
  '5xx': 'platform_unavailable',
} as const

function guardRefusal(thrown: unknown): SwitchboardError {
  const error = asSwitchboardError(thrown, 'outcome_unknown')
  if (error.code === 'platform_unavailable') return new SwitchboardError('agent_unreachable', error.message)
  if (error.code !== 'forbidden' && error.code !== 'input_invalid') return error
  return new SwitchboardError('forbidden', `the agent is not called: ${error.message}`, {
    hint: error.hint ?? 'https only; plain http and private addresses need allow_private: true',
  })
}
