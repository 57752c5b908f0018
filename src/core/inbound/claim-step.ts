// A tap on a claim's button, and what a plain message may take. Only the chat's owner claims: in a direct chat whoever
// passed the gate, in a group an approver.
import type { ClaimRules, StepResult } from '../../contract/index.ts'
import { CONTINUE } from '../../contract/index.ts'
import { CLAIM_TEXTS } from '../claims.ts'
import { heldText } from '../notices.ts'
import { isOwnerOf } from '../people/approvers.ts'
import type { StepInput } from './step-input.ts'

/** Runs behind the sender gate and never reaches the model. */
export function claimStep(input: StepInput): StepResult {
  const { event, at, form } = input
  if (form?.kind !== 'claim') return CONTINUE
  if (!ownsChat(input)) {
    const key = `${input.integration.origin}.access.approvers`
    return { decision: { go: 'refuse', reason: 'not_owner', key } }
  }
  if (input.heldBy !== null)
    return { decision: { go: 'answer', text: heldText(input.heldBy), reason: 'tap' } }
  return {
    decision: { go: 'consume', reason: 'tap' },
    effects: [
      {
        kind: 'claim',
        at,
        on: form.on,
        verdict: form.verdict,
        by: event.sender.id,
        ...reachable(input),
        texts: CLAIM_TEXTS,
      },
    ],
  }
}

/** For a message on its way to an agent: where it may lead instead of its own session. */
export function claimRules(input: StepInput): ClaimRules {
  const { event } = input
  const owner = ownsChat(input)
  return {
    answers: owner ? answersOf(event) : [],
    takesNewest: owner && event.kind === 'message',
    texts: CLAIM_TEXTS,
    ...reachable(input),
  }
}

/** What it replies to; a thread is answered as well as its first message. */
function answersOf(event: StepInput['event']): readonly string[] {
  if (event.kind !== 'message' && event.kind !== 'edit') return []
  const ids = [event.replyTo?.messageId, event.thread]
  return ids.filter((id) => id !== undefined)
}

function ownsChat({ event, settings, grants, integration }: StepInput): boolean {
  return event.chat === 'direct' || isOwnerOf(settings, grants, integration, event.sender.id)
}

function reachable({ settings, canEdit }: StepInput) {
  return { agents: settings.agents.map((agent) => agent.id), canEdit }
}
