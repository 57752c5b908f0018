// Who may decide an approval. An id only locates a request; the checks here authorise.
import {
  type Address,
  bindingsAt,
  type IntegrationSettings,
  integrationById,
  type Right,
  type Settings,
  type UserSettings,
} from '../../contract/index.ts'
import { boundAt } from './routing.ts'
import { LOCAL_USER, pairedAs } from './users.ts'

/** The grants that pairing and operators made at run time. */
export interface GrantList {
  has(integration: string, sender: string, right: Right): boolean
  senders(integration: string, right: Right): readonly string[]
}

/** Whether this sender on this integration may decide for this agent. */
export function isApprover(
  settings: Settings,
  grants: GrantList,
  who: { readonly integration: string; readonly sender: string; readonly agent: string },
): boolean {
  const integration = integrationById(settings, who.integration)
  if (!integration?.enabled || !isBound(settings, who.agent, who.integration)) return false
  return approversOn(settings, grants, integration).includes(who.sender)
}

/** Returns every approver's direct chat on the integrations bound to the agent. */
export function approverChats(settings: Settings, grants: GrantList, agent: string): readonly Address[] {
  const chats: Address[] = []
  for (const integration of settings.integrations) {
    if (!integration.enabled || !isBound(settings, agent, integration.id)) continue
    for (const sender of approversOn(settings, grants, integration)) {
      chats.push({ integration: integration.id, conversation: sender })
    }
  }
  return chats
}

/** Returns the groups that are opened for requests without a chat, on the integrations bound to the agent. */
export function openedGroups(settings: Settings, agent: string): readonly Address[] {
  return settings.integrations.flatMap((integration) => {
    if (!integration.enabled || !integration.access.readable) return []
    return Object.entries(integration.access.groups)
      .filter(([, group]) => group.approvals)
      .map(([conversation]) => ({ integration: integration.id, conversation }))
      .filter((at) => boundAt(settings, at)?.agent === agent)
  })
}

/** Whether this sender owns a shared chat of the integration and may approve there. */
export function isOwnerOf(
  settings: Settings,
  grants: GrantList,
  integration: IntegrationSettings,
  sender: string,
): boolean {
  return approversOn(settings, grants, integration).includes(sender)
}

/** Whether an agent takes messages from this integration at all. */
export function isBound(settings: Settings, agent: string, integration: string): boolean {
  return bindingsAt(settings, integration).some((bound) => bound.agent.id === agent)
}

/** A right from the configuration, and the key that gives it. */
export interface Listed {
  readonly sender: string
  readonly right: Right
  readonly key: string
}

/** Returns who may talk and who may approve on an integration by the configuration alone. Grants add to this. */
export function listedRights(settings: Settings, integration: IntegrationSettings): readonly Listed[] {
  if (!integration.access.readable) return []
  const at = `${integration.origin}.access`
  const talk = (senders: readonly string[], key: string) =>
    senders.map((sender): Listed => ({ sender, right: 'talk', key }))
  const groups = Object.entries(integration.access.groups)
  return [
    ...talk(integration.access.allowFrom, `${at}.allow_from`),
    ...groups.flatMap(([id, group]) => talk(group.allowFrom, `${at}.groups["${id}"].allow_from`)),
    ...listedApprovers(settings, integration),
  ]
}

/** Returns all senders who may decide what agents ask on this integration, from any source of the right. */
export function approversOn(
  settings: Settings,
  grants: Pick<GrantList, 'senders'>,
  integration: IntegrationSettings,
): readonly string[] {
  if (!integration.access.readable) return []
  const listed = listedApprovers(settings, integration).map((one) => one.sender)
  const users =
    settings.users.length === 0 ? [LOCAL_USER] : settings.users.filter(mayDecide).map(({ id }) => id)
  const paired = users.flatMap((user) => pairedAs(settings, grants, integration.id, user))
  return [...new Set([...listed, ...paired, ...grants.senders(integration.id, 'approve')])]
}

function listedApprovers(settings: Settings, integration: IntegrationSettings): readonly Listed[] {
  const { id, platform, origin, access } = integration
  if (!access.readable) return []
  const prefix = `${id}:`
  const users = settings.users.flatMap((user, at) => {
    if (!mayDecide(user)) return []
    return user.identities.flatMap((identity, nth): Listed[] =>
      identity.startsWith(prefix)
        ? [
            {
              sender: identity.slice(prefix.length),
              right: 'approve',
              key: `users[${at}].identities[${nth}]`,
            },
          ]
        : [],
    )
  })
  const key = access.approversByDefault
    ? `default of ${platform} (${origin}.access names no approvers)`
    : `${origin}.access.approvers`
  return [...access.approvers.map((sender): Listed => ({ sender, right: 'approve', key })), ...users]
}

function mayDecide({ roles }: Pick<UserSettings, 'roles'>): boolean {
  return roles.includes('owner') || roles.includes('approver')
}
