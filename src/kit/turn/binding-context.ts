// The `context` of a binding: what the configuration tells an agent about the place of a message.
import { type AgentSettings, type Delivery, parseAddress } from '../../contract/index.ts'

/** Uses the binding that names the conversation, else the one without `conversations`. */
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
