// Classifies a failed POST to an agent for the dispatcher: not reached, retried after a pause, or failed with the
// reason.
import { defined, SwitchboardError } from '../../contract/index.ts'

/** The pauses between tries of an agent that was reached and did not accept the turn: longer than a restart takes. */
const RETRY_MS = [1_000, 5_000, 30_000, 120_000]

/** Whether a proxy in front of the agent says that it cannot reach the agent. */
export function isGatewayFault(status: number): boolean {
  return status === 502 || status === 503 || status === 504
}

export function handOverError(error: SwitchboardError, attempt: number): SwitchboardError {
  const { message, hint } = error
  switch (error.code) {
    case 'agent_unreachable':
      return error
    case 'rate_limited':
    case 'platform_unavailable':
    case 'outcome_unknown':
    case 'draining':
    case 'store_unavailable': {
      const pause = RETRY_MS[Math.min(attempt, RETRY_MS.length) - 1] ?? 1_000
      const broke = error.code === 'outcome_unknown'
      const code = broke ? 'platform_unavailable' : error.code
      const retryAfterMs = Math.max(error.retryAfterMs ?? 0, pause)
      return new SwitchboardError(code, message, { ...defined({ hint }), retryAfterMs, written: broke })
    }
    default:
      return new SwitchboardError('agent_failed', message, defined({ hint }))
  }
}
