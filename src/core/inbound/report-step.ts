// The platform's later report about a message of ours (a bounce, a receipt). It is recorded and applied in the same
// commit. It comes before the sender gate, because the report is from the platform and not from a person.
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
