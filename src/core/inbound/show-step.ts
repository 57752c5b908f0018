// "Show all": the whole input of an approval, sent in parts to the chat where the button was pressed. It decides nothing;
// whoever may not decide may not see it either.
import { CONTINUE, type StepResult } from '../../contract/index.ts'
import { wholeAsk } from '../approvals/prompt.ts'
import { isBound } from '../people/approvers.ts'
import type { StepInput } from './step-input.ts'
import { decidesHere, notApprover } from './verdict-step.ts'

export function showStep(input: StepInput): StepResult {
  const { approval, integration, settings } = input
  if (input.form?.kind !== 'show') return CONTINUE
  if (!decidesHere(input)) return notApprover(input)
  if (!approval || !isBound(settings, approval.agent, integration.id)) return CONTINUE
  const parts = wholeAsk(approval, input.textLimit)
  return {
    decision: {
      go: 'consume',
      reason: 'tap',
      answer: `${parts.length} part${parts.length === 1 ? '' : 's'}`,
    },
    effects: parts.map((text) => ({
      kind: 'send' as const,
      to: input.at,
      op: { kind: 'text' as const, text },
      cause: 'notice' as const,
    })),
  }
}
