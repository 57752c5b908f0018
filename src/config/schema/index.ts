// switchboard.yaml as one schema: the single source of validation, JSON Schema and the generated reference.
import { z } from 'zod'
import { agentSchema } from './agents.ts'
import { integrationSchema } from './integrations.ts'
import { mcpServerSchema, serverName } from './mcp-servers.ts'
import { serverSchema, storeSchema } from './server.ts'
import { retentionSchema, tunablesSchema } from './tunables.ts'
import { userSchema } from './users.ts'

export const configSchema = z
  .strictObject({
    server: serverSchema.prefault({}),
    store: storeSchema.optional(),
    integrations: z.array(integrationSchema).default([]).describe('Accounts on platforms.'),
    mcp_servers: z
      .record(serverName, mcpServerSchema)
      .default({})
      .describe('MCP channel servers that Switchboard starts or connects to.'),
    agents: z.array(agentSchema).default([]).describe('The agents.'),
    users: z.array(userSchema).default([]).describe('People.'),
    tunables: tunablesSchema,
    retention: retentionSchema,
  })
  .meta({ title: 'Switchboard configuration', description: 'switchboard.yaml' })

export type Config = z.output<typeof configSchema>

export { CONNECTOR_NAMES } from './agents.ts'
export { COMMON_INTEGRATION_KEYS, PLATFORM_NAMES } from './integrations.ts'
