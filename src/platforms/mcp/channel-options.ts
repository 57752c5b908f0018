// The options of a derived integration (one server, one agent): the inputs of the gates, from the configuration in
// force.
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

/** Throws `config_invalid`. The config room creates these options; people never write them. */
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

/** Returns the limit of the server's own entry, else the default, with the key that sets it. Null: there is none. */
export function inboundLimit({ server, channels, origin }: ChannelOptions): InboundLimit | null {
  const limit = rateLimitOf(server, channels)
  if (limit === null) return null
  const at =
    channels?.approved.findIndex((entry) => entry.server === server && entry.rateLimit !== null) ?? -1
  const key = at < 0 ? 'default_rate_limit' : `approved[${at}].rate_limit`
  return { limit, key: `${origin}.channels.${key}` }
}

/** Whether only some people are let in. Then a sender without an id is refused. */
export function isNarrow({ access }: IntegrationSettings): boolean {
  return !access.readable || access.dm !== 'credential' || access.allowFrom.length > 0
}
