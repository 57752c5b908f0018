// The five gates between a channel server and an agent. They are pure and in the seed's order, and the first closed
// gate is reported. They are evaluated when a server registers, and for every message, verdict and send, with the
// configuration in force.
import type {
  Binding,
  ChannelRegistration,
  ChannelsSettings,
  RateLimit,
  ServerFacts,
  Skip,
  SkipKind,
} from '../../contract/index.ts'

export type GateFacts = Pick<ServerFacts, 'name' | 'prefix' | 'permissionRelay' | 'stamp'>

export interface GateRules {
  readonly agent: string
  /** The agent's key in the configuration: `agents[0]`. */
  readonly origin: string
  /** Null: the agent has no `channels`, and so accepts none. */
  readonly channels: ChannelsSettings | null
  readonly bindings: readonly Pick<Binding, 'plugin' | 'instance' | 'allowedChannelServers'>[]
}

export type Gated =
  | { readonly pass: true; readonly registration: Omit<ChannelRegistration, 'registeredAt'> }
  | { readonly pass: false; readonly skip: Skip }

export function evaluateGates(server: GateFacts, rules: GateRules): Gated {
  const { name, prefix, stamp } = server
  const { channels, origin } = rules
  if (prefix === null) {
    const reason = `server ${name} did not declare nexo/channel capability (nor claude/channel; mcp_servers.${name})`
    return closed('capability', reason, `mcp_servers.${name}`)
  }
  if (channels?.enabled !== true) {
    const reason = 'channels.enabled is false (operator killswitch)'
    return closed('disabled', reason, `${origin}.channels.enabled`)
  }
  const at = rules.bindings.findIndex((binding) => binding.allowedChannelServers.includes(name))
  const binding = rules.bindings[at]
  if (binding === undefined) {
    const reason = `server ${name} is not in this binding's allowed_channel_servers`
    const which = rules.bindings.length === 1 ? '[0]' : '[]'
    return closed('session', reason, `${origin}.inbound_bindings${which}.allowed_channel_servers`)
  }
  const index = channels.approved.findIndex((entry) => entry.server === name)
  const approved = channels.approved[index]
  // Checked before the list on purpose: a wrong source must not be reported as "not approved".
  const declared = approved?.pluginSource ?? null
  if (declared !== null && declared !== stamp.source) {
    const reason =
      stamp.source === null
        ? `approved declares plugin_source ${declared} but the runtime did not stamp one (non-plugin server?)`
        : `plugin_source mismatch: approved declares ${declared} but the installed source is ${stamp.source}`
    return closed('marketplace', reason, `${origin}.channels.approved[${index}].plugin_source`)
  }
  if (approved === undefined) {
    const reason = `server ${name} is not in channels.approved (add it to vet the source)`
    return closed('allowlist', reason, `${origin}.channels.approved`)
  }
  return {
    pass: true,
    registration: {
      server: name,
      agent: rules.agent,
      binding: `${binding.plugin}:${binding.instance || 'default'}`,
      prefix,
      stamp,
      outboundToolName: approved.outboundToolName,
      permissionRelay: server.permissionRelay,
    },
  }
}

/** Returns the limit for one server: its own entry, else the default. Null if either part is 0, or there is none. */
export function rateLimitOf(server: string, channels: ChannelsSettings | null): RateLimit | null {
  const entry = channels?.approved.find((one) => one.server === server)
  const limit = entry?.rateLimit ?? channels?.defaultRateLimit ?? null
  return limit === null || limit.rps === 0 || limit.burst === 0 ? null : limit
}

function closed(kind: SkipKind, reason: string, key: string): Gated {
  return { pass: false, skip: { kind, reason, key } }
}
