// How long a turn that was not taken waits for its next attempt.
import type { SwitchboardError } from '../../contract/index.ts'

const FIRST_MS = 1_000
const LONGEST_MS = 60_000

/**
 * The agent can only lengthen the delay. An agent that asks for "at once" would use up all attempts in a moment. If no
 * agent was present, no attempt is used up, and the connector's delay counts.
 */
export function retryDelayMs(attempts: number, { code, retryAfterMs }: SwitchboardError): number {
  const pauseMs = Math.min(FIRST_MS * 2 ** Math.max(0, attempts - 1), LONGEST_MS)
  return code === 'agent_absent' ? (retryAfterMs ?? pauseMs) : Math.max(retryAfterMs ?? 0, pauseMs)
}
