// INTAKE: every event of every platform comes through here. The steps decide. Then row, session, effects, cursor,
// ledger and counters are one commit. Only after that does the platform get its confirmation.
import {
  type Address,
  address,
  agentById,
  asSwitchboardError,
  type Clock,
  type InboundEvent,
  type IntegrationSettings,
  integrationById,
  type Logger,
  type MarkMove,
  type PlatformIntake,
  type Random,
  type ReasonCode,
  type Received,
  type ReceiveItem,
  type ReceiveResult,
  type Settings,
  type StepResult,
  type Store,
  SwitchboardError,
  type TakeoverRow,
} from '../../contract/index.ts'
import { wordsIn } from '../../words/index.ts'
import type { PromptLimit } from '../links.ts'
import type { FailedLater } from '../outbound/failed-later.ts'
import type { GrantList } from '../people/approvers.ts'
import { closedGate } from '../people/gate.ts'
import { type Bound, boundAt } from '../people/routing.ts'
import type { SharedLimits } from '../shared-limits.ts'
import { waitingHere } from './bare-verdict.ts'
import { createDropWarnings } from './drop-warnings.ts'
import { createIntakeLimits } from './intake-limits.ts'
import { holderAt, namedApproval, wasAsked } from './load-step-facts.ts'
import { messageForm } from './message-form.ts'
import { receiveItem, reply } from './receive-item.ts'
import { receivedOf } from './received.ts'
import { type AgentReach, NOBODY, type StepInput } from './step-input.ts'
import { runSteps } from './steps.ts'

/** A younger message is neither missed nor late: the live link may still bring it. */
export const GRACE_MS = 60_000

export interface IntakeDeps {
  /** Limits shared by all nodes; null: there is one node. */
  readonly sharedLimits: SharedLimits | null
  readonly store: Pick<Store, 'receive' | 'approval' | 'approvals' | 'sends' | 'takeoverAt'>
  readonly clock: Clock
  readonly log: Logger
  readonly random: Random
  readonly settings: () => Settings
  readonly grants: GrantList
  /** The agents' state, for the answers to commands. */
  readonly reach: () => AgentReach
  readonly canEdit: (integration: string) => boolean
  readonly textAsFile: (integration: string) => boolean
  /** True for an integration that takes no answers. */
  readonly isOneWay: (integration: string) => boolean
  /** True where the sender is a channel server, which can be asked for a verdict itself. */
  readonly isChannelServer: (integration: string) => boolean
  readonly promptLimit: (integration: string) => PromptLimit
  /** Whether a sender over a limit gets a message. False where the platform's own response says so. */
  readonly tellsLimits: (integration: string) => boolean
  /** True where the platform keeps a history. A message dropped without a row must not be found there as missed. */
  readonly keepsHistory: (integration: string) => boolean
  /** True where the platform reports deletions. */
  readonly tellsDeletions: (integration: string) => boolean
  readonly failedLater: FailedLater
  /** Called after the commit with the turns that /stop cancelled, so that running work can be stopped. */
  readonly onStop: (agent: string, turns: readonly string[]) => void
  /** Called after the commit when a sender asked for a person. */
  readonly onAsked: (takeover: TakeoverRow) => void
  /** Called after the commit with the turns that a deletion ended, for the people who watch them. */
  readonly onWithdrawn: (turns: readonly string[]) => void
}

/** The lease that goes with a stored position, so that only its holder moves the position. */
export interface Fence {
  readonly name: string
  readonly token: number
}

export interface Intake {
  /**
   * Returns the intake of one integration. `fence`: positions are stored only under this lease; it returns null while
   * the lease is not held.
   */
  of(integration: string, fence?: () => Fence | null): PlatformIntake
  /**
   * Receives messages that were missed and found in the history of a place. A mark is stored in the same commit.
   * Throws as `receive` does.
   */
  late(
    integration: string,
    events: readonly InboundEvent[],
    mark: MarkMove | null,
  ): Promise<readonly Received[]>
}

/** The key of the bucket that a message draws from. JSON prevents a sender's id from imitating a pair. */
function limitedAs({ sender, conversation }: InboundEvent): string {
  return sender.limitedByConversation ? JSON.stringify([sender.id, conversation]) : sender.id
}

const NO_LIMIT = { rps: 0, burst: 0 }
const OF_THE_SENDER: readonly ReasonCode[] = ['sender_unproven', 'sender_not_allowed', 'bot_message']

export function createIntake(deps: IntakeDeps): Intake {
  const limits = createIntakeLimits({ clock: deps.clock, shared: deps.sharedLimits })
  const dropped = createDropWarnings(deps)

  /**
   * Missed messages draw from no limit. Messages that a known sender wrote while the link was down draw from none
   * either.
   */
  const consider = async (
    event: InboundEvent,
    integration: IntegrationSettings,
    came: Came,
  ): Promise<Considered> => {
    const settings = deps.settings()
    const now = deps.clock.now()
    const at = addressOf(integration.id, event)
    const bound = boundAt(settings, at)
    const agent = bound?.agent ?? null
    const known = isKnown(event, integration)
    const isFree = came === 'late' || (came === 'waited' && known)
    const late = came === 'late' || (isFree && now - event.at > GRACE_MS)
    const floodLimit = known ? settings.tunables.floodLimit : settings.tunables.strangerLimit
    const ofSenders = event.sender.isSource ? NO_LIMIT : settings.tunables.senderLimit
    const senderLimit = bound?.binding.senderLimit ?? ofSenders
    // Calls that may fail come before a token is drawn, so a message that was never considered spends nothing.
    const form = messageForm(event)
    const approval = form === null ? null : await namedApproval(deps.store, form, now)
    const heldBy = form === null ? null : await holderAt(deps.store, form, at)
    const isMute = deps.isOneWay(integration.id)
    const waiting = isMute ? [] : await waitingHere({ event, settings, integration, now }, deps.store)
    // Elsewhere people were asked. An adapter that brings such an event must not bypass the approvers.
    const isAnswer = event.kind === 'verdict' && deps.isChannelServer(integration.id)
    const asked = isAnswer && (await wasAsked(deps.store, event, integration.id))
    const failureWords = event.kind === 'report' ? await deps.failedLater.words(integration.id, event) : []
    const knock = {
      ...{ integration: integration.id, sender: limitedAs(event), known, free: isFree },
      ...{ floodLimit, senderLimit },
    }
    const look = limits.areShared ? await limits.look(knock) : limits.lookAlone(knock)
    const input: StepInput = {
      event,
      form,
      integration,
      settings,
      at,
      agent,
      now,
      words: wordsIn(),
      late,
      grants: deps.grants,
      approval,
      waiting,
      asked,
      heldBy,
      reach: form?.kind === 'command' ? deps.reach() : NOBODY,
      canEdit: deps.canEdit(integration.id),
      textAsFile: deps.textAsFile(integration.id),
      promptLimit: deps.promptLimit(integration.id),
      senderLimit: look.sender,
      senderLimitKey: limitKey(settings, bound),
      floodLimit: look.flood,
      floodLimitKey: known ? 'tunables.flood_limit' : 'tunables.stranger_limit',
      failureWords,
      freshCode: () => Buffer.from(deps.random.bytes(3)).toString('hex'),
    }
    const result = runSteps(input)
    const { crowded, undo } = look.pay(result)
    const item = remembered(heard(receiveItem(input, result, freshMessageId(event))))
    const isTold = known && overLimit(result) && deps.tellsLimits(integration.id) && look.isFirstOver()
    if (isTold) return { item: tellingLimit(item), result, undo }
    return { item: crowded ? remembered({ ...item, keepRow: false }) : item, result, undo }
  }

  /** Marks messages that a history will show again, or that a deletion may overtake. */
  const remembered = (item: ReceiveItem): ReceiveItem => {
    const { integration } = item.turn.at
    const unkept = !item.keepRow && item.reason !== 'store_away' && deps.keepsHistory(integration)
    const mayBeDeleted = deps.tellsDeletions(integration)
    if (!unkept && !mayBeDeleted) return item
    return {
      ...item,
      ...(unkept ? { keepKey: true as const } : {}),
      ...(mayBeDeleted ? { mayBeDeleted: true as const } : {}),
    }
  }

  /** A one-way place gets no message, because it would fail. The immediate answer to the sender stays. */
  const heard = (item: ReceiveItem): ReceiveItem => {
    if (item.effects.length === 0) return item
    const effects = item.effects.filter((one) => one.kind !== 'send' || !deps.isOneWay(one.to.integration))
    return { ...item, effects }
  }

  const isKnown = (event: InboundEvent, integration: IntegrationSettings): boolean => {
    const { sender, conversation, chat } = event
    // The event names a message of ours, and the adapter identified it as the platform's own report.
    if (event.kind === 'report') return true
    // The adapter refused the sender, so the name in the event proves nothing.
    if (event.kind === 'barred' && OF_THE_SENDER.includes(event.reason)) return false
    // An event without a sender comes from the platform itself.
    if (event.kind === 'delete' && sender.id === '') return true
    return (
      !sender.isBot &&
      closedGate(integration, deps.grants, { sender: sender.id, conversation, chat }) === null
    )
  }

  const settled = (one: Considered, result: ReceiveResult | undefined): Received => {
    if (!result) throw new SwitchboardError('internal', 'the store answered fewer results than it was given')
    if (result.duplicate) one.undo()
    for (const effect of result.effects) {
      if (effect.kind === 'cancelled') deps.onStop(effect.agent, effect.turns)
      if (effect.kind === 'withdrawn') deps.onWithdrawn(effect.turns)
      if (effect.kind === 'person' && effect.asked) deps.onAsked(effect.takeover)
      if (effect.kind === 'reported' && effect.changed) deps.failedLater.noticed()
    }
    return receivedOf(one.result, result)
  }

  // A message without an id gets a fresh one and is never a duplicate.
  const freshMessageId = (event: InboundEvent): string => event.messageId ?? deps.random.uuid()

  /**
   * Considers, stores and settles events. Events that were not stored spend nothing. Throws `not_found` for an unknown
   * integration; other failures become `store_unavailable`.
   */
  const take = async (
    integrationId: string,
    events: readonly InboundEvent[],
    options: { readonly came: Came; readonly store: (items: readonly ReceiveItem[]) => Stored },
  ): Promise<readonly Received[]> => {
    const integration = integrationById(deps.settings(), integrationId)
    if (!integration)
      throw new SwitchboardError('not_found', `integration "${integrationId}" is not configured`)
    const considered: Considered[] = []
    try {
      for (const event of events) considered.push(await consider(event, integration, options.came))
      const results = await options.store(considered.map((one) => one.item))
      for (const { item, result } of considered)
        if (!item.keepRow && result.decision.go === 'refuse')
          dropped({
            integration: integrationId,
            reason: result.decision.reason,
            key: result.decision.key,
          })
      return considered.map((one, index) => settled(one, results[index]))
    } catch (thrown) {
      for (const one of considered) one.undo()
      throw asSwitchboardError(thrown, 'store_unavailable')
    }
  }

  return {
    of: (integration, fence) => ({
      receive: (events, options) =>
        take(integration, events, {
          came: options?.waited === true ? 'waited' : 'live',
          async store(items) {
            const value = options?.cursor
            const cursor = value === undefined ? undefined : { integration, value, ...fencedBy(fence) }
            return deps.store.receive(items, cursor)
          },
        }),
    }),
    late: (integration, events, mark) =>
      take(integration, events, {
        came: 'late',
        store: (items) => deps.store.receive(items, undefined, mark ?? undefined),
      }),
  }
}

type Stored = Promise<readonly ReceiveResult[]>

/** `live`: by the link. `waited`: by the link, from before it was made. `late`: found in the history. */
type Came = 'live' | 'waited' | 'late'

/** Throws `conflict` when the lease is lost. Without its token the position could move backwards. */
function fencedBy(fence: (() => Fence | null) | undefined): { readonly fence?: Fence } {
  if (!fence) return {}
  const held = fence()
  if (!held) throw new SwitchboardError('conflict', 'a position is stored only while its lease is held')
  return { fence: held }
}

interface Considered {
  readonly item: ReceiveItem
  readonly result: StepResult
  readonly undo: () => void
}

function limitKey(settings: Settings, bound: Bound | null): string {
  if (bound?.binding.senderLimit === undefined) return 'tunables.sender_limit'
  const agent = agentById(settings, bound.agent)
  return `${agent?.origin}.inbound_bindings[${bound.binding.limitedBy ?? agent?.bindings.indexOf(bound.binding)}].rate_limit`
}

function overLimit({ decision }: StepResult): boolean {
  return decision.go === 'refuse' && (decision.reason === 'rate_limited' || decision.reason === 'flood')
}

/**
 * The first message of a known sender over a limit has a row, and gets an answer where no status code reports the
 * limit.
 */
function tellingLimit(item: ReceiveItem): ReceiveItem {
  return {
    ...item,
    keepRow: true,
    effects: [...item.effects, reply(item.turn.at, wordsIn().notices.overLimit)],
  }
}

function addressOf(integration: string, event: InboundEvent): Address {
  return address(integration, event.conversation, event.thread)
}
