// The part of switchboard.yaml that hosting channel servers needs, from plain data: for the library `switchboard/host`,
// which has no file. The same schema, so that what holds there holds here.
import { resolve } from 'node:path'
import { z } from 'zod'
import {
  type AgentSettings,
  type Binding,
  type McpServerSettings,
  SwitchboardError,
} from '../contract/index.ts'
import { bindingSchema, channelsSchema, isAllowEntry } from './schema/agents.ts'
import { mcpServerSchema, serverName } from './schema/mcp-servers.ts'
import { channelsOf } from './settings-of.ts'

const hostingSchema = z.strictObject({
  mcp_servers: z.record(serverName, mcpServerSchema),
  agents: z
    .array(
      z.strictObject({
        id: z.string().min(1),
        channels: channelsSchema.optional(),
        inbound_bindings: z.array(bindingSchema).default([]),
        messaging: z.strictObject({ allow: z.array(z.string().refine(isAllowEntry)).default([]) }).optional(),
      }),
    )
    .min(1),
})

/** As it is written, defaults left out. */
export type HostingConfig = z.input<typeof hostingSchema>

export interface HostingSettings {
  readonly servers: readonly McpServerSettings[]
  readonly agents: readonly Pick<
    AgentSettings,
    'id' | 'bindings' | 'channels' | 'messagingAllow' | 'origin'
  >[]
}

/** Throws `config_invalid` naming the key. */
export function readHosting(written: unknown): HostingSettings {
  const parsed = hostingSchema.safeParse(written)
  if (!parsed.success) {
    const [issue] = parsed.error.issues
    const at = issue?.path
      .map((part) => (typeof part === 'number' ? `[${part}]` : `.${String(part)}`))
      .join('')
    throw new SwitchboardError(
      'config_invalid',
      `${at?.replace(/^\./, '') || 'the options'}: ${issue?.message}`,
    )
  }
  const { mcp_servers, agents } = parsed.data
  return {
    servers: Object.entries(mcp_servers).map(([name, { access, cwd, ...options }]) => {
      if (access !== undefined)
        throw new SwitchboardError(
          'config_invalid',
          `mcp_servers.${name}.access: senders are yours to judge here`,
          {
            hint: 'look at message.sender, or run the gateway, which has pairing and lists',
          },
        )
      return { name, options: { ...options, ...(cwd === undefined ? {} : { cwd: resolve(cwd) }) } }
    }),
    agents: agents.map((agent, index) => ({
      id: agent.id,
      origin: `agents[${index}]`,
      channels: channelsOf(agent.channels),
      messagingAllow: agent.messaging?.allow ?? [],
      bindings: agent.inbound_bindings.map(
        ({ plugin, instance = 'default', allowed_channel_servers }): Binding => ({
          plugin,
          instance,
          allowedChannelServers: allowed_channel_servers,
        }),
      ),
    })),
  }
}
