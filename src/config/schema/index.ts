// switchboard.yaml as one schema: the single source of validation, JSON Schema and the generated reference. Options of
// adapters are not in it: they come with the catalog of those that there are.
import { z } from 'zod'
import type { LoadedAdapters } from '../../contract/index.ts'
import { agentSchema } from './agents.ts'
import { integrationSchema } from './integrations.ts'
import { mcpServerSchema, serverName } from './mcp-servers.ts'
import { serverSchema, storeSchema } from './server.ts'
import { retentionSchema, takeoverSchema, tunablesSchema } from './tunables.ts'
import { userSchema } from './users.ts'
import { text } from './words.ts'

export const modulesSchema = z
  .array(text('A file relative to this one (./adapters/matrix.mjs), or the name of an installed package.'))
  .max(100)
  .default([])
  .describe('Platforms and connectors of others: files relative to this one, or installed packages.')

const made = new WeakMap<LoadedAdapters, ReturnType<typeof makeSchema>>()

/** Made once for a catalog: making one costs more than holding a file against it. */
export function configSchema(catalog: LoadedAdapters): ReturnType<typeof makeSchema> {
  const schema = made.get(catalog) ?? makeSchema(catalog)
  made.set(catalog, schema)
  return schema
}

const makeSchema = (catalog: LoadedAdapters) =>
  z
    .strictObject({
      server: serverSchema.prefault({}),
      store: storeSchema.optional(),
      modules: modulesSchema,
      integrations: z.array(integrationSchema(catalog)).prefault([]).describe('Accounts on platforms.'),
      mcp_servers: z
        .record(serverName, mcpServerSchema)
        .default({})
        .describe('MCP channel servers that Switchboard starts or connects to.'),
      agents: z.array(agentSchema(catalog)).prefault([]).describe('The agents.'),
      users: z.array(userSchema).default([]).describe('People.'),
      takeover: takeoverSchema,
      tunables: tunablesSchema,
      retention: retentionSchema,
    })
    .meta({ title: 'Switchboard configuration', description: 'switchboard.yaml' })

export type Config = z.output<ReturnType<typeof configSchema>>
