// The list of built-in adapters. A new platform or connector needs its folder, a row here and a page of docs. A row
// loads the module; the adapter and its SDK are loaded when one is made.
import {
  CHANNEL_PLATFORM,
  type ChannelPlatformDeps,
  type ChannelServers,
  type ConnectorModule,
  type PlannedModule,
  type PlatformModule,
} from '../contract/index.ts'
import type { ReachableAddress } from '../runtime/reachable-address.ts'

export const PLATFORMS: Readonly<Record<string, () => Promise<PlatformModule>>> = {
  web: async () => (await import('../platforms/web/module.ts')).webModule,
  webhook: async () => (await import('../platforms/webhook/module.ts')).webhookModule,
  telegram: async () => (await import('../platforms/telegram/module.ts')).telegramModule,
  slack: async () => (await import('../platforms/slack/module.ts')).slackModule,
  discord: async () => (await import('../platforms/discord/module.ts')).discordModule,
  email: async () => (await import('../platforms/email/module.ts')).emailModule,
  chorus: async () => (await import('../platforms/chorus/module.ts')).chorusModule,
  whatsapp: async () => (await import('../platforms/whatsapp/module.ts')).whatsappModule,
  imessage: async () => (await import('../platforms/imessage/module.ts')).imessageModule,
  [CHANNEL_PLATFORM]: async () => (await import('../platforms/mcp/module.ts')).mcpModule,
}

export const CONNECTORS: Readonly<Record<string, () => Promise<ConnectorModule>>> = {
  channel: async () => (await import('../agents/channel/module.ts')).channelModule,
  chorus: async () => (await import('../agents/chorus/module.ts')).chorusModule,
  llm: async () => (await import('../agents/llm/module.ts')).llmModule,
  demo: async () => (await import('../agents/demo/module.ts')).demoModule,
  http: async () => (await import('../agents/http/module.ts')).httpModule,
  acp: async () => (await import('../agents/acp/module.ts')).acpModule,
  'claude-code': async () => (await import('../agents/claude-code/module.ts')).claudeCodeModule,
}

/**
 * Names in SPEC that are not built yet. A planned platform can be configured and stays off; a planned connector is an
 * error.
 */
export const PLANNED_PLATFORMS: Readonly<Record<string, () => Promise<PlannedModule>>> = {}

export const PLANNED_CONNECTORS: Readonly<Record<string, () => Promise<PlannedModule>>> = {}

/** Dependencies of one platform only. */
export interface OwnDeps {
  /** The live connections to channel servers. */
  readonly servers: ChannelServers | null
  /** The conversations that a channel server has shown. */
  readonly shownPlaces: NonNullable<ChannelPlatformDeps['shownPlaces']>
  /** The agent of a conversation, and the largest HTTP body, in the present configuration. */
  readonly agentAt: (conversation: string) => string | null
  /** Whether that agent can be reached now, on any node. */
  readonly agentHere: (conversation: string) => boolean
  /** The address of the page for another device, and why it may not work. */
  readonly reachable: () => ReachableAddress
  readonly maxBodyBytes: () => number
  /** How complete each integration is; null: this person may not see it. */
  readonly connections: (sender: string) => Promise<readonly object[] | null>
}

/** What one platform gets in addition to the common dependencies. */
export const OWN_DEPS: Readonly<Record<string, (doors: OwnDeps) => object>> = {
  [CHANNEL_PLATFORM]: ({ servers, shownPlaces }) => (servers ? { servers, shownPlaces } : {}),
  web: ({ agentAt, agentHere, reachable, maxBodyBytes, connections }) => ({
    ...{ agentAt, agentHere, reachable, maxBodyBytes, connections },
  }),
}

/** The MCP server that hosts spawn: the other end of the channel connector. */
export const channelServer = async () => (await import('../agents/channel/channel-server.ts')).serveChannel

/** The pool of live connections to channel servers. */
export const channelServers = async () =>
  (await import('../platforms/mcp/channel-servers.ts')).createChannelServers
