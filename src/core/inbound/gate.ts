// The sender gate: who may speak. It checks the sender's stable id, never the room. Deny is the default.
import type {
  AccessPolicy,
  Effect,
  GroupPolicy,
  IntegrationSettings,
  StepResult,
} from '../../contract/index.ts'
import { CONTINUE } from '../../contract/index.ts'
import type { GrantList } from '../people/approvers.ts'
import type { StepInput } from './step-input.ts'

const CODE_LIFE_MS = 3_600_000

type ReadablePolicy = Extract<AccessPolicy, { readable: true }>

/** Refuses strangers, and names the configuration key that would admit them. */
export function senderGate(input: StepInput): StepResult {
  const { integration, event, grants } = input
  const speaker = { sender: event.sender.id, conversation: input.at.conversation, chat: event.chat }
  if (event.sender.isBot && integration.enabled && integration.access.readable)
    return refuse('bot_message', `${integration.origin}.access`)
  const closed = closedGate(integration, grants, speaker)
  if (closed === null) return CONTINUE
  return closed.reason === 'pairing_required'
    ? offerPairing(input, closed.key)
    : refuse(closed.reason, closed.key)
}

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

/**
 * In groups a message must mention the agent, unless the group's policy says otherwise. Runs after the verdict step.
 */
export function mentionGate(input: StepInput): StepResult {
  const { integration, event } = input
  if (event.chat === 'direct' || !integration.access.readable) return CONTINUE
  if (event.kind !== 'message' && event.kind !== 'edit') return CONTINUE
  const group = groupAt(integration.access, input.at.conversation)
  if (!group?.requireMention || event.mentioned || matchesPattern(integration.access, event.text))
    return CONTINUE
  return refuse(
    'not_mentioned',
    `${integration.origin}.access.groups["${input.at.conversation}"].require_mention`,
  )
}

// The operator writes the pattern and any sender the text. Even `.*kate` takes hours on a megabyte without a line
// break.
const MENTION_LOOKED_FOR_IN_CHARS = 4_096

function matchesPattern(policy: ReadablePolicy, text: string): boolean {
  const looked = text.slice(0, MENTION_LOOKED_FOR_IN_CHARS)
  return policy.mentionPatterns.some((pattern) => {
    try {
      return new RegExp(pattern, 'iu').test(looked)
    } catch {
      return false // a pattern that does not compile matches nothing; `check` reports it
    }
  })
}

function offerPairing(input: StepInput, key: string): StepResult {
  const code = input.freshCode()
  const { sender } = input.event
  const pair: Effect = {
    kind: 'pair',
    integration: input.integration.id,
    sender: sender.id,
    senderName: sender.name ?? null,
    conversation: input.at.conversation,
    code,
    expiresAt: input.now + CODE_LIFE_MS,
    // The store replaces {code} and {left}. A sender with a valid code gets the same code again, with its remaining
    // time.
    reply: {
      to: input.at,
      text: input.words.notices.notPaired,
    },
  }
  return { decision: { go: 'refuse', reason: 'pairing_required', key }, effects: [pair] }
}

function refuse(reason: ClosedGate['reason'] | 'bot_message' | 'not_mentioned', key: string): StepResult {
  return { decision: { go: 'refuse', reason, key } }
}
