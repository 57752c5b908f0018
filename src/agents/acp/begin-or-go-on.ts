// With which words a turn begins, or goes on after an interruption: what the agent remembers decides, and where nothing is
// left to know it by, a person.
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
  /** A person is asked, and the turn rests with them. */
  readonly onAsked: () => void
  readonly signal: AbortSignal
}

/** The blocks of the prompt. A text: a person said no. */
export async function beginOrGoOn(delivery: Delivery, live: LiveSession, deps: BeginDeps) {
  const { steps, onAsked, signal, outlet, verdicts } = deps
  // A process that was spoken to since it was opened knows more than it said then.
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
  // It had no session yet, or none in which anything was begun: nothing of it ever ran.
  if (!isOpen && memory === 'new' && tools.length === 0 && !delivery.continuation) return message()
  const answer = await askWhetherAnew(delivery, {
    ...{ tools, verdicts, signal, onAsked, standing: steps.anewBefore, outlet },
    keep: () => steps.anew('asked'),
  })
  if (!answer.begin) return answer.words
  const blocks = [maybeAgain(steps.before), ...(await message())]
  // From here on it may be done: interrupted again, it is asked again.
  await steps.anew('begun')
  return blocks
}
