// Events that only channel servers bring: messages that their adapter's own gates barred, and verdicts that a server
// pushed. A verdict counts only from a server that was asked, whatever id it names. It comes before the sender gate,
// because its sender is the server itself.
import { CONTINUE, type StepResult } from '../../contract/index.ts'
import type { StepInput } from './step-input.ts'

export function barredStep({ event }: StepInput): StepResult {
  if (event.kind !== 'barred') return CONTINUE
  return { decision: { go: 'refuse', reason: event.reason, key: event.key } }
}

export function serverVerdictStep(input: StepInput): StepResult {
  const { event, integration, approval } = input
  if (event.kind !== 'verdict') return CONTINUE
  if (!integration.enabled)
    return {
      decision: { go: 'refuse', reason: 'integration_disabled', key: `${integration.origin}.enabled` },
    }
  // An unknown id, an approval of another agent, and one that others were asked all get the same answer.
  if (!approval || approval.agent !== input.agent || !input.asked)
    return { decision: { go: 'refuse', reason: 'not_asked', key: integration.origin } }
  if (approval.state !== 'pending' || approval.expiresAt <= input.now)
    return {
      decision: { go: 'consume', reason: 'verdict_late', answer: input.words.approvals.late(approval) },
    }
  return {
    decision: { go: 'consume', reason: 'verdict', answer: 'verdict recorded' },
    effects: [
      {
        kind: 'decide',
        approval: approval.id,
        behavior: event.behavior,
        by: `server:${event.sender.id}`,
        via: integration.id,
        ifLate: null,
      },
    ],
  }
}
