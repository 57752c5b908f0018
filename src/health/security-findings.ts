// The findings of `doctor --security` besides files: listening address, trusted senders, tokens, limits, open groups
// and plugins. Pure: facts in, findings out.
import type {
  AgentSettings,
  IntegrationSettings,
  RateLimit,
  ReadDesk,
  SecurityFinding,
  SecurityReport,
  ServerView,
  Settings,
  Severity,
} from '../contract/index.ts'
import { isLoopbackListener } from '../server/host-guard.ts'
import { isPublic } from '../server/near.ts'
import type { ModuleFindings } from './module-gates.ts'

type TokenView = Awaited<ReturnType<ReadDesk['tokens']>>[number]

export interface SecurityFacts {
  readonly settings: Pick<Settings, 'server' | 'integrations' | 'agents' | 'tunables'>
  /** The actual listening address: a flag overrides the configuration. */
  readonly host: string
  /** Whether the operator chose the admin token; false: it was generated for local use. Null: only a daemon knows. */
  readonly adminTokenChosen: boolean | null
  /** Null: only a daemon knows. */
  readonly tokens: readonly TokenView[] | null
  readonly servers: readonly ServerView[] | null
  /** Addresses of proxies that make every visitor look local. Null: not tested. */
  readonly unmarkedProxies: readonly string[] | null
  /** The modules' own findings. */
  readonly modules: ModuleFindings
  readonly now: number
}

const NAMED = 10

export function securityFindings(facts: SecurityFacts): Omit<SecurityReport, 'files'> {
  const { modules } = facts
  const { integrations, agents, tunables } = facts.settings
  const on = integrations.filter(({ enabled }) => enabled)
  return {
    findings: [
      ...exposure(facts),
      ...(facts.unmarkedProxies ?? []).map(unmarkedProxy),
      ...modules.ofIntegrations,
      ...on.flatMap(openDoors),
      ...modules.gates.flatMap(openGate),
      ...limits(tunables),
      ...agents.flatMap(bindingLimits),
      ...modules.ofAgents,
      ...lastingTokens(facts.tokens ?? []),
      ...idleTokens(facts.tokens ?? [], facts.now),
      ...(facts.servers ?? []).flatMap(plugin),
    ],
    unjudged: [
      ...modules.unjudged,
      ...(facts.tokens === null ? ['tokens that never expire or are not used: no daemon was asked'] : []),
      ...((facts.tokens ?? []).some(isUseUnknown)
        ? ['whether tokens that were minted before their use was recorded are used']
        : []),
      ...(facts.unmarkedProxies === null ? ['proxies in front of the daemon: no daemon was asked'] : []),
      ...(facts.servers === null ? ['plugins of channel servers: no daemon was asked'] : []),
      ...(facts.adminTokenChosen === null
        ? [
            'the listening address and admin token in force: no daemon was asked, the configuration was judged',
          ]
        : []),
    ],
  }
}

function exposure({ settings: { server }, host, adminTokenChosen }: SecurityFacts): SecurityFinding[] {
  const found: SecurityFinding[] = []
  if (!isLoopbackListener(host)) {
    found.push(
      finding(
        'medium',
        `it listens on ${host}, without TLS: whoever reaches this machine reaches its doors; a proxy in front needs 127.0.0.1 only`,
        'server.host',
      ),
    )
    if (adminTokenChosen === false)
      found.push(
        finding('high', `it listens on ${host}, and no admin token was chosen for it`, 'server.admin_token'),
      )
  }
  if (isPublic(server.publicUrl) && server.publicUrl?.startsWith('http:'))
    found.push(
      finding(
        'high',
        `${server.publicUrl} is no https address: tokens and messages can be read on the way`,
        'server.public_url',
      ),
    )
  if (server.adminToken !== undefined && !/^(?:env|file|secret):/.test(server.adminToken))
    found.push(
      finding(
        'medium',
        'the admin token stands in the configuration in plain text; env:NAME or file:PATH keeps it out',
        'server.admin_token',
      ),
    )
  return found
}

function unmarkedProxy(url: string): SecurityFinding {
  return finding(
    'high',
    `the proxy at ${url} names no visitor and asks under our own Host, by itself or because a visitor wrote it, so a visitor looks local: X-Sender is believed and /metrics is open`,
    'server.public_url',
  )
}

function openDoors({ id, origin, access }: IntegrationSettings): SecurityFinding[] {
  if (!access.readable) return []
  const key = `${origin}.access`
  const anybody = access.allowFrom.includes('*')
  return [
    // Where a credential is the gate, its holders were admitted by it.
    ...(anybody && access.dm !== 'credential'
      ? [finding('high', `anybody may talk to ${id}: allow_from lists "*"`, `${key}.allow_from`)]
      : []),
    ...Object.entries(access.groups)
      .filter(([, group]) => group.allowFrom.includes('*'))
      .map(([group]) =>
        finding(
          'medium',
          `any member of group ${group} of ${id} may talk: allow_from lists "*"`,
          `${key}.groups["${group}"].allow_from`,
        ),
      ),
  ]
}

function openGate({ of, gate: { open, reason, key } }: ModuleFindings['gates'][number]): SecurityFinding[] {
  return open === undefined ? [] : [finding(open, `${of}: ${reason}`, key)]
}

function limits({ senderLimit, floodLimit, strangerLimit }: Settings['tunables']): SecurityFinding[] {
  const all = { sender_limit: senderLimit, flood_limit: floodLimit, stranger_limit: strangerLimit }
  return Object.entries(all)
    .filter(([, limit]) => isLifted(limit))
    .map(([key]) => finding('medium', `${key} is lifted: nothing holds back a flood`, `tunables.${key}`))
}

function bindingLimits({ id, origin, bindings }: AgentSettings): SecurityFinding[] {
  return bindings.flatMap((binding, at) =>
    binding.senderLimit !== undefined && isLifted(binding.senderLimit)
      ? [
          finding(
            'medium',
            `senders of ${binding.instance} reach ${id} without a limit`,
            `${origin}.inbound_bindings[${binding.limitedBy ?? at}].rate_limit`,
          ),
        ]
      : [],
  )
}

/** One finding per kind, because there may be thousands of tokens. */
function lastingTokens(all: readonly TokenView[]): SecurityFinding[] {
  const kinds = new Map<string, string[]>()
  for (const { id, kind, expires_at, revoked } of all)
    if (!revoked && expires_at === null) kinds.set(kind, [...(kinds.get(kind) ?? []), id])
  return [...kinds].map(([kind, ids]) => {
    const count =
      ids.length === 1
        ? `a token of kind ${kind} never expires`
        : `${ids.length} tokens of kind ${kind} never expire`
    return finding(kind === 'admin' ? 'medium' : 'low', `${count}: ${which(ids)}`, REVOKE)
  })
}

const DAY_MS = 24 * 3_600_000
/** A recently minted token may be meant for later use. */
const UNUSED_AFTER_MS = 7 * DAY_MS
const IDLE_AFTER_MS = 90 * DAY_MS
const REVOKE = 'switchboard token revoke ID'

/** Valid tokens that seem unneeded. */
function idleTokens(all: readonly TokenView[], now: number): SecurityFinding[] {
  const good = all.filter(
    ({ revoked, expires_at }) => !revoked && (expires_at === null || Date.parse(expires_at) > now),
  )
  const never = good.filter(
    ({ never_used, created_at }) => never_used && now - Date.parse(created_at) >= UNUSED_AFTER_MS,
  )
  const idle = good.filter(
    ({ last_used_at }) => last_used_at !== null && now - Date.parse(last_used_at) >= IDLE_AFTER_MS,
  )
  const tokenFindings = (found: readonly TokenView[], what: string) => {
    const severity = found.some(({ kind }) => kind === 'admin') ? 'medium' : 'low'
    const count = found.length === 1 ? 'a token was' : `${found.length} tokens were`
    return found.length === 0
      ? []
      : [finding(severity, `${count} ${what}: ${which(found.map(({ id }) => id))}`, REVOKE)]
  }
  return [
    ...tokenFindings(never, 'never used, in a week or longer'),
    ...tokenFindings(idle, 'not used for three months or longer'),
  ]
}

function isUseUnknown({ last_used_at, never_used, revoked }: TokenView): boolean {
  return !revoked && last_used_at === null && !never_used
}

function which(ids: readonly string[]): string {
  const more = ids.length > NAMED ? ` and ${ids.length - NAMED} more` : ''
  return `${ids.slice(0, NAMED).join(', ')}${more}`
}

function plugin({ name, plugin_source, verified }: ServerView): SecurityFinding[] {
  if (verified) return []
  return plugin_source === null
    ? [
        finding(
          'low',
          `channel server ${name} comes from no marketplace: nothing says whose program it is`,
          `mcp_servers.${name}.plugin`,
        ),
      ]
    : [
        finding(
          'medium',
          `channel server ${name} is called ${plugin_source} by hand, and nothing verifies it`,
          `mcp_servers.${name}.plugin_source`,
        ),
      ]
}

function isLifted({ rps, burst }: RateLimit): boolean {
  return rps === 0 || burst === 0
}

function finding(severity: Severity, what: string, key: string): SecurityFinding {
  return { severity, what, key }
}
