// Rules that span several parts of the file: references between integrations, agents, servers and users.
import { type LoadedAdapters, parseAddress } from '../contract/index.ts'
import { channelIntegrationId } from './channel-integrations.ts'
import { bindings, channelServers, overlaps, unbound, unheard } from './check-bindings.ts'
import {
  deafEnds,
  liftedLimits,
  limitedTrust,
  nearOnly,
  ownCallbacks,
  publicAddress,
  silentApprovals,
  silentIntegrations,
  slowPatterns,
  unbuiltPlatforms,
  unheardEnds,
} from './likely-mistakes.ts'
import type { Path } from './problem.ts'
import type { Config } from './schema/index.ts'
import type { Finding, Wrong } from './schema/issues.ts'
import { suggestion } from './schema/nearest.ts'
import { sharedTokens } from './secrets/shared-tokens.ts'
import { cutsAt } from './yaml/prefixes.ts'

export interface Checked {
  readonly findings: readonly Finding[]
  readonly warnings: readonly string[]
}

/**
 * When the catalog has loaded everything, suggestions for a wrong name list all names. Yields between checks that read much of a
 * large file.
 */
export function* crossCheck(config: Config, catalog: LoadedAdapters): Generator<void, Checked> {
  const findings: Finding[] = []
  const warnings: string[] = []
  const wrong = (path: Path, message: string, hint: string | null = null, at: 'key' | 'value' = 'value') =>
    findings.push({ path, at, message, hint })

  uniqueIds(config, wrong)
  oneDefault(config, wrong)
  scopes(config, wrong)
  yield
  bindings(config, wrong, warnings)
  yield
  overlaps(config, wrong)
  yield
  channelServers(config, warnings)
  people(config, wrong)
  unbuiltConnectors(config, catalog, wrong)
  unbuiltPlatforms(config, warnings)
  yield
  if (findings.length === 0) deafEnds(config, warnings)
  silentIntegrations(config, warnings)
  silentApprovals(config, catalog, warnings)
  limitedTrust(config, warnings)
  unheard(config, warnings)
  unbound(config, warnings)
  yield
  publicAddress(config, warnings)
  nearOnly(config, warnings)
  ownCallbacks(config, catalog, warnings)
  slowPatterns(config, warnings)
  unheardEnds(config, warnings)
  liftedLimits(config, warnings)
  warnings.push(...sharedTokens(config.integrations, (platform) => catalog.platform(platform)?.setup))
  return { findings, warnings }
}

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
  const known = new Set(agents)
  for (const [index, { scope }] of config.integrations.entries()) {
    if (scope === undefined || scope === 'all') continue
    for (const [place, agent] of scope.agents.entries()) {
      if (!known.has(agent)) {
        wrong(
          ['integrations', index, 'scope', 'agents', place],
          `scope names an unknown agent "${agent}"`,
          suggestion(agent, agents) || null,
        )
      }
    }
  }
}

function people(config: Config, wrong: Wrong): void {
  const ids = [...config.integrations.map((integration) => integration.id), ...channelIds(config)]
  const known = new Set(ids)
  // The id of a channel server holds a colon of its own.
  const integrationOf = (identity: string) => cutsAt(identity, ':').find((id) => known.has(id))
  const owner = new Map<string, string>()
  for (const [index, user] of config.users.entries()) {
    for (const [place, identity] of user.identities.entries()) {
      const integration = integrationOf(identity) ?? identity.slice(0, identity.indexOf(':'))
      const path = ['users', index, 'identities', place]
      if (!known.has(integration))
        wrong(path, `unknown integration "${integration}"`, suggestion(integration, ids) || null)
      const before = owner.get(identity)
      if (before !== undefined) wrong(path, `two users are "${identity}": ${before} and ${user.id}`)
      owner.set(identity, user.id)
    }
    if (user.notify_to === undefined) continue
    const path = ['users', index, 'notify_to']
    try {
      const { integration } = parseAddress(user.notify_to)
      if (!known.has(integration))
        wrong(path, `unknown integration "${integration}"`, suggestion(integration, ids) || null)
    } catch {
      wrong(path, 'notify_to is not an address', 'write integration:conversation, each part percent-encoded')
    }
  }
}

function channelIds(config: Config): readonly string[] {
  return Object.keys(config.mcp_servers).flatMap((server) =>
    config.agents.map((agent) => channelIntegrationId(server, agent.id)),
  )
}

/** Messages for it would wait for ever. */
function unbuiltConnectors(config: Config, catalog: LoadedAdapters, wrong: Wrong): void {
  const built = catalog.connectorNames.filter((name) => catalog.connector(name)?.create !== undefined)
  for (const [index, { connector }] of config.agents.entries()) {
    if (connector.adapter === null || connector.adapter.create !== undefined) continue
    wrong(
      ['agents', index, 'connector', 'type'],
      `connector ${connector.type} is not built in this version`,
      `built: ${built.join(', ')}`,
    )
  }
}
