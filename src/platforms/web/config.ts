// The web chat's settings and limits: what the page may send, how long links and sessions live. Bank of the river: platform.
import {
  defined,
  type IntegrationSettings,
  type PlatformDeps,
  type StatusReport,
  type TokenList,
  WEB_OWNER,
} from '../../contract/index.ts'

/** What the page alone is given beside what every platform has. */
export interface WebDeps extends PlatformDeps {
  /** The agent that answers in a conversation, and the largest HTTP body, as the configuration in force has them. */
  readonly agentAt?: (conversation: string) => string | null
  /** Whether that agent can be reached now, on whatever node. */
  readonly agentHere?: (conversation: string) => boolean
  /** Where another device finds the page, and why it may not. */
  readonly reachable?: () => { readonly base: string; readonly warning: string | null }
  readonly maxBodyBytes?: () => number
  /** How far each integration is known to have missed nothing; null: not for this one's eyes. */
  readonly connections?: (sender: string) => Promise<readonly WebConnection[] | null>
}

export interface WebConnection {
  readonly id: string
  readonly platform: string
  readonly complete: StatusReport['integrations'][number]['complete']
}

/** A link's one-time ticket, exchanged for a session by the page. */
export const TICKET_KIND = 'web-ticket'
/** The session behind the cookie. */
export const SESSION_KIND = 'web'
const TICKET_TTL_MS = 15 * 60_000
export const SESSION_TTL_MS = 30 * 24 * 3_600_000

export interface WebConfig {
  readonly integration: string
  /** Where the page is reached from outside, without a trailing slash; its origin counts as our own. */
  readonly publicUrl: string | null
  readonly maxTextChars: number
  readonly maxAttachments: number
  /** Open streams per chat: a page that forgets to close cannot hold more. */
  readonly maxWindows: number
  readonly heartbeatMs: number
  /** How often an open window looks for what no signal told it: another node's sends, lost hints. */
  readonly sweepMs: number
  /** More than this behind: the window is told to load its history anew. */
  readonly maxReplay: number
}

/** The web platform has no keys of its own in the file. */
export function webConfig(
  integration: IntegrationSettings,
  publicUrl: string | null | undefined = null,
): WebConfig {
  return {
    integration: integration.id,
    publicUrl: text(publicUrl)?.replace(/(?<!\/)\/+$/, '') ?? null,
    maxTextChars: 64_000,
    maxAttachments: 8,
    maxWindows: 16,
    heartbeatMs: 15_000,
    sweepMs: 5_000,
    maxReplay: 1_000,
  }
}

export interface TicketOrder {
  readonly integration: string
  /** Whose chat it opens; one conversation per sender. */
  readonly sender?: string
  readonly name?: string
  readonly ttlMs?: number
}

/** Mints a one-time ticket and gives the path that a browser opens. The ticket stays behind '#': no log ever sees it. */
export async function mintChatPath(
  tokens: TokenList,
  order: TicketOrder,
): Promise<{ readonly path: string; readonly expiresAt: number | null }> {
  const sender = order.sender ?? WEB_OWNER
  const scope = {
    integration: order.integration,
    sender,
    ...defined({ name: order.name }),
  }
  const ticket = await tokens.mint({ kind: TICKET_KIND, scope, ttlMs: order.ttlMs ?? TICKET_TTL_MS })
  return { path: `/chat#ticket=${ticket.token}`, expiresAt: ticket.expiresAt }
}

function text(value: unknown): string | null {
  return typeof value === 'string' && value.length > 0 ? value : null
}
