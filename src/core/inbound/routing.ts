// Which agent takes a conversation: the binding that names it (chat/topic before chat), else the one that takes the rest.
import type { Address, Settings } from '../../contract/index.ts'

/** The agent's id, or null when no binding takes this conversation. */
export function agentFor(settings: Settings, at: Address): string | null {
  let rest: string | null = null
  let byChat: string | null = null
  for (const agent of settings.agents) {
    for (const binding of agent.bindings) {
      if (binding.instance !== at.integration) continue
      if (!binding.conversations) {
        rest ??= agent.id
        continue
      }
      if (at.thread !== undefined && binding.conversations.includes(`${at.conversation}/${at.thread}`))
        return agent.id
      if (binding.conversations.includes(at.conversation)) byChat ??= agent.id
    }
  }
  return byChat ?? rest
}
