// Who may decide an approval. An id locates a request, it never authorises: this does.
import type { Address, Grant, IntegrationSettings, Settings } from '../../contract/index.ts'

/** The grants that pairing and operators made at run time, as the gate looks them up. */
export interface GrantBook {
  has(integration: string, sender: string, right: Grant['right']): boolean
  senders(integration: string, right: Grant['right']): readonly string[]
}

/** Whether this sender, on this integration, may decide for this agent. */
export function isApprover(
  settings: Settings,
  grants: GrantBook,
  who: { readonly integration: string; readonly sender: string; readonly agent: string },
): boolean {
  const integration = settings.integrations.find((one) => one.id === who.integration)
  if (!integration?.enabled || !isBound(settings, who.agent, who.integration)) return false
  return approversOn(settings, grants, integration).includes(who.sender)
}

/** Every approver's direct chat on the integrations bound to the agent. */
export function approverChats(settings: Settings, grants: GrantBook, agent: string): readonly Address[] {
  const chats: Address[] = []
  for (const integration of settings.integrations) {
    if (!integration.enabled || !isBound(settings, agent, integration.id)) continue
    for (const sender of approversOn(settings, grants, integration)) {
      chats.push({ integration: integration.id, conversation: sender })
    }
  }
  return chats
}

/** Whether this sender owns a shared chat of the integration: who may approve there. */
export function isOwnerOf(
  settings: Settings,
  grants: GrantBook,
  integration: IntegrationSettings,
  sender: string,
): boolean {
  return approversOn(settings, grants, integration).includes(sender)
}

/** Whether an agent takes messages from this integration at all. */
export function isBound(settings: Settings, agent: string, integration: string): boolean {
  const found = settings.agents.find((one) => one.id === agent)
  return found?.bindings.some((binding) => binding.instance === integration) ?? false
}

function approversOn(
  settings: Settings,
  grants: GrantBook,
  integration: IntegrationSettings,
): readonly string[] {
  if (!integration.access.readable) return []
  const approvers = new Set([
    ...integration.access.approvers,
    ...grants.senders(integration.id, 'approve'),
    ...userIdentities(settings, integration.id),
  ])
  return [...approvers]
}

function userIdentities(settings: Settings, integration: string): string[] {
  const prefix = `${integration}:`
  return settings.users
    .filter((user) => user.roles.includes('approver') || user.roles.includes('owner'))
    .flatMap((user) => user.identities)
    .filter((identity) => identity.startsWith(prefix))
    .map((identity) => identity.slice(prefix.length))
}
