// The one list of what is built in. Adding a platform or connector is its folder, a row here and a page of docs.
import type { ConnectorModule, PlatformModule } from '../contract/index.ts'

export const PLATFORMS: Readonly<Record<string, () => Promise<PlatformModule>>> = {
  webhook: async () => (await import('../platforms/webhook/index.ts')).webhookPlatform,
  web: async () => (await import('../platforms/web/index.ts')).webPlatform,
  telegram: async () => (await import('../platforms/telegram/index.ts')).telegramPlatform,
  chorus: async () => (await import('../platforms/chorus/index.ts')).chorusPlatform,
  mcp: async () => (await import('../platforms/mcp/index.ts')).mcpPlatform,
}

export const CONNECTORS: Readonly<Record<string, () => Promise<ConnectorModule>>> = {
  channel: async () => (await import('../agents/channel/index.ts')).channelConnector,
  demo: async () => (await import('../agents/demo/index.ts')).demoConnector,
  chorus: async () => (await import('../agents/chorus/index.ts')).chorusConnector,
}

/** The MCP server that hosts spawn: the other end of the channel connector. */
export const channelServer = async () => (await import('../agents/channel/channel-server.ts')).serveChannel

/** Live connections to channel servers: what the platform `mcp` stands on. */
export const channelServers = async () =>
  (await import('../platforms/mcp/channel-servers.ts')).createChannelServers

/** What `check` and `doctor` call built; everything else that SPEC names is "not built yet". */
export const BUILT = { platforms: Object.keys(PLATFORMS), connectors: Object.keys(CONNECTORS) }
