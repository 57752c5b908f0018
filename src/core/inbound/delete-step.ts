// A message was deleted on its platform. The deletion is recorded and reaches no agent. If the message is still queued,
// it ends in the same commit.
import type { StepResult } from '../../contract/index.ts'
import { CONTINUE } from '../../contract/index.ts'
import { closedGate } from '../people/gate.ts'
import type { StepInput } from './step-input.ts'

/** Runs in place of the sender gate. People who may not speak may not withdraw either, and get no pairing code. */
export function deleteStep({ event, integration, grants, at }: StepInput): StepResult {
  if (event.kind !== 'delete') return CONTINUE
  const { id } = event.sender
  // A deletion without a sender comes from the platform itself.
  const speaker = { sender: id, conversation: at.conversation, chat: event.chat }
  const closed = id === '' ? null : closedGate(integration, grants, speaker)
  if (closed) return { decision: { go: 'refuse', reason: closed.reason, key: closed.key } }
  return {
    decision: { go: 'consume', reason: 'noted' },
    effects: [{ kind: 'withdraw', at, messageId: event.messageId, sender: id === '' ? null : id }],
  }
}
