// The users in force: those of the configuration, with the identities that pairing gave them. With none configured there is
// one user, `local`: the person who holds the command line.
import type { Settings, UserSettings } from '../../contract/index.ts'
import type { GrantBook } from './approvers.ts'

export const LOCAL_USER = 'local'

type Grants = Pick<GrantBook, 'senders'>

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
      // Whom somebody merely let in is never `local`.
      const sender = access.readable ? access.approvers[0] : undefined
      return sender === undefined ? [] : [`${id}:${sender}`]
    })
  return [{ id: LOCAL_USER, identities: [...own, ...byFile], notifyTo: null, roles: ['owner'] }]
}

/** The senders that pairing made this user's. The configuration wins: what it lists for a user is no other user's. */
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
