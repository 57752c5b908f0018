// Which servers pass for which agent now, and since when. Checked again for every message, verdict, send and question.

import type { HostingSettings } from '../config/hosting-settings.ts'
import {
  type ChannelRegistration,
  type ChannelServers,
  type Clock,
  type ServerNews,
  type Skip,
  SwitchboardError,
} from '../contract/index.ts'
import { evaluateGates, type Gated } from '../platforms/mcp/gates.ts'

export type HostedAgent = HostingSettings['agents'][number]

export type Standing =
  | { readonly registration: ChannelRegistration }
  | { readonly registration: null; readonly skip: Skip | null; readonly detail: string | null }

export interface Registrations {
  /** Returns the agent by its id; absent: the only one. Throws `input_invalid`. */
  agent(id?: string): HostedAgent
  standing(server: string, agent: HostedAgent): Standing
  /** Whether news of a connection is admitted now. The connection may have ended. */
  admits(server: string, agent: HostedAgent, from: ServerNews['from']): Gated
  /** Returns all connected servers that pass for an agent. */
  of(agent: HostedAgent): readonly ChannelRegistration[]
  /** The default origin of a tool call: the binding, else the agent's id. */
  bindingOf(agent: HostedAgent): string
  /** Returns the agents that a server belongs to. */
  agentsOf(server: string): readonly HostedAgent[]
}

export function createRegistrations(deps: {
  readonly pool: ChannelServers
  readonly clock: Pick<Clock, 'now'>
  readonly settings: () => HostingSettings
}): Registrations {
  const since = new Map<string, number>()

  const standing = (server: string, agent: HostedAgent): Standing => {
    const key = JSON.stringify([server, agent.id])
    const facts = deps.pool.get(server)?.facts()
    if (facts === undefined) {
      since.delete(key)
      return { registration: null, skip: null, detail: 'it is not configured' }
    }
    const gated = evaluateGates(facts, { ...agent, agent: agent.id })
    if (facts.state !== 'up' || !gated.pass) {
      since.delete(key)
      // A server that is not connected has declared nothing yet, which is not a closed capability gate.
      const skip = gated.pass || facts.state !== 'up' ? null : gated.skip
      return { registration: null, skip, detail: facts.state === 'up' ? null : (facts.detail ?? facts.state) }
    }
    const registeredAt = since.get(key) ?? deps.clock.now()
    since.set(key, registeredAt)
    return { registration: { ...gated.registration, registeredAt } }
  }

  const named = ({ channels, bindings }: HostedAgent) =>
    new Set([
      ...(channels?.approved.map(({ server }) => server) ?? []),
      ...bindings.flatMap(({ allowedChannelServers }) => allowedChannelServers),
    ])

  return {
    standing,
    admits(server, agent, from) {
      if (deps.settings().servers.some(({ name }) => name === server))
        return evaluateGates({ name: server, ...from }, { ...agent, agent: agent.id })
      const reason = `server ${server} is no longer configured`
      return { pass: false, skip: { kind: 'disabled', reason, key: `mcp_servers.${server}` } }
    },
    agent(id) {
      const { agents } = deps.settings()
      const found = id === undefined && agents.length === 1 ? agents[0] : agents.find((one) => one.id === id)
      if (found !== undefined) return found
      const which = id === undefined ? 'say which agent: there are several' : `there is no agent "${id}"`
      throw new SwitchboardError('input_invalid', which)
    },
    of: (agent) =>
      deps.pool.all().flatMap((server) => {
        const { registration } = standing(server.facts().name, agent)
        return registration === null ? [] : [registration]
      }),
    bindingOf({ id, bindings }) {
      const [first] = bindings
      return first === undefined ? id : `${first.plugin}:${first.instance}`
    },
    agentsOf: (server) => deps.settings().agents.filter((agent) => named(agent).has(server)),
  }
}
