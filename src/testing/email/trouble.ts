// Applies a fault plan to a server that speaks line by line: before a command runs, and before its answer.
import type { Socket } from 'node:net'
import { SwitchboardError } from '../../contract/index.ts'
import type { FaultKind, FaultPlan, FaultRule } from '../faults/fault-plan.ts'

/** The fault kinds that mail servers can have. */
const KINDS: ReadonlySet<FaultKind> = new Set([
  'rate-limit',
  'drop-response',
  'drop-request',
  'half-open',
  'deaf',
  'slow',
  'error',
  'malformed',
  'deaf-link',
])

/** Throws `input_invalid` with the name of a fault kind that mail servers cannot have. */
export function refuseForeignKinds(rules: readonly FaultRule[]): readonly FaultRule[] {
  const foreign = rules.find((rule) => !KINDS.has(rule.do))
  if (foreign !== undefined)
    throw new SwitchboardError('input_invalid', `mail servers have no "${foreign.do}"`, {
      hint: `there is: ${[...KINDS].join(', ')}`,
    })
  return rules
}

export interface TroubleAt {
  readonly plan: () => FaultPlan
  readonly socket: Socket
  /** Refuses the command for now or for good, in the words of the protocol. */
  readonly refuse: (rule: FaultRule) => void
  /** Stops all announcements from now on. */
  readonly deafen: () => void
}

/** Runs a command and sends its answer, or does what the plan says instead. */
export async function underPlan(
  name: string,
  { plan, socket, refuse, deafen }: TroubleAt,
  act: () => Promise<() => void>,
): Promise<void> {
  const rule = plan().next(name)
  switch (rule?.do) {
    case 'rate-limit':
    case 'error':
      return refuse(rule)
    case 'drop-request':
      return void socket.destroy()
    case 'deaf':
      return
    case 'drop-response':
      await act()
      return void socket.destroy()
    case 'half-open':
      await act()
      return
    case 'malformed':
      await act()
      return void socket.write('\u0000\u0001 what nobody can read\r\n')
    case 'slow': {
      const answer = await act()
      setTimeout(answer, rule.delayMs ?? 1_000).unref()
      return
    }
    case 'deaf-link':
      deafen()
  }
  ;(await act())()
}
