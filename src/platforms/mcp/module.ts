// The module of the platform `mcp`. Its integrations are derived from `mcp_servers` and the agents' `channels`, one per
// server and agent. People do not write them, so the file's schema does not contain them.
import { z } from 'zod'
import { CHANNEL_DM, CHANNEL_PLATFORM, type PlatformModule } from '../../contract/index.ts'

export const mcpModule: PlatformModule = {
  name: CHANNEL_PLATFORM,
  options: z
    .looseObject({ server: z.string(), agent: z.string() })
    .describe('A channel server, as one agent has it.'),
  docs: 'docs/platforms/mcp.md',
  defaultAccess: { dm: CHANNEL_DM },
  create: async (deps) => (await import('./index.ts')).createMcp(deps),
}
