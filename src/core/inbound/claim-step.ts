// A tap on a claim's button, and the sessions that a plain message may claim. Only the chat's owner claims: any
// admitted sender in a direct chat, and an approver in a group.
import type { ClaimRules, StepResult } from '../../contract/index.ts'
import { CONTINUE } from '../../contract/index.ts'
import { isOwnerOf } from '../people/approvers.ts'
import type { StepInput } from './step-input.ts'

/** Decides a tap on a claim's button. Runs after the sender gate; the tap never reaches the model. */
export function claimStep(input: StepInput): StepResult {
  const { event, at, form } = input
  if (form?.kind !== 'claim') return CONTINUE
  if (!ownsChat(input)) {
    const key = `${input.integration.origin}.access.approvers`
    return { decision: { go: 'refuse', reason: 'not_owner', key } }
  }
  if (input.heldBy !== null)
    return {
      decision: { go: 'answer', text: input.words.notices.held({ name: input.heldBy }), reason: 'tap' },
    }
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
        texts: input.words.notices.claim,
      },
    ],
  }
}

/** Returns the rules by which a message on its way to an agent may lead to another session. */
export function claimRules(input: StepInput): ClaimRules {
  const { event } = input
  const owner = ownsChat(input)
  return {
    answers: owner ? answersOf(event) : [],
    takesNewest: owner && event.kind === 'message',
    texts: input.words.notices.claim,
    ...reachable(input),
  }
}

/** The message that it replies to. A thread counts as its first message. */
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
