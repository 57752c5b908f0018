// How long a turn that was not taken waits for its next attempt.
import type { SwitchboardError } from '../../contract/index.ts'

const FIRST_MS = 1_000
const LONGEST_MS = 60_000

/**
 * What the agent asks for can only lengthen the pause: one that says "at once" would use up all attempts in a moment.
 * Where nobody was there to take it no attempt is used up, and the connector alone knows when to look again.
 */
export function retryDelayMs(attempts: number, { code, retryAfterMs }: SwitchboardError): number {
  const pauseMs = Math.min(FIRST_MS * 2 ** Math.max(0, attempts - 1), LONGEST_MS)
  return code === 'agent_absent' ? (retryAfterMs ?? pauseMs) : Math.max(retryAfterMs ?? 0, pauseMs)
}
