// Channel servers that relay permissions: asked beside the chats of approvers, as structured requests.
import { type Address, formatAddress, RELAY_PLACE, type Settings } from '../../contract/index.ts'
import { canSpeak, type Links } from '../outbound/links.ts'
import { isBound } from '../people/approvers.ts'

/** One per server of this agent that is admitted, passes its gates, is connected and relays permissions. */
export function relayPlaces(
  settings: Settings,
  links: Links,
  { agent, servers }: { readonly agent: string; readonly servers: readonly string[] | null },
): readonly Address[] {
  const isAdmitted = (server: string | undefined) =>
    servers === null || (server !== undefined && servers.includes(server))
  return links
    .all()
    .filter((link) => isBound(settings, agent, link.integration) && link.adapter.relaysApprovals?.() === true)
    .filter((link) => isAdmitted(link.adapter.channel?.server))
    .map((link) => ({ integration: link.integration, conversation: RELAY_PLACE }))
}

/** An approver's direct chat behind a channel server has a name that only the server knows: there, where it was asked. */
export function canAsk(links: Links, chat: Address, origin: Address | null): boolean {
  if (!canSpeak(links, chat.integration)) return false
  if (links.get(chat.integration)?.adapter.channel === undefined) return true
  return origin !== null && formatAddress(chat) === formatAddress(origin)
}
