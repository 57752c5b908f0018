// Turns one judged event into the item that the store receives: its row, its state and its body.
import { hash } from 'node:crypto'
import {
  type Address,
  DELETED_VERSION,
  defined,
  type Effect,
  type InboundEvent,
  type ReasonCode,
  type ReceiveItem,
  type StepResult,
  type TurnBody,
  type Wording,
} from '../../contract/index.ts'
import { pickInTap } from '../picks.ts'
import { claimRules } from './claim-step.ts'
import type { StepInput } from './step-input.ts'

/** Refusals that may come in any number: counted and in the ledger, without a row each. */
const UNKEPT: readonly ReasonCode[] = ['rate_limited', 'flood', 'store_away', 'filtered']

/** Returns the item to store. `messageId`: the event's own id, or a fresh one. */
export function receiveItem(
  input: StepInput,
  { decision, effects = [] }: StepResult,
  messageId: string,
): ReceiveItem {
  const { event, integration, at, agent } = input
  const body = bodyOf(event)
  const refused = decision.go === 'refuse'
  // Group messages without a mention become context of the next turn, if the gate admits their sender.
  const isHeard = refused && decision.reason === 'not_mentioned' && agent !== null
  const isKept = !refused || isHeard
  const outcome = outcomeOf(input, decision)
  const editVersion = editVersionOf(event, body)
  return {
    turn: {
      at,
      platform: integration.platform,
      messageId,
      editVersion,
      source: integration.source ?? `${integration.platform}:${integration.id}`,
      agent,
      sender: event.sender.id,
      body: isKept ? body : null,
      bodyDigest: isKept ? '' : hash('sha256', JSON.stringify(body)),
      ...(input.late && !('included' in event) ? { lateAt: event.at } : {}),
    },
    ...outcome,
    ...(refused && decision.key ? { detail: { key: decision.key } } : {}),
    keepRow: decision.go === 'continue' || !UNKEPT.includes(decision.reason),
    effects: [
      ...effects,
      ...(decision.go === 'answer' ? [reply(at, decision.text)] : []),
      ...(outcome.state === 'queued' ? replacedBy(event, at, editVersion) : []),
    ],
    ...(outcome.state === 'queued' ? { claims: claimRules(input) } : {}),
  }
}

function outcomeOf(
  input: StepInput,
  decision: StepResult['decision'],
): Pick<ReceiveItem, 'state' | 'reason'> {
  if (decision.go === 'refuse') return { state: 'refused', reason: decision.reason }
  if (decision.go !== 'continue') return { state: 'consumed', reason: decision.reason }
  const { late, now, event, settings } = input
  if (late && now - event.at > settings.tunables.queueExpiryMs)
    return { state: 'expired', reason: 'queue_expired' }
  return { state: 'queued', reason: null }
}

/** An edit replaces the queued versions of its message, so that no agent answers outdated text. */
function replacedBy(event: InboundEvent, at: Address, editVersion: number): readonly Effect[] {
  if (event.kind !== 'edit' || event.messageId === undefined) return []
  const versions = event.editVersion === undefined ? { not: editVersion } : { below: editVersion }
  return [{ kind: 'withdraw', at, messageId: event.messageId, sender: event.sender.id, versions }]
}

/** An edit without a version must not count as the first version. */
function editVersionOf(event: InboundEvent, body: TurnBody): number {
  if (event.kind === 'delete') return DELETED_VERSION
  if (event.kind !== 'message' && event.kind !== 'edit') return 0
  if (event.editVersion !== undefined || event.kind === 'message') return event.editVersion ?? 0
  return Number.parseInt(hash('sha256', JSON.stringify(body)).slice(0, 12), 16) || 1
}

export function reply(to: Address, text: Wording): Effect {
  return { kind: 'send', to, op: { kind: 'text', text }, cause: 'notice' }
}

function bodyOf(event: InboundEvent): TurnBody {
  const name = defined({ senderName: event.sender.name })
  switch (event.kind) {
    case 'message':
    case 'edit':
      return {
        kind: event.kind,
        text: event.text,
        ...name,
        ...defined({ meta: event.meta }),
        ...(event.attachments && event.attachments.length > 0 ? { attachments: event.attachments } : {}),
        ...defined({ replyTo: event.replyTo }),
        ...(event.chat === 'group' ? { chat: 'group' as const } : {}),
      }
    case 'tap': {
      const pick = pickInTap(event.value)
      const meta = { on: event.on, ...(pick === null ? {} : { picked: pick.of }) }
      return {
        ...{ kind: 'tap', text: pick?.number ?? event.value, ...name, meta },
        ...(event.chat === 'group' ? { chat: 'group' as const } : {}),
      }
    }
    case 'reaction':
      return { kind: 'reaction', text: event.emoji, ...name, meta: { on: event.on } }
    case 'delete':
      return { kind: 'delete', text: '', ...name }
    case 'unparsable':
    case 'filtered':
    case 'barred':
    case 'verdict':
    case 'report':
      return { kind: 'message', text: '', ...name }
  }
}
