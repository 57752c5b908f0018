// Bindings name integrations that exist, do not overlap, and leave no integration without an agent.
import { isServerBinding } from '../contract/index.ts'
import type { BindingConfig } from './schema/agents.ts'
import type { Config } from './schema/index.ts'
import type { Wrong } from './schema/issues.ts'
import { suggestion } from './schema/nearest.ts'
import { cutsAt } from './yaml/prefixes.ts'

/** The only integration of each platform; null: there are several. Cached by the list, which never changes. */
const onlyOnes = new WeakMap<Config['integrations'], ReadonlyMap<string, string | null>>()

function onlyOf(integrations: Config['integrations']): ReadonlyMap<string, string | null> {
  const known = onlyOnes.get(integrations)
  if (known) return known
  const only = new Map<string, string | null>()
  for (const { id, platform } of integrations) only.set(platform, only.has(platform) ? null : id)
  onlyOnes.set(integrations, only)
  return only
}

/** The integration that a binding means: by id, or the only one of that platform. */
export function instanceOf(config: Pick<Config, 'integrations'>, binding: BindingConfig): string {
  return binding.instance ?? onlyOf(config.integrations).get(binding.plugin) ?? 'default'
}

export function bindings(config: Config, wrong: Wrong, warnings: string[]): void {
  const ids = config.integrations.map((integration) => integration.id)
  const platformOf = new Map<string, string>()
  for (const { id, platform } of config.integrations) if (!platformOf.has(id)) platformOf.set(id, platform)
  for (const [index, agent] of config.agents.entries()) {
    for (const [place, binding] of agent.inbound_bindings.entries()) {
      const path = ['agents', index, 'inbound_bindings', place]
      const instance = instanceOf(config, binding)
      const platform = platformOf.get(instance)
      const isServer = isServerBinding(binding) && Object.hasOwn(config.mcp_servers, instance)
      if (isServer) continue
      if (platform === undefined) {
        if (ids.length === 0) {
          warnings.push(
            `agents[${index}].inbound_bindings[${place}] names integration "${instance}" (${binding.plugin}), but no integrations are configured: nothing arrives there`,
          )
        } else if (binding.instance === undefined) {
          wrong(
            [...path, 'plugin'],
            `there is not exactly one integration of platform "${binding.plugin}"`,
            'name one with "instance"',
          )
        } else {
          wrong([...path, 'instance'], `unknown integration "${instance}"`, suggestion(instance, ids) || null)
        }
      } else if (platform !== binding.plugin) {
        wrong(
          [...path, 'plugin'],
          `integration "${instance}" is of platform ${platform}, not ${binding.plugin}`,
          `write plugin: ${platform}`,
        )
      }
    }
  }
}

// A chat covers its topics: `-100123` and `-100123/42` overlap, and so do two bindings for the rest.
export function overlaps(config: Config, wrong: Wrong): void {
  const rest = new Map<string, string>()
  const taken = new Map<string, TakenPlaces>()
  for (const [index, agent] of config.agents.entries()) {
    for (const [place, binding] of agent.inbound_bindings.entries()) {
      const path = ['agents', index, 'inbound_bindings', place]
      const instance = instanceOf(config, binding)
      const owner = `agents[${index}].inbound_bindings[${place}]`
      // Several agents may be bound to one channel server: each gets a turn of its own.
      if (isServerBinding(binding) && Object.hasOwn(config.mcp_servers, instance)) continue
      if (binding.conversations === undefined) {
        const before = rest.get(instance)
        if (before === undefined) rest.set(instance, owner)
        else
          wrong(
            path,
            `two bindings take all of integration "${instance}": ${before} and ${owner}`,
            'name conversations in one of them',
          )
        continue
      }
      const here = taken.get(instance) ?? createTakenPlaces()
      taken.set(instance, here)
      for (const [item, text] of binding.conversations.entries()) {
        const other = here.meeting(text)
        if (other !== undefined) {
          wrong(
            [...path, 'conversations', item],
            `two bindings overlap on integration "${instance}": "${text}" and "${other.text}" of ${other.owner}`,
          )
        }
        here.add({ text, owner })
      }
    }
  }
}

interface TakenPlace {
  readonly text: string
  readonly owner: string
}

interface TakenPlaces {
  add(place: TakenPlace): void
  /** Returns a place that is the same, above it or below it. */
  meeting(text: string): TakenPlace | undefined
}

/** Finds each place by its own name and by the names above it. */
function createTakenPlaces(): TakenPlaces {
  const taken = new Map<string, TakenPlace>()
  const above = new Map<string, TakenPlace>()
  const aboveOf = (text: string) => cutsAt(text, '/')
  return {
    add(place) {
      if (!taken.has(place.text)) taken.set(place.text, place)
      for (const one of aboveOf(place.text)) if (!above.has(one)) above.set(one, place)
    },
    meeting(text) {
      const higher = aboveOf(text).find((one) => taken.has(one))
      return taken.get(text) ?? above.get(text) ?? (higher === undefined ? undefined : taken.get(higher))
    },
  }
}

export function channelServers(config: Config, warnings: string[]): void {
  const servers = Object.keys(config.mcp_servers)
  for (const [index, agent] of config.agents.entries()) {
    const approved = agent.channels?.approved.map((entry) => entry.server) ?? []
    for (const name of approved) {
      if (!servers.includes(name))
        warnings.push(
          `agents[${index}].channels.approved: server "${name}" is configured nowhere under mcp_servers`,
        )
    }
    const named = new Set(agent.inbound_bindings.flatMap((binding) => binding.allowed_channel_servers))
    for (const name of named) {
      if (!approved.includes(name))
        warnings.push(
          `agents[${index}].inbound_bindings allow server "${name}", but agents[${index}].channels.approved does not list it`,
        )
    }
    for (const name of approved) {
      if (servers.includes(name) && !named.has(name))
        warnings.push(
          `agents[${index}].channels.approved lists server "${name}", but no allowed_channel_servers of agents[${index}].inbound_bindings does`,
        )
    }
  }
  for (const name of servers) {
    const heard = config.agents.some(
      (agent) =>
        agent.channels?.approved.some((entry) => entry.server === name) === true ||
        agent.inbound_bindings.some(
          (binding) =>
            binding.allowed_channel_servers.includes(name) ||
            (isServerBinding(binding) && instanceOf(config, binding) === name),
        ),
    )
    if (!heard) warnings.push(`mcp_servers.${name} is mentioned by no agent: it is not started`)
  }
}

/** The warning of `doctor`. An agent with schedules works without a binding. */
export function unbound(config: Config, warnings: string[]): void {
  const servers = Object.keys(config.mcp_servers)
  for (const [index, { id, inbound_bindings, channels, schedules }] of config.agents.entries()) {
    if (inbound_bindings.length > 0 || schedules.length > 0) continue
    if (channels?.approved.some(({ server }) => servers.includes(server))) continue
    warnings.push(
      `agents[${index}].inbound_bindings: agent ${id} is unbound: it is bound to nothing, so nobody can reach it`,
    )
  }
}

/** With a scope agents may send there without a binding, so none is needed. A file without agents is not finished yet. */
export function unheard(config: Config, warnings: string[]): void {
  if (config.agents.length === 0) return
  const heard = new Set(
    config.agents.flatMap((agent) => agent.inbound_bindings.map((binding) => instanceOf(config, binding))),
  )
  for (const [index, { id, enabled, scope }] of config.integrations.entries()) {
    if (enabled && scope === undefined && !heard.has(id))
      warnings.push(
        `integrations[${index}]: no agent takes what arrives at "${id}" (inbound_bindings), so it is refused`,
      )
  }
}
