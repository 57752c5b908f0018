// What the configuration tells an agent about the place that a message came from: `context` of its binding.
import { type AgentSettings, type Delivery, parseAddress } from '../../contract/index.ts'

/** Of the binding that names the conversation, else of the one that takes the rest. */
export function bindingContext(
  { chatId, integration }: Pick<Delivery, 'chatId' | 'integration'>,
  agent: Pick<AgentSettings, 'bindings'>,
): string | undefined {
  const { conversation, thread } = parseAddress(chatId)
  const places = [conversation, `${conversation}/${thread}`]
  const bindings = agent.bindings.filter((binding) => binding.instance === integration)
  const named = bindings.find((binding) => binding.conversations?.some((one) => places.includes(one)))
  return (named ?? bindings.find((binding) => binding.conversations === undefined))?.context
}
