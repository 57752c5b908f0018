// Which agent takes a conversation: the binding that names it (chat/topic before chat), else the binding without
// conversations.
import { type Address, type Binding, bindingsAt, type Settings } from '../../contract/index.ts'

export interface Bound {
  readonly agent: string
  readonly binding: Binding
}

/** Returns the agent and its binding; null when no binding takes this conversation. */
export function boundAt(settings: Pick<Settings, 'agents'>, at: Address): Bound | null {
  let rest: Bound | null = null
  let byChat: Bound | null = null
  let byTopic: Bound | null = null
  for (const { agent, binding } of bindingsAt(settings, at.integration)) {
    if (!binding.conversations) {
      rest ??= { agent: agent.id, binding }
      continue
    }
    if (at.thread !== undefined && binding.conversations.includes(`${at.conversation}/${at.thread}`))
      return { agent: agent.id, binding }
    if (binding.conversations.some((entry) => isTopic(entry, at.thread)))
      byTopic ??= { agent: agent.id, binding }
    if (binding.conversations.includes(at.conversation)) byChat ??= { agent: agent.id, binding }
  }
  return byTopic ?? byChat ?? rest
}

// An entry of star, slash and topic takes threads of that topic in any chat, by their first word. For mail this is the
// plus-address.
function isTopic(entry: string, thread: string | undefined): boolean {
  if (thread === undefined || !entry.startsWith('*/')) return false
  const topic = entry.slice(2)
  return thread === topic || thread.startsWith(`${topic} `)
}
