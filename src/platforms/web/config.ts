// The web chat's settings and limits: what the page may send, and how long links and sessions live.
import {
  defined,
  type IntegrationSettings,
  type PlatformDeps,
  type StatusReport,
  type TokenList,
  WEB_OWNER,
} from '../../contract/index.ts'

/** What only the web chat needs. */
export interface WebDeps extends PlatformDeps {
  /** The agent of a conversation, and the largest HTTP body, in the present configuration. */
  readonly agentAt?: (conversation: string) => string | null
  /** Whether that agent can be reached now, on any node. */
  readonly agentHere?: (conversation: string) => boolean
  /** The address of the page for another device, and why it may not work. */
  readonly reachable?: () => { readonly base: string; readonly warning: string | null }
  readonly maxBodyBytes?: () => number
  /** How complete each integration is; null: this person may not see it. */
  readonly connections?: (sender: string) => Promise<readonly WebConnection[] | null>
}

export interface WebConnection {
  readonly id: string
  readonly platform: string
  readonly complete: StatusReport['integrations'][number]['complete']
}

/** The one-time ticket of a link, which the page exchanges for a session. */
export const TICKET_KIND = 'web-ticket'
/** The session of the cookie. */
export const SESSION_KIND = 'web'
const TICKET_TTL_MS = 15 * 60_000
export const SESSION_TTL_MS = 30 * 24 * 3_600_000

export interface WebConfig {
  readonly integration: string
  /** The public address of the page, without a trailing slash. Its origin counts as our own. */
  readonly publicUrl: string | null
  readonly maxTextChars: number
  readonly maxAttachments: number
  /** Open streams per chat, so that a page that does not close them cannot hold more. */
  readonly maxWindows: number
  readonly heartbeatMs: number
  /** How often an open window looks for what no signal reported: another node's sends, and lost hints. */
  readonly sweepMs: number
  /** A window that is further behind loads its history again. */
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
  /** The person whose chat it opens. Each has one conversation. */
  readonly sender?: string
  readonly name?: string
  readonly ttlMs?: number
}

/** Mints a one-time ticket and returns the path for a browser. The ticket stands after '#', so it appears in no log. */
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
