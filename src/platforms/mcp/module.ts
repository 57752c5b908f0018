// What Switchboard knows of the platform `mcp` before it runs one. Its integrations are made from `mcp_servers` and the
// agents' `channels`, one per server and agent: none is written by hand, so nothing of it stands in the file's schema.
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
