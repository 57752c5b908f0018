// The options of a synthesised integration (one server, one agent): what the gates look at, as the configuration in force
// has it.
import {
  type ChannelsSettings,
  type IntegrationSettings,
  type RateLimit,
  SwitchboardError,
} from '../../contract/index.ts'
import { type GateRules, rateLimitOf } from './gates.ts'

export interface ChannelOptions extends GateRules {
  readonly server: string
}

/** Throws `config_invalid`: such an integration is made by the config room, never written by hand. */
export function readOptions({ id, options }: IntegrationSettings): ChannelOptions {
  const { server, agent, agent_origin: origin, channels, bindings } = options
  if (typeof server !== 'string' || typeof agent !== 'string' || !Array.isArray(bindings))
    throw new SwitchboardError('config_invalid', `${id}: a channel server is named under mcp_servers`)
  return {
    server,
    agent,
    origin: typeof origin === 'string' ? origin : 'agents[]',
    channels: (channels as ChannelsSettings | null | undefined) ?? null,
    bindings: bindings as GateRules['bindings'],
  }
}

export interface InboundLimit {
  readonly limit: RateLimit
  readonly key: string
}

/** The limit of the server's own entry, else the default; null: none. With the key that sets it. */
export function inboundLimit({ server, channels, origin }: ChannelOptions): InboundLimit | null {
  const limit = rateLimitOf(server, channels)
  if (limit === null) return null
  const at =
    channels?.approved.findIndex((entry) => entry.server === server && entry.rateLimit !== null) ?? -1
  const key = at < 0 ? 'default_rate_limit' : `approved[${at}].rate_limit`
  return { limit, key: `${origin}.channels.${key}` }
}

/** A policy that lets only some people in: then a sender whom the server does not name by an id is nobody. */
export function isNarrow({ access }: IntegrationSettings): boolean {
  return !access.readable || access.dm !== 'credential' || access.allowFrom.length > 0
}
