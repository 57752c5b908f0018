// Resolves a user and a named channel to one integration and one conversation. The recipient is an identity of that
// user. A named channel that does not exist is an error, never a reason to use another channel.
import {
  type Address,
  address,
  formatAddress,
  type IntegrationSettings,
  integrationById,
  parseAddress,
  type SendRow,
  type Settings,
  SwitchboardError,
  type UserSettings,
} from '../../contract/index.ts'
import { isOneWay, type Links } from '../links.ts'
import type { GrantList } from '../people/approvers.ts'
import { usersInForce } from '../people/users.ts'

export interface Recipient {
  readonly user: string
  readonly integration: IntegrationSettings
  readonly to: Address
  /** As named, or `type:id` of the default. */
  readonly channel: string
}

export interface Wish {
  /** From the credential; null: the owner. */
  readonly user: string | null
  readonly channel: string | undefined
}

export interface RecipientDeps {
  readonly settings: () => Settings
  readonly grants: GrantList
  readonly links: Pick<Links, 'get'>
}

/** Returns the recipient. Throws `execution_failed` with the reason for the caller. */
export function resolveRecipient(deps: RecipientDeps, wish: Wish): Recipient {
  const settings = deps.settings()
  const user = userOf(settings, deps.grants, wish.user)
  const chats = createChats(deps, user)
  const found = (integration: IntegrationSettings, channel: string): Recipient => {
    // A disabled integration no longer reports where its chat is.
    if (!integration.enabled) throw failed(`Integration "${integration.id}" is disabled`)
    const to = chats.at(integration)
    if (!to) throw failed(`Integration "${integration.id}" is not linked to a chat of user "${user.id}" yet`)
    return { user: user.id, integration, to, channel }
  }
  const { channel } = wish
  if (channel === undefined) {
    const integration = defaultOf(deps, user, chats)
    if (!integration) throw failed('No notification channels configured')
    return found(integration, `${integration.platform}:${integration.id}`)
  }
  const cut = channel.indexOf(':')
  if (cut < 0) {
    const ofType = settings.integrations.filter((one) => one.platform === channel)
    const heard = ofType.filter(({ id }) => !isOneWay(deps.links, id))
    const own = heard.find((one) => chats.at(one) !== null) ?? heard[0] ?? ofType[0]
    if (!own) throw failed(`No ${channel} integration is configured`)
    return found(own, channel)
  }
  const [type, id] = [channel.slice(0, cut), channel.slice(cut + 1)]
  const named = integrationById(settings, id)
  if (!named) throw failed(`Integration "${id}" not found`)
  if (named.platform !== type) throw failed(`Integration "${id}" is not ${type}`)
  if (chats.isForeign(named)) throw failed(`Integration "${id}" does not belong to user "${user.id}"`)
  return found(named, channel)
}

function userOf(settings: Settings, grants: GrantList, id: string | null): UserSettings {
  const users = usersInForce(settings, grants)
  const found =
    id === null
      ? (users.find((user) => user.roles.includes('owner')) ?? users[0])
      : users.find((one) => one.id === id)
  if (!found) throw failed(`There is no user "${id}"`)
  return found
}

/**
 * The user's own address, else the default integration, else the first integration with a chat of the user. One-way
 * integrations are excluded.
 */
function defaultOf({ settings, links }: RecipientDeps, user: UserSettings, chats: Chats) {
  const { integrations } = settings()
  if (user.notifyTo !== null) {
    const { integration } = parseAddress(user.notifyTo)
    if (isOneWay(links, integration)) throw failed(`Integration "${integration}" is one-way: nobody hears it`)
    return integrationById(settings(), integration) ?? null
  }
  const heard = integrations.filter(({ id }) => !isOneWay(links, id))
  return (
    heard.find((one) => one.default) ?? heard.find((one) => one.enabled && chats.at(one) !== null) ?? null
  )
}

interface Chats {
  at(integration: IntegrationSettings): Address | null
  /** The integration belongs to another user. */
  isForeign(integration: IntegrationSettings): boolean
}

function createChats({ settings, grants, links }: RecipientDeps, user: UserSettings): Chats {
  const senderOf = (one: UserSettings, integration: IntegrationSettings): string | null => {
    const prefix = `${integration.id}:`
    return one.identities.find((identity) => identity.startsWith(prefix))?.slice(prefix.length) ?? null
  }
  const notifyTo = user.notifyTo === null ? null : parseAddress(user.notifyTo)
  const isForeign = (integration: IntegrationSettings): boolean =>
    notifyTo?.integration !== integration.id &&
    senderOf(user, integration) === null &&
    usersInForce(settings(), grants).some((one) => one.id !== user.id && senderOf(one, integration) !== null)
  return {
    isForeign,
    at(integration) {
      if (notifyTo?.integration === integration.id) return notifyTo
      const own = senderOf(user, integration)
      if (own !== null) return address(integration.id, own)
      if (isForeign(integration)) return null
      const conversation =
        (settings().users.length === 0 ? soleByFile(integration) : null) ??
        links.get(integration.id)?.adapter.abilities.notifyPlace ??
        null
      return conversation === null ? null : address(integration.id, conversation)
    },
  }
}

/** Whether the place belongs to any user now. */
export function isRecipient(
  deps: RecipientDeps,
  { integration: id, to }: Pick<SendRow, 'integration' | 'to'>,
): boolean {
  const integration = integrationById(deps.settings(), id)
  if (!integration) return false
  return usersInForce(deps.settings(), deps.grants).some((user) => {
    const at = createChats(deps, user).at(integration)
    return at !== null && formatAddress(at) === to
  })
}

/**
 * Without configured users there is one user: the only sender that the configuration file admits. Pairing or a command
 * makes no sender a recipient.
 */
function soleByFile({ access }: IntegrationSettings): string | null {
  if (!access.readable || access.allowFrom.length !== 1) return null
  const [sender] = access.allowFrom
  return sender === undefined || sender === '*' ? null : sender
}

function failed(message: string): SwitchboardError {
  return new SwitchboardError('execution_failed', message)
}
