// A message was deleted on its platform. The deletion itself is recorded and reaches no agent; what of the message is
// still queued ends with it, in the same commit.
import type { StepResult } from '../../contract/index.ts'
import { CONTINUE } from '../../contract/index.ts'
import { closedGate } from './gate.ts'
import type { StepInput } from './step-input.ts'

/** Runs in place of the sender gate: who may not speak may not withdraw either, and gets no code for trying. */
export function deleteStep({ event, integration, grants, at }: StepInput): StepResult {
  if (event.kind !== 'delete') return CONTINUE
  const { id } = event.sender
  // Where nobody is named it is the platform's own word.
  const speaker = { sender: id, conversation: at.conversation, chat: event.chat }
  const closed = id === '' ? null : closedGate(integration, grants, speaker)
  if (closed) return { decision: { go: 'refuse', reason: closed.reason, key: closed.key } }
  return {
    decision: { go: 'consume', reason: 'noted' },
    effects: [{ kind: 'withdraw', at, messageId: event.messageId, sender: id === '' ? null : id }],
  }
}
