// A verdict is recognised after the sender gate and before the sender's limit. It never reaches the model. The sender
// is checked before the id: a person who may decide nothing here gets the same answer for every id, so ids cannot be
// guessed.
import type { ApprovalRow, StepResult } from '../../contract/index.ts'
import { CONTINUE } from '../../contract/index.ts'
import type { VerdictForm } from '../approvals/verdict-form.ts'
import { isBound, isOwnerOf } from '../people/approvers.ts'
import type { StepInput } from './step-input.ts'

export function verdictStep(input: StepInput): StepResult {
  const { form, approval } = input
  if (form?.kind !== 'verdict') return CONTINUE
  if (!decidesHere(input)) return input.event.kind === 'tap' ? notApprover(input) : CONTINUE
  // An unknown id makes the text a sentence ("no sorry"). So does the id of an agent that is not bound to this chat.
  if (!approval || !isBound(input.settings, approval.agent, input.integration.id)) return CONTINUE
  return approval.state === 'pending' && approval.expiresAt > input.now
    ? decide(input, form, approval)
    : late(input, approval)
}

/** Whether this sender may decide anything at all on this integration. */
export function decidesHere({ settings, grants, integration, event }: StepInput): boolean {
  return isOwnerOf(settings, grants, integration, event.sender.id)
}

export function notApprover({ integration }: StepInput): StepResult {
  return {
    decision: { go: 'refuse', reason: 'not_approver', key: `${integration.origin}.access.approvers` },
  }
}

function decide(input: StepInput, form: VerdictForm, approval: ApprovalRow): StepResult {
  return {
    decision: { go: 'consume', reason: 'verdict', answer: 'verdict recorded' },
    effects: [
      {
        kind: 'decide',
        approval: approval.id,
        behavior: form.behavior,
        by: input.event.sender.id,
        via: input.integration.id,
        ifLate: { to: input.at, text: `${approval.id}: {how}` },
      },
    ],
  }
}

function late({ words }: StepInput, approval: ApprovalRow): StepResult {
  return { decision: { go: 'answer', text: words.approvals.lateAt(approval), reason: 'verdict_late' } }
}
