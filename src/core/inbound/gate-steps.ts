// The gates as intake steps: who may speak, and in groups whether the agent is mentioned.
import { CONTINUE, type Effect, type StepResult } from '../../contract/index.ts'
import { type ClosedGate, closedGate, groupAt, type ReadablePolicy } from '../people/gate.ts'
import type { StepInput } from './step-input.ts'

const CODE_LIFE_MS = 3_600_000

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
