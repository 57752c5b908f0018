// The people in force: the configured users; with none configured there is one, `local`, the first one paired.
import type { IntegrationSettings, Settings, UserSettings } from '../../contract/index.ts'
import type { GrantBook } from './approvers.ts'

export const LOCAL_USER = 'local'

/** Who the users are now. */
export function usersInForce(settings: Settings, grants: GrantBook): readonly UserSettings[] {
  return settings.users.length > 0 ? settings.users : [localUser(settings, grants)]
}

/**
 * `local` gains nothing by being a user: on each integration it is somebody who may approve there anyway, the first
 * one paired, or (where pairing is not the way in) the first approver that the configuration names.
 */
function localUser(settings: Settings, grants: GrantBook): UserSettings {
  const identities = settings.integrations.flatMap((integration) => {
    const sender = ownerOf(integration, grants)
    return sender === undefined ? [] : [`${integration.id}:${sender}`]
  })
  return { id: LOCAL_USER, identities, notifyTo: null, roles: ['owner'] }
}

function ownerOf(integration: IntegrationSettings, grants: GrantBook): string | undefined {
  if (!integration.access.readable) return undefined
  return grants.senders(integration.id, 'approve')[0] ?? integration.access.approvers[0]
}

/** Whether the configuration itself names approvers for this integration: then nobody becomes one by being first. */
export function namesApprovers(settings: Settings, integration: IntegrationSettings): boolean {
  if (integration.access.readable && integration.access.approvers.length > 0) return true
  return settings.users.some(
    (user) =>
      (user.roles.includes('owner') || user.roles.includes('approver')) &&
      user.identities.some((identity) => identity.startsWith(`${integration.id}:`)),
  )
}
