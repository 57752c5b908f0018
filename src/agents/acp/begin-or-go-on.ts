// Composes the prompt that begins a turn or continues it after an interruption. It depends on what the agent remembers.
// If that cannot be known, a person decides.
import type { AgentOutlet, ConnectorDeps, Delivery } from '../../contract/index.ts'
import { askWhetherAnew, type createVerdictWait } from '../../kit/index.ts'
import type { LiveSession } from './live-sessions.ts'
import { goOnBlocks, markOf, maybeAgain, messageBlocks } from './prompt-blocks.ts'
import type { TurnSteps } from './turn-steps.ts'

interface BeginDeps extends ConnectorDeps {
  readonly outlet: AgentOutlet
  readonly verdicts: ReturnType<typeof createVerdictWait>
  readonly steps: TurnSteps
  /** It was offered before. */
  readonly interrupted: boolean
  /** A person was asked. The turn waits for the answer. */
  readonly onAsked: () => void
  readonly signal: AbortSignal
}

/** Returns the blocks of the prompt, or a text if a person said no. */
export async function beginOrGoOn(delivery: Delivery, live: LiveSession, deps: BeginDeps) {
  const { steps, onAsked, signal, outlet, verdicts } = deps
  // A process that was prompted since it was opened remembers more than it reported at the opening.
  const { memory, userTexts } = live.hasPrompts ? { memory: 'kept', userTexts: null } : live.opened
  const takes = live.link.facts.capabilities.promptCapabilities ?? {}
  const message = () => messageBlocks(delivery, takes, { ...deps, hasInstructions: memory === 'kept' })
  if (!deps.interrupted) return message()
  const { isOpen } = steps.anewBefore
  if (!isOpen && memory === 'kept' && userTexts?.includes(markOf(delivery)))
    return goOnBlocks(delivery, steps.before)
  if (!isOpen && memory === 'kept' && userTexts !== null) return message()
  if (!isOpen && memory === 'kept') return [maybeAgain(steps.before), ...(await message())]
  const tools = [...steps.before.done, ...steps.before.unknown]
  // The agent has a new session and no tool was begun, so no part of the turn ever ran.
  if (!isOpen && memory === 'new' && tools.length === 0 && !delivery.continuation) return message()
  const answer = await askWhetherAnew(delivery, {
    ...{ tools, verdicts, signal, onAsked, standing: steps.anewBefore, outlet },
    keep: () => steps.anew('asked'),
  })
  if (!answer.begin) return answer.words
  const blocks = [maybeAgain(steps.before), ...(await message())]
  // The work may begin after this point. After another interruption a person is asked again.
  await steps.anew('begun')
  return blocks
}
