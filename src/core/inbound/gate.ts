// The sender gate: who may speak. It looks at the sender's stable id, never at the room, and deny is the default.
import type { AccessPolicy, Effect, StepResult } from '../../contract/index.ts'
import { CONTINUE } from '../../contract/index.ts'
import type { StepInput } from './step-input.ts'

const CODE_LIFE_MS = 3_600_000

type ReadablePolicy = Extract<AccessPolicy, { readable: true }>

/** Refuses strangers. Says which key of the configuration would let them in. */
export function senderGate(input: StepInput): StepResult {
  const { integration, event } = input
  const key = `${integration.origin}.access`
  if (!integration.enabled) return refuse('integration_disabled', `${integration.origin}.enabled`)
  if (!integration.access.readable) return refuse('policy_unreadable', key)
  if (event.sender.isBot) return refuse('bot_message', key)
  return event.chat === 'direct'
    ? directGate(input, integration.access, key)
    : groupGate(input, integration.access, key)
}

function directGate(input: StepInput, policy: ReadablePolicy, key: string): StepResult {
  switch (policy.dm) {
    case 'disabled':
      return refuse('dm_disabled', `${key}.dm`)
    case 'credential':
      // The platform's own credential was checked before; a list narrows it further.
      return policy.allowFrom.length === 0 || isAllowed(input, policy.allowFrom)
        ? CONTINUE
        : refuse('sender_not_allowed', `${key}.allow_from`)
    case 'allowlist':
      return isAllowed(input, policy.allowFrom) ? CONTINUE : refuse('sender_not_allowed', `${key}.allow_from`)
    case 'pairing':
      return isAllowed(input, policy.allowFrom) ? CONTINUE : offerPairing(input, `${key}.allow_from`)
  }
}

function groupGate(input: StepInput, policy: ReadablePolicy, key: string): StepResult {
  const group = groupAt(policy, input)
  if (!group) return refuse('group_not_listed', `${key}.groups`)
  const list = group.allowFrom.length > 0 ? group.allowFrom : policy.allowFrom
  return isAllowed(input, list)
    ? CONTINUE
    : refuse('sender_not_allowed', `${key}.groups["${input.at.conversation}"].allow_from`)
}

/** By its own name only: strangers choose conversation ids, and `constructor` is in every object. */
function groupAt(policy: ReadablePolicy, { at }: StepInput): ReadablePolicy['groups'][string] | undefined {
  return Object.hasOwn(policy.groups, at.conversation) ? policy.groups[at.conversation] : undefined
}

/** In groups a message must mention the agent, unless the group says otherwise. Runs after the verdict step. */
export function mentionGate(input: StepInput): StepResult {
  const { integration, event } = input
  if (event.chat === 'direct' || !integration.access.readable) return CONTINUE
  if (event.kind !== 'message' && event.kind !== 'edit') return CONTINUE
  const group = groupAt(integration.access, input)
  if (!group?.requireMention || event.mentioned || matchesPattern(integration.access, event.text))
    return CONTINUE
  return refuse(
    'not_mentioned',
    `${integration.origin}.access.groups["${input.at.conversation}"].require_mention`,
  )
}

// The operator writes the pattern, anybody the text: even `.*kate` takes hours over a megabyte without a line break.
const MENTION_LOOKED_FOR_IN_CHARS = 4_096

function matchesPattern(policy: ReadablePolicy, text: string): boolean {
  const looked = text.slice(0, MENTION_LOOKED_FOR_IN_CHARS)
  return policy.mentionPatterns.some((pattern) => {
    try {
      return new RegExp(pattern, 'iu').test(looked)
    } catch {
      return false // a pattern that does not compile mentions nobody; `check` reports it
    }
  })
}

function isAllowed(input: StepInput, list: readonly string[]): boolean {
  const { sender } = input.event
  return (
    list.includes(sender.id) ||
    list.includes('*') ||
    input.grants.has(input.integration.id, sender.id, 'talk')
  )
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
    // The store replaces {code} and {left}: a sender who already has a code is told that one again, for what is left of it.
    reply: {
      to: input.at,
      text: 'This chat is not paired yet. Ask the owner to run: switchboard pair approve {code}\nThe code is good for {left}.',
    },
  }
  return { decision: { go: 'refuse', reason: 'pairing_required', key }, effects: [pair] }
}

function refuse(
  reason:
    | 'integration_disabled'
    | 'policy_unreadable'
    | 'bot_message'
    | 'dm_disabled'
    | 'sender_not_allowed'
    | 'group_not_listed'
    | 'not_mentioned',
  key: string,
): StepResult {
  return { decision: { go: 'refuse', reason, key } }
}
