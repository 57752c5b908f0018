// Channel servers as integrations: one per server and agent that mention each other, made from `mcp_servers`, the agent's
// `channels` and its bindings. So inbox, sessions, access, outbox and doctor treat them like any other platform.
import {
  type AgentSettings,
  type Binding,
  CHANNEL_DM,
  CHANNEL_PLATFORM,
  type ChannelsSettings,
  defined,
  type IntegrationSettings,
  isServerBinding,
  type McpServerSettings,
  type Settings,
} from '../contract/index.ts'

/** What the adapter of platform `mcp` finds in its options: all that its gates look at. */
export interface ChannelOptions {
  readonly server: string
  readonly agent: string
  /** Where the agent stands in the configuration, for the keys. */
  readonly agent_origin: string
  readonly channels: ChannelsSettings | null
  readonly bindings: readonly Pick<Binding, 'plugin' | 'instance' | 'allowedChannelServers'>[]
}

type Parts = Pick<Settings, 'integrations' | 'agents' | 'mcpServers'>

/** The id stays the same when other agents or servers come and go. No id of the file can be like it. */
export function channelIntegrationId(server: string, agent: string): string {
  return `channel:${server}@${agent}`
}

/** Adds an integration and a binding for every pair. */
export function withChannelServers<T extends Parts>(settings: T): T {
  const pairs = settings.mcpServers.flatMap((server) =>
    settings.agents.filter((agent) => mentions(agent, server.name)).map((agent) => ({ server, agent })),
  )
  if (pairs.length === 0) return settings
  return {
    ...settings,
    integrations: [
      ...settings.integrations,
      ...pairs.map(({ server, agent }) => integrationOf(server, agent)),
    ],
    agents: settings.agents.map((agent) => ({
      ...agent,
      bindings: [
        ...agent.bindings,
        ...pairs.filter((pair) => pair.agent === agent).map(({ server }) => bindingOf(server.name, agent)),
      ],
    })),
  }
}

/** Approved, allowed in a binding, or bound by name: whichever, it is shown which gate is closed. */
function mentions(agent: Pick<AgentSettings, 'channels' | 'bindings'>, server: string): boolean {
  return (
    agent.channels?.approved.some((entry) => entry.server === server) === true ||
    agent.bindings.some(
      (binding) => binding.allowedChannelServers.includes(server) || isBindingOf(server, binding),
    )
  )
}

function integrationOf(server: McpServerSettings, agent: AgentSettings): IntegrationSettings {
  const { access, enabled } = server.options
  const options: ChannelOptions = {
    server: server.name,
    agent: agent.id,
    agent_origin: agent.origin,
    channels: agent.channels,
    bindings: agent.bindings.map(({ plugin, instance, allowedChannelServers }) => ({
      plugin,
      instance,
      allowedChannelServers,
    })),
  }
  return {
    id: channelIntegrationId(server.name, agent.id),
    platform: CHANNEL_PLATFORM,
    enabled: enabled !== false,
    default: false,
    scope: { agents: [agent.id] },
    access: (access as IntegrationSettings['access'] | undefined) ?? {
      readable: true,
      dm: CHANNEL_DM,
      allowFrom: [],
      approvers: [],
      groups: {},
      mentionPatterns: [],
    },
    options: { ...options },
    source: `channel:${server.name}`,
    origin: `mcp_servers.${server.name}`,
  }
}

/** A binding that names the server itself brings its own limits and words along. */
function bindingOf(server: string, agent: AgentSettings): Binding {
  const named = agent.bindings.find((binding) => isBindingOf(server, binding))
  const limiting = named?.senderLimit ? named : agent.bindings.find((binding) => admits(binding, server))
  return {
    ...named,
    ...defined({ senderLimit: limiting?.senderLimit }),
    ...(limiting === undefined ? {} : { limitedBy: agent.bindings.indexOf(limiting) }),
    plugin: CHANNEL_PLATFORM,
    instance: channelIntegrationId(server, agent.id),
    allowedChannelServers: [],
  }
}

function admits(binding: Binding, server: string): boolean {
  return binding.senderLimit !== undefined && binding.allowedChannelServers.includes(server)
}

function isBindingOf(server: string, binding: Pick<Binding, 'plugin' | 'instance'>): boolean {
  return isServerBinding(binding) && binding.instance === server
}
