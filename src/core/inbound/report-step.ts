// The platform's later word on a message of ours (a bounce, a receipt): recorded, and carried out in the same commit. It
// stands before the sender gate, for it is the platform's word and no person's.
import type { StepResult } from '../../contract/index.ts'
import { CONTINUE, defined } from '../../contract/index.ts'
import type { StepInput } from './step-input.ts'

export function reportStep({ event, failureWords }: StepInput): StepResult {
  if (event.kind !== 'report') return CONTINUE
  const { send, outcome, detail = null, platformId, sentTo } = event
  return {
    decision: { go: 'consume', reason: 'report' },
    effects: [
      { kind: 'later_word', send, outcome, detail, words: failureWords, ...defined({ platformId, sentTo }) },
    ],
  }
}
