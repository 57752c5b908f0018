// What the adapter gets back for a committed event: its row, and the immediate answer to the sender.
import { defined, type Received, type ReceiveResult, type StepResult } from '../../contract/index.ts'
import { wordsIn } from '../../words/index.ts'

type StepDecision = StepResult['decision']

export function receivedOf({ decision }: StepResult, result: ReceiveResult): Received {
  const answer = answerTo(decision, result)
  return {
    id: result.id,
    state: result.state,
    reason: result.reason,
    duplicate: result.duplicate,
    session: result.session,
    ...defined({
      answer,
      withdrawn: result.effects.find((effect) => effect.kind === 'withdrawn')?.turns.length,
      retryAfterMs: !result.duplicate && decision.go === 'refuse' ? decision.retryAfterMs : undefined,
    }),
  }
}

/** The immediate answer, from what the commit did, not from what the steps saw before. */
function answerTo(decision: StepDecision, result: ReceiveResult): string | undefined {
  const { approvals, notices } = wordsIn()
  if (decision.go === 'answer') return decision.text
  if (decision.go !== 'consume') return undefined
  for (const effect of result.effects) {
    if (effect.kind === 'cancelled' || effect.kind === 'answered') return effect.said
    if (effect.kind === 'claimed') return notices.claimAnswer[effect.outcome]
    if (effect.kind === 'decided' && !effect.won) {
      // The same text as for a later verdict. The sender need not know whether it lost the race or came late.
      const { approval } = effect
      return approval ? approvals.lateAt(approval) : approvals.alreadyAnswered
    }
  }
  return decision.answer
}
