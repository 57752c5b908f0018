// Decides which senders an integration admits, by their stable id and never by the room. Deny is the default.
import type { AccessPolicy, GroupPolicy, IntegrationSettings } from '../../contract/index.ts'
import type { GrantList } from './approvers.ts'

export type ReadablePolicy = Extract<AccessPolicy, { readable: true }>

/** A sender and the place of the message. */
export interface Speaker {
  readonly sender: string
  readonly conversation: string
  readonly chat: 'direct' | 'group'
}

export interface ClosedGate {
  readonly reason:
    | 'integration_disabled'
    | 'policy_unreadable'
    | 'dm_disabled'
    | 'sender_not_allowed'
    | 'group_not_listed'
    | 'pairing_required'
  readonly key: string
}

/**
 * Returns the gate that keeps a speaker out; null: the speaker is admitted. It is checked at intake, at hand-over and
 * at sending.
 */
export function closedGate(
  integration: IntegrationSettings,
  grants: Pick<GrantList, 'has'>,
  speaker: Speaker,
): ClosedGate | null {
  const { access, origin } = integration
  const key = `${origin}.access`
  if (!integration.enabled) return { reason: 'integration_disabled', key: `${origin}.enabled` }
  if (!access.readable) return { reason: 'policy_unreadable', key }
  const allowed = (list: readonly string[]) =>
    list.includes(speaker.sender) || list.includes('*') || grants.has(integration.id, speaker.sender, 'talk')
  if (speaker.chat === 'group') {
    const group = groupAt(access, speaker.conversation)
    if (!group) return { reason: 'group_not_listed', key: `${key}.groups` }
    const at = `${key}.groups["${speaker.conversation}"].allow_from`
    const list = group.allowFrom.length > 0 ? group.allowFrom : access.allowFrom
    return allowed(list) ? null : { reason: 'sender_not_allowed', key: at }
  }
  const at = `${key}.allow_from`
  switch (access.dm) {
    case 'disabled':
      return { reason: 'dm_disabled', key: `${key}.dm` }
    case 'credential':
      // The platform checked its own credential before. A list narrows it further.
      return access.allowFrom.length === 0 || allowed(access.allowFrom)
        ? null
        : { reason: 'sender_not_allowed', key: at }
    case 'allowlist':
      return allowed(access.allowFrom) ? null : { reason: 'sender_not_allowed', key: at }
    case 'pairing':
      return allowed(access.allowFrom) ? null : { reason: 'pairing_required', key: at }
  }
}

/** Looks up own keys only: strangers choose conversation ids, and every object has `constructor`. */
export function groupAt(policy: ReadablePolicy, conversation: string): GroupPolicy | undefined {
  return Object.hasOwn(policy.groups, conversation) ? policy.groups[conversation] : undefined
}
