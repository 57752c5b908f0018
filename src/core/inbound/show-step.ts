// "Show all": sends the whole input of an approval to the chat of the button, as a file or in parts. It decides
// nothing. A person who may not decide may not see the input either.
import { CONTINUE, type OutboundOp, type StepResult, type Wording } from '../../contract/index.ts'
import { askAsFile, wholeAsk } from '../approvals/prompt.ts'
import { isBound } from '../people/approvers.ts'
import type { StepInput } from './step-input.ts'
import { decidesHere, notApprover } from './verdict-step.ts'

export function showStep(input: StepInput): StepResult {
  const { approval, integration, settings, words } = input
  if (input.form?.kind !== 'show') return CONTINUE
  if (!decidesHere(input)) return notApprover(input)
  if (!approval || !isBound(settings, approval.agent, integration.id)) return CONTINUE
  const parts = wholeAsk(words, approval, input.promptLimit)
  if (input.textAsFile && parts.length > 1)
    return shown(input, approval.id, words.approvals.shownAsFile, [askAsFile(words, approval)])
  const ops = parts.map((text) => ({ kind: 'text' as const, text }))
  return shown(input, approval.id, words.approvals.shownInParts({ count: parts.length }), ops)
}

function shown({ at }: StepInput, approval: string, answer: Wording, ops: readonly OutboundOp[]): StepResult {
  return {
    decision: { go: 'consume', reason: 'tap', answer },
    effects: ops.map((op) => ({ kind: 'send' as const, to: at, op, cause: 'notice' as const, approval })),
  }
}
