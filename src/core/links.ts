// The platform adapters of this node, by integration, and what the outlet and the approvals need to know about them.
import {
  type Address,
  asSwitchboardError,
  defined,
  integrationById,
  type LinkState,
  type MarkdownForm,
  type NewSend,
  NO_TEXT_LIMIT,
  type PlatformAdapter,
  roomyTextLimit,
  type SendCause,
  type Settings,
  SwitchboardError,
  type TextLimit,
  type TurnRow,
} from '../contract/index.ts'
import { rowAddress } from './signals.ts'

export interface Link {
  readonly integration: string
  readonly platform: string
  readonly adapter: PlatformAdapter
  lastInAt: number | null
  lastOutAt: number | null
  /** Time of the last successful call that sends or looks up a message. */
  okAt: number | null
  /** Compares the integration with its platform's history. */
  watch?: { stop(): Promise<void> }
}

export interface Links {
  get(integration: string): Link | undefined
  all(): readonly Link[]
  reachable(): readonly string[]
  add(integration: string, platform: string, adapter: PlatformAdapter): Link
  remove(integration: string): void
  onAdded(listen: (integration: string) => void): void
}

const NEVER_USED = { lastInAt: null, lastOutAt: null }

export function createLinks(): Links {
  const links = new Map<string, Link>()
  /** Links that were restarted. Their times of last use are kept. */
  const earlier = new Map<string, Link>()
  const listeners: ((integration: string) => void)[] = []
  let reachable: readonly string[] = []
  /** Integrations through which one node at a time can send. */
  const shared = new Set<string>()
  const isHere = (id: string) => {
    const link = shared.has(id) ? links.get(id) : undefined
    return link === undefined || linkOf(link.adapter).state !== 'waiting'
  }
  return {
    get: (integration) => links.get(integration),
    all: () => [...links.values()],
    reachable: () => (shared.size === 0 ? reachable : reachable.filter(isHere)),
    add(integration, platform, adapter) {
      const before = earlier.get(integration)
      const { lastInAt, lastOutAt } = before?.platform === platform ? before : NEVER_USED
      const link: Link = { integration, platform, adapter, lastInAt, lastOutAt, okAt: null }
      earlier.delete(integration)
      links.set(integration, link)
      reachable = [...links.keys()]
      if (adapter.abilities.sendFrom === 'link-holder') shared.add(integration)
      else shared.delete(integration)
      for (const listen of listeners) listen(integration)
      return link
    },
    remove(integration) {
      const link = links.get(integration)
      if (link) earlier.set(integration, link)
      links.delete(integration)
      reachable = [...links.keys()]
    },
    onAdded(listen) {
      listeners.push(listen)
    },
  }
}

/**
 * Returns the state of an adapter's link. Adapters are external code: one that throws or returns no state counts as
 * down, with the reason as detail. One without a link is up.
 */
export function linkOf(adapter: Pick<PlatformAdapter, 'link'>): LinkState {
  if (adapter.link === undefined) return { state: 'up' }
  try {
    const state: Partial<LinkState> | undefined = adapter.link.state()
    if (typeof state?.state === 'string') return state as LinkState
    return { state: 'down', detail: 'its link.state() returns no state' }
  } catch (thrown) {
    return {
      state: 'down',
      detail: `its link.state() failed: ${thrown instanceof Error ? thrown.message : String(thrown)}`,
    }
  }
}

/** Returns the longest text of one message: the integration's own limit, at most the platform's. */
export function textLimitOf(settings: Settings, links: Links, integration: string): TextLimit {
  const link = links.get(integration)
  const platforms = link ? roomyTextLimit(link.adapter.abilities) : NO_TEXT_LIMIT
  const own = integrationById(settings, integration)?.textChunkLimit ?? platforms.size
  return { ...platforms, size: Math.min(own, platforms.size) }
}

/** How much of a question fits into one message, counted as it is shown there. */
export interface PromptLimit extends TextLimit {
  readonly markdown: MarkdownForm
}

export function promptLimitOf(link: Link | undefined): PromptLimit {
  if (!link) return { size: 4096, unit: 'code-points', markdown: 'written' }
  const { abilities } = link.adapter
  return { ...roomyTextLimit(abilities), markdown: abilities.markdown ?? 'written' }
}

/** Returns false for an integration that is absent here or one-way. */
export function canSpeak(links: Pick<Links, 'get'>, integration: string): boolean {
  return links.get(integration) !== undefined && !isOneWay(links, integration)
}

/** Whether the integration takes no messages. Anything queued for it would fail. */
export function isOneWay(links: Pick<Links, 'get'>, integration: string): boolean {
  return links.get(integration)?.adapter.abilities.oneWay === true
}

/** Throws `execution_failed` if a hosted server cannot reach that place, before anything is queued. */
export async function checkPlace({ adapter }: Link, to: Address, cause: SendCause): Promise<void> {
  try {
    await adapter.channel?.check(to, cause)
  } catch (thrown) {
    const { message, hint } = asSwitchboardError(thrown)
    throw new SwitchboardError('execution_failed', `Adapter send failed: ${message}`, defined({ hint }))
  }
}

/** The hint for a place that takes no answers. */
export const ONE_WAY_HINT = 'the options of the integration decide whether it takes answers'

/** Returns the configured reaction on the sender's message; null if the platform has no reactions. */
export function ackReaction(row: TurnRow, emoji: string, link: Link | undefined): NewSend | null {
  if (emoji === '' || !link?.adapter.abilities.reactions) return null
  return {
    to: rowAddress(row),
    platform: row.platform,
    op: { kind: 'react', on: row.messageId, emoji },
    cause: 'notice',
    agent: row.agent,
    session: row.session,
    turn: row.id,
    idempotencyKey: `ack:${row.id}`,
  }
}

/**
 * Whether a sender over a limit gets a message. False where an HTTP status reports it, or where the reader would be a
 * channel server.
 */
export function tellsLimits(links: Pick<Links, 'get'>, integration: string): boolean {
  const adapter = links.get(integration)?.adapter
  if (!adapter || adapter.endpoint?.answersRefusals || adapter.channel) return false
  return !adapter.abilities.oneWay
}
