// What the adapter hears of an event once it is committed: its row, and what is said to the sender in the same breath.
import {
  defined,
  lateText,
  type Received,
  type ReceiveResult,
  type StepResult,
} from '../../contract/index.ts'
import { claimAnswer } from '../claims.ts'

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

/** What is said in the same breath: by what was done, not by what was seen before it. */
function answerTo(decision: StepDecision, result: ReceiveResult): string | undefined {
  if (decision.go === 'answer') return decision.text
  if (decision.go !== 'consume') return undefined
  for (const effect of result.effects) {
    if (effect.kind === 'cancelled' || effect.kind === 'answered') return effect.said
    if (effect.kind === 'claimed') return claimAnswer(effect.outcome)
    if (effect.kind === 'decided' && !effect.won) {
      // In the words of one that came a moment later: whether it lost the race or came late is nobody's business.
      const { approval } = effect
      return approval ? `${approval.id}: ${lateText(approval)}` : 'already answered'
    }
  }
  return decision.answer
}
