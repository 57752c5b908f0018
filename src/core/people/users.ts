// The users in force: those of the configuration, with the identities that pairing added. Without configured users
// there is one user, `local`: the person at the command line.
import type { Settings, UserSettings } from '../../contract/index.ts'
import type { GrantList } from './approvers.ts'

export const LOCAL_USER = 'local'

type Grants = Pick<GrantList, 'senders'>

export function usersInForce(settings: Settings, grants: Grants): readonly UserSettings[] {
  const { integrations } = settings
  const paired = (user: string) =>
    integrations.flatMap(({ id }) => pairedAs(settings, grants, id, user).map((sender) => `${id}:${sender}`))
  if (settings.users.length > 0)
    return settings.users.map((user) => ({ ...user, identities: [...user.identities, ...paired(user.id)] }))
  const own = paired(LOCAL_USER)
  const byFile = integrations
    .filter(({ id }) => !own.some((identity) => identity.startsWith(`${id}:`)))
    .flatMap(({ id, access }) => {
      // A sender who was only admitted is never `local`.
      const sender = access.readable ? access.approvers[0] : undefined
      return sender === undefined ? [] : [`${id}:${sender}`]
    })
  return [{ id: LOCAL_USER, identities: [...own, ...byFile], notifyTo: null, roles: ['owner'] }]
}

/**
 * Returns the senders that pairing assigned to this user. The configuration wins: an identity it lists belongs to that
 * user only.
 */
export function pairedAs(
  { users }: Pick<Settings, 'users'>,
  grants: Grants,
  integration: string,
  user: string,
): readonly string[] {
  return grants
    .senders(integration, `user:${user}`)
    .filter((sender) => !users.some(({ identities }) => identities.includes(`${integration}:${sender}`)))
}
