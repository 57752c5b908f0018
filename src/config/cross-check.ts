// Rules that span several parts of the file: references between integrations, agents, servers and users.
import { type AdapterBook, CHANNEL_PLATFORM, parseAddress } from '../contract/index.ts'
import { mayBacktrackForever } from './backtracking.ts'
import { channelIntegrationId } from './channel-integrations.ts'
import { defaultAccessOf } from './default-access.ts'
import type { Finding } from './issues.ts'
import { suggestion } from './nearest.ts'
import type { Path } from './problem.ts'
import type { BindingConfig } from './schema/agents.ts'
import type { Config } from './schema/index.ts'
import { sharedTokens } from './shared-tokens.ts'

export interface Checked {
  readonly findings: readonly Finding[]
  readonly warnings: readonly string[]
}

/** With a book where everything is loaded, what is told of a wrong name tells all that there is. */
export function crossCheck(config: Config, book: AdapterBook): Checked {
  const findings: Finding[] = []
  const warnings: string[] = []
  const wrong = (path: Path, message: string, hint: string | null = null, at: 'key' | 'value' = 'value') =>
    findings.push({ path, at, message, hint })

  uniqueIds(config, wrong)
  oneDefault(config, wrong)
  scopes(config, wrong)
  bindings(config, wrong, warnings)
  overlaps(config, wrong)
  channelServers(config, warnings)
  people(config, wrong)
  unbuiltConnectors(config, book, wrong)
  unbuiltPlatforms(config, warnings)
  if (findings.length === 0) deafEnds(config, warnings)
  quietDoors(config, warnings)
  unheard(config, warnings)
  publicAddress(config, warnings)
  nearOnly(config, warnings)
  ownCallbacks(config, book, warnings)
  slowPatterns(config, warnings)
  liftedLimits(config, warnings)
  warnings.push(...sharedTokens(config.integrations, (platform) => book.platform(platform)?.setup))
  return { findings, warnings }
}

type Wrong = (path: Path, message: string, hint?: string | null, at?: 'key' | 'value') => void

function uniqueIds(config: Config, wrong: Wrong): void {
  const lists = [
    ['integrations', 'integration', config.integrations],
    ['agents', 'agent', config.agents],
    ['users', 'user', config.users],
  ] as const
  for (const [key, what, list] of lists) {
    const first = new Map<string, number>()
    for (const [index, { id }] of list.entries()) {
      const before = first.get(id)
      if (before === undefined) first.set(id, index)
      else wrong([key, index, 'id'], `duplicate ${what} id "${id}": ${key}[${before}] has it too`)
    }
  }
  for (const [index, agent] of config.agents.entries()) {
    const seen = new Set<string>()
    for (const [place, schedule] of agent.schedules.entries()) {
      if (seen.has(schedule.id))
        wrong(['agents', index, 'schedules', place, 'id'], `duplicate schedule id "${schedule.id}"`)
      seen.add(schedule.id)
    }
  }
}

function oneDefault(config: Config, wrong: Wrong): void {
  const first = config.integrations.find((integration) => integration.default)
  for (const [index, integration] of config.integrations.entries()) {
    if (integration.default && integration !== first) {
      wrong(
        ['integrations', index, 'default'],
        `two integrations are the default: "${first?.id}" and "${integration.id}"`,
        'keep one',
      )
    }
  }
}

function scopes(config: Config, wrong: Wrong): void {
  const agents = config.agents.map((agent) => agent.id)
  for (const [index, { scope }] of config.integrations.entries()) {
    if (scope === undefined || scope === 'all') continue
    for (const [place, agent] of scope.agents.entries()) {
      if (!agents.includes(agent)) {
        wrong(
          ['integrations', index, 'scope', 'agents', place],
          `scope names an unknown agent "${agent}"`,
          suggestion(agent, agents) || null,
        )
      }
    }
  }
}

/** The integration a binding means: by id, or the only one of that platform. */
export function instanceOf(config: Config, binding: BindingConfig): string {
  if (binding.instance !== undefined) return binding.instance
  const same = config.integrations.filter((integration) => integration.platform === binding.plugin)
  return same.length === 1 && same[0] ? same[0].id : 'default'
}

function bindings(config: Config, wrong: Wrong, warnings: string[]): void {
  const ids = config.integrations.map((integration) => integration.id)
  for (const [index, agent] of config.agents.entries()) {
    for (const [place, binding] of agent.inbound_bindings.entries()) {
      const path = ['agents', index, 'inbound_bindings', place]
      const instance = instanceOf(config, binding)
      const integration = config.integrations.find((one) => one.id === instance)
      const isServer = binding.plugin === CHANNEL_PLATFORM && Object.hasOwn(config.mcp_servers, instance)
      if (isServer) continue
      if (integration === undefined) {
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
      } else if (integration.platform !== binding.plugin) {
        wrong(
          [...path, 'plugin'],
          `integration "${instance}" is of platform ${integration.platform}, not ${binding.plugin}`,
          `write plugin: ${integration.platform}`,
        )
      }
    }
  }
}

// A chat covers its topics: `-100123` and `-100123/42` meet, and so do two bindings that take the rest.
function overlaps(config: Config, wrong: Wrong): void {
  const rest = new Map<string, string>()
  const taken = new Map<string, { text: string; owner: string }[]>()
  for (const [index, agent] of config.agents.entries()) {
    for (const [place, binding] of agent.inbound_bindings.entries()) {
      const path = ['agents', index, 'inbound_bindings', place]
      const instance = instanceOf(config, binding)
      const owner = `agents[${index}].inbound_bindings[${place}]`
      // Several agents may hear one channel server: each gets a turn of its own.
      if (binding.plugin === CHANNEL_PLATFORM && Object.hasOwn(config.mcp_servers, instance)) continue
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
      const here = taken.get(instance) ?? []
      taken.set(instance, here)
      for (const [item, text] of binding.conversations.entries()) {
        const other = here.find(
          (one) => one.text === text || one.text.startsWith(`${text}/`) || text.startsWith(`${one.text}/`),
        )
        if (other !== undefined) {
          wrong(
            [...path, 'conversations', item],
            `two bindings overlap on integration "${instance}": "${text}" and "${other.text}" of ${other.owner}`,
          )
        }
        here.push({ text, owner })
      }
    }
  }
}

function channelServers(config: Config, warnings: string[]): void {
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
            (binding.plugin === CHANNEL_PLATFORM && instanceOf(config, binding) === name),
        ),
    )
    if (!heard) warnings.push(`mcp_servers.${name} is mentioned by no agent: it is not started`)
  }
}

function channelIds(config: Config): readonly string[] {
  return Object.keys(config.mcp_servers).flatMap((server) =>
    config.agents.map((agent) => channelIntegrationId(server, agent.id)),
  )
}

function people(config: Config, wrong: Wrong): void {
  const ids = [...config.integrations.map((integration) => integration.id), ...channelIds(config)]
  const owner = new Map<string, string>()
  for (const [index, user] of config.users.entries()) {
    for (const [place, identity] of user.identities.entries()) {
      // The id of a channel server holds a colon of its own.
      const integration =
        ids.find((id) => identity.startsWith(`${id}:`)) ?? identity.slice(0, identity.indexOf(':'))
      const path = ['users', index, 'identities', place]
      if (!ids.includes(integration))
        wrong(path, `unknown integration "${integration}"`, suggestion(integration, ids) || null)
      const before = owner.get(identity)
      if (before !== undefined) wrong(path, `two users are "${identity}": ${before} and ${user.id}`)
      owner.set(identity, user.id)
    }
    if (user.notify_to === undefined) continue
    const path = ['users', index, 'notify_to']
    try {
      const { integration } = parseAddress(user.notify_to)
      if (!ids.includes(integration))
        wrong(path, `unknown integration "${integration}"`, suggestion(integration, ids) || null)
    } catch {
      wrong(path, 'notify_to is not an address', 'write integration:conversation, each part percent-encoded')
    }
  }
}

/** Limits that anybody else's messages meet: lifted ones are told, for the next flood will not be. */
function liftedLimits({ tunables }: Config, warnings: string[]): void {
  for (const key of ['sender_limit', 'flood_limit', 'stranger_limit'] as const) {
    if (tunables[key].rps > 0 && tunables[key].burst > 0) continue
    warnings.push(`tunables.${key} is lifted: nothing holds back a flood`)
  }
}

/** Messages would wait behind it for ever. */
function unbuiltConnectors(config: Config, book: AdapterBook, wrong: Wrong): void {
  const built = book.connectorNames.filter((name) => book.connector(name)?.create !== undefined)
  for (const [index, { connector }] of config.agents.entries()) {
    if (connector.adapter === null || connector.adapter.create !== undefined) continue
    wrong(
      ['agents', index, 'connector', 'type'],
      `connector ${connector.type} is not built in this version`,
      `built: ${built.join(', ')}`,
    )
  }
}

function unbuiltPlatforms(config: Config, warnings: string[]): void {
  for (const { id, platform, adapter } of config.integrations) {
    if (adapter !== null && adapter.create === undefined)
      warnings.push(`platform ${platform} is not built yet: ${id} is loaded but stays off`)
  }
}

/** Notifications are sent through no one-way integration: where the file would choose one, that is told. */
function deafEnds({ integrations, users, agents }: Config, warnings: string[]): void {
  const deaf = new Set(
    integrations.filter(({ adapter, options }) => adapter?.oneWay?.(options) === true).map(({ id }) => id),
  )
  const warnOneWay = (place: string, id: string) =>
    warnings.push(
      `${place}: "${id}" is one-way, so no notification is sent there (two_way or out would take it)`,
    )
  for (const [index, one] of integrations.entries())
    if (one.default && deaf.has(one.id)) warnOneWay(`integrations[${index}].default`, one.id)
  for (const [index, { notify_to }] of users.entries()) {
    const to = notify_to === undefined ? null : parseAddress(notify_to).integration
    if (to !== null && deaf.has(to)) warnOneWay(`users[${index}].notify_to`, to)
  }
  if (deaf.size === 0 || integrations.some(({ id, enabled }) => enabled && !deaf.has(id))) return
  for (const [index, agent] of agents.entries()) {
    if (agent.notify_on !== 'none')
      warnings.push(`agents[${index}].notify_on: every integration is one-way, so nobody is told`)
  }
}

function quietDoors(config: Config, warnings: string[]): void {
  for (const [index, integration] of config.integrations.entries()) {
    const { access, adapter, options } = integration
    if (access?.file !== undefined) continue
    if (
      access?.dm === undefined &&
      (access?.allow_from.length ?? 0) === 0 &&
      defaultAccessOf(adapter, options).dm === 'allowlist'
    ) {
      warnings.push(
        `integrations[${index}].access.allow_from is empty: nobody may speak through ${integration.id}`,
      )
    }
    for (const [group, policy] of Object.entries(access?.groups ?? {})) {
      if (policy.allow_from.includes('*'))
        warnings.push(`integrations[${index}].access.groups["${group}"]: any member may speak`)
    }
  }
}

/** A warning only: the environment of the daemon may hold the token. */
const LOOPBACK = /^(localhost|127(\.\d+){3}|\[?::1\]?)$/

function publicAddress({ server }: Config, warnings: string[]): void {
  if (server.admin_token !== undefined || LOOPBACK.test(server.host)) return
  warnings.push(
    `server.host ${server.host} can be reached by others: \`up\` refuses it without server.admin_token (or SWITCHBOARD_ADMIN_TOKEN)`,
  )
}

/** With a public URL nothing counts as near: what comes through its proxy looks as if it began here. */
function nearOnly({ server, integrations }: Config, warnings: string[]): void {
  const url = server.public_url
  if (url === undefined || !URL.canParse(url) || LOOPBACK.test(new URL(url).hostname)) return
  for (const [index, { id, enabled, adapter, options }] of integrations.entries()) {
    const key = adapter?.nearOnly?.(options) ?? null
    if (key !== null && enabled)
      warnings.push(
        `integrations[${index}].${key}: "${id}" takes requests of this machine alone, and with server.public_url none counts as that: it refuses everybody (give it a secret; or behind_proxy: true, where the proxy sets the header itself)`,
      )
  }
}

/** With a database of its own there is one node; what is only named may be shared. */
function ownCallbacks({ store, server, agents }: Config, book: AdapterBook, warnings: string[]): void {
  if (server.public_url !== undefined || store === undefined || store.startsWith('sqlite:')) return
  for (const [index, { id, connector }] of agents.entries()) {
    if (book.connector(connector.type)?.callsBack)
      warnings.push(
        `agents[${index}]: without server.public_url every node that shares the store hands out callback URLs of its own: when a node dies, what "${id}" answers to turns that were handed over there is lost, and they end as failed (agent_silent). Set server.public_url to an address that leads to every node.`,
      )
  }
}

/** A scope lets agents send there without hearing what arrives: then nobody need listen. A file without agents is not done yet. */
function unheard(config: Config, warnings: string[]): void {
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

function slowPatterns(config: Config, warnings: string[]): void {
  const places: readonly (readonly [string, readonly string[]])[] = [
    ['tunables', config.tunables.mention_patterns],
    ...config.integrations.map(
      ({ access }, index) => [`integrations[${index}].access`, access?.mention_patterns ?? []] as const,
    ),
  ]
  for (const [place, patterns] of places) {
    for (const [index, pattern] of patterns.entries()) {
      if (!mayBacktrackForever(pattern)) continue
      warnings.push(
        `${place}.mention_patterns[${index}] repeats a group that can match in many ways: a long message could keep it busy for ever`,
      )
    }
  }
}
