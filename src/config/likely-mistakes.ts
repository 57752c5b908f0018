// Warnings about valid settings that are probably a mistake.
import { type LoadedAdapters, parseAddress } from '../contract/index.ts'
import { askModule } from './ask-module.ts'
import { mayBacktrackForever } from './backtracking.ts'
import { defaultAccessOf } from './default-access.ts'
import type { Config } from './schema/index.ts'

const LOOPBACK = /^(localhost|127(\.\d+){3}|\[?::1\]?)$/

/** Warns of limits that are switched off, because nothing then stops a flood of messages. */
export function liftedLimits({ tunables }: Config, warnings: string[]): void {
  for (const key of ['sender_limit', 'flood_limit', 'stranger_limit'] as const) {
    if (tunables[key].rps > 0 && tunables[key].burst > 0) continue
    warnings.push(`tunables.${key} is lifted: nothing holds back a flood`)
  }
}

export function unbuiltPlatforms(config: Config, warnings: string[]): void {
  for (const { id, platform, adapter } of config.integrations) {
    if (adapter !== null && adapter.create === undefined)
      warnings.push(`platform ${platform} is not built yet: ${id} is loaded but stays off`)
  }
}

/** Warns when notifications would go through a one-way integration, which cannot send. */
export function deafEnds({ integrations, users, agents }: Config, warnings: string[]): void {
  const deaf = new Map(
    integrations
      .filter(({ adapter, options }) => askModule(() => adapter?.oneWay?.(options)) === true)
      .map(({ id, adapter }) => [id, hinted(adapter?.hints?.oneWay)]),
  )
  const warnOneWay = (place: string, id: string) =>
    warnings.push(`${place}: "${id}" is one-way, so no notification is sent there${deaf.get(id)}`)
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

/** The connector whose hosts do not report their final text. */
const HOSTED = 'channel'

/** The transcript of a host is never seen, so a turn that it acknowledges ends without a text to send. */
export function unheardEnds({ agents }: Config, warnings: string[]): void {
  for (const [index, { connector, notify_on }] of agents.entries()) {
    if (connector.type !== HOSTED || (notify_on !== 'completion' && notify_on !== 'both')) continue
    warnings.push(
      `agents[${index}].notify_on: ${notify_on}: the final text of a ${HOSTED} host is not seen, so a completion is told only where the host calls \`reply\` for an alert; what it acknowledges with \`ack\` is not told. Have it call \`notify_user\` instead`,
    )
  }
}

export function silentIntegrations(config: Config, warnings: string[]): void {
  for (const [index, integration] of config.integrations.entries()) {
    const { access, adapter, options } = integration
    if (access?.file !== undefined) continue
    const { dm, allowFrom = [] } = defaultAccessOf(adapter, options)
    const listed = [...(access?.allow_from ?? []), ...allowFrom]
    if (access?.dm === undefined && listed.length === 0 && dm === 'allowlist') {
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

const OWN_TOOLS =
  "may run tools of its own that Switchboard is not asked about, so trust limits Switchboard's tools only"
const OWN_MODE =
  'runs without asking what its own mode lets it run, such as reading files, and trust limits only the rest'
const NOT_LIMITED: ReadonlyMap<string, string> = new Map([
  ...['http', 'chorus', 'channel', 'events'].map((type) => [type, OWN_TOOLS] as const),
  ...['claude-code', 'acp'].map((type) => [type, OWN_MODE] as const),
])

/** Warns of agents that run tools without asking Switchboard. */
export function limitedTrust({ agents }: Config, warnings: string[]): void {
  for (const [index, { id, connector, inbound_bindings: bindings }] of agents.entries()) {
    const words = NOT_LIMITED.get(connector.type)
    if (words === undefined) continue
    for (const [place, { trust }] of bindings.entries())
      if (trust !== 'full')
        warnings.push(`agents[${index}].inbound_bindings[${place}].trust: ${id} (${connector.type}) ${words}`)
  }
}

/** Warns when no person can decide about tool calls. With pairing an approver may still arrive. */
export function silentApprovals(
  { agents, integrations, users }: Config,
  catalog: LoadedAdapters,
  warnings: string[],
): void {
  const deciding = users.filter(({ roles }) => roles.includes('owner') || roles.includes('approver'))
  const byId = new Map(integrations.map((one, index) => [one.id, { ...one, index }]))
  for (const agent of agents) {
    const { asks } = catalog.connector(agent.connector.type) ?? {}
    if (askModule(() => asks?.(agent.connector.options)) !== true) continue
    const bound = agent.inbound_bindings.flatMap(({ instance }) => byId.get(instance ?? '') ?? [])
    const [first] = bound
    if (first === undefined || bound.length < agent.inbound_bindings.length) continue
    const mayReach = bound.some(({ id, access, adapter, options }) => {
      const { dm, approvers = [] } = defaultAccessOf(adapter, options)
      const isNamed = deciding.some(({ identities }) => identities.some((one) => one.startsWith(`${id}:`)))
      return (
        access?.file !== undefined ||
        (access?.dm ?? dm) === 'pairing' ||
        (access?.approvers ?? approvers).length > 0 ||
        Object.values(access?.groups ?? {}).some(({ approvals }) => approvals) ||
        isNamed
      )
    })
    if (!mayReach)
      warnings.push(
        `integrations[${first.index}].access.approvers: nobody is named who can approve what ${agent.id} asks, so its tool calls are denied or wait unseen`,
      )
  }
}

/** Only a warning, because the environment of the daemon may hold the token. */
export function publicAddress({ server }: Config, warnings: string[]): void {
  if (server.admin_token !== undefined || LOOPBACK.test(server.host)) return
  warnings.push(
    `server.host ${server.host} can be reached by others: \`up\` refuses it without server.admin_token (or SWITCHBOARD_ADMIN_TOKEN)`,
  )
}

/** With a public URL no request counts as near: requests through its proxy look local. */
export function nearOnly({ server, integrations }: Config, warnings: string[]): void {
  const url = server.public_url
  if (url === undefined || !URL.canParse(url) || LOOPBACK.test(new URL(url).hostname)) return
  for (const [index, { id, enabled, adapter, options }] of integrations.entries()) {
    const key = askModule(() => adapter?.nearOnly?.(options)) ?? null
    if (key !== null && enabled)
      warnings.push(
        `integrations[${index}].${key}: "${id}" takes requests of this machine alone, and with server.public_url none counts as that: it refuses everybody${hinted(adapter?.hints?.nearOnly)}`,
      )
  }
}

/** The hint of its module. */
function hinted(hint: string | undefined): string {
  return hint === undefined ? '' : ` (${hint})`
}

/** An embedded database means a single node. A named database may be shared. */
export function ownCallbacks(
  { store, server, agents }: Config,
  catalog: LoadedAdapters,
  warnings: string[],
): void {
  if (server.public_url !== undefined || store === undefined || store.startsWith('sqlite:')) return
  for (const [index, { id, connector }] of agents.entries()) {
    if (catalog.connector(connector.type)?.callsBack)
      warnings.push(
        `agents[${index}]: without server.public_url every node that shares the store hands out callback URLs of its own: when a node dies, what "${id}" answers to turns that were handed over there is lost, and they end as failed (agent_silent). Set server.public_url to an address that leads to every node.`,
      )
  }
}

export function slowPatterns(config: Config, warnings: string[]): void {
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
