// A bare "yes" is a sentence and goes to the agent. Switchboard never guesses which question it answers. If an approver
// sends one while exactly one question waits, the approver learns how to decide it.
import { type ApprovalRow, CONTINUE, type StepResult, type Store } from '../../contract/index.ts'
import { isBound } from '../people/approvers.ts'
import { reply } from './receive-item.ts'
import type { StepInput } from './step-input.ts'
import { decidesHere } from './verdict-step.ts'

const BARE = /^\s*(y|yes|n|no)[.!]?\s*$/i
/** With more pending questions than this, none is looked up. */
const MOST = 50

function isBareVerdict(event: StepInput['event']): boolean {
  return event.kind === 'message' && event.text.length <= 12 && BARE.test(event.text)
}

/** Returns the pending approvals of agents bound to this integration. */
export async function waitingHere(
  { event, settings, integration, now }: Pick<StepInput, 'event' | 'settings' | 'integration' | 'now'>,
  store: Pick<Store, 'approvals'>,
): Promise<readonly ApprovalRow[]> {
  if (!isBareVerdict(event)) return []
  const pending = await store.approvals({ states: ['pending'], limit: MOST })
  return pending.filter((row) => row.expiresAt > now && isBound(settings, row.agent, integration.id))
}

/** The last step. The message is on its way to the agent. */
export function bareVerdictHint(input: StepInput): StepResult {
  const [one, other] = input.waiting
  if (one === undefined || other !== undefined || input.late || !decidesHere(input)) return CONTINUE
  return { ...CONTINUE, effects: [reply(input.at, input.words.approvals.bareVerdict({ id: one.id }))] }
}
