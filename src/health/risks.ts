// RISKS: what stands open to others, as one table of checks: listening address, trusted senders, tokens, limits, groups and
// plugins. `doctor --security` lists what they find, and the modes of files (file-modes.ts). Pure: facts in, findings out.
import type { RateLimit, SecurityReport, ServerView, Settings } from '../contract/index.ts'
import type { TokenView } from '../gateway/access/token-views.ts'
import { isLoopbackListener } from '../server/host-guard.ts'
import { isPublic } from '../server/near.ts'
import { asRisk, type Check, type Found, findings } from './checks.ts'
import type { ModuleRisks } from './module-gates.ts'

export interface RiskFacts {
  readonly settings: Pick<Settings, 'server' | 'integrations' | 'agents' | 'tunables'>
  /** The actual listening address: a flag overrides the configuration. */
  readonly host: string
  /** Null: no daemon was asked. */
  readonly daemon: {
    /** Whether the operator chose the admin token; false: it was generated for local use. */
    readonly adminTokenChosen: boolean
    readonly tokens: readonly TokenView[]
    readonly servers: readonly ServerView[]
    /** Addresses of proxies that make every visitor look local. */
    readonly unmarkedProxies: readonly string[]
    /** What the adapters' trials on the real service found. */
    readonly trials: readonly Found[]
  } | null
  readonly modules: ModuleRisks
  readonly now: number
}

const DAY_MS = 24 * 3_600_000
/** A recently minted token may be meant for later use. */
const UNUSED_AFTER_MS = 7 * DAY_MS
const IDLE_AFTER_MS = 90 * DAY_MS

const RISKS: Readonly<Record<string, Check<RiskFacts>>> = {
  'trial-failed': { severity: 'medium', look: ({ daemon }) => daemon?.trials ?? [] },
  'listener-open': {
    severity: 'medium',
    look({ host }) {
      const text = `it listens on ${host}, without TLS: whoever reaches this machine reaches its doors; a proxy in front needs 127.0.0.1 only`
      return isLoopbackListener(host) ? [] : [gateway(text, 'server.host')]
    },
  },
  'admin-token-generated': {
    severity: 'high',
    look({ host, daemon }) {
      const text = `it listens on ${host}, and no admin token was chosen for it`
      const safe = isLoopbackListener(host) || daemon?.adminTokenChosen !== false
      return safe ? [] : [gateway(text, 'server.admin_token')]
    },
  },
  'public-url-unencrypted': {
    severity: 'high',
    look({ settings: { server } }) {
      const text = `${server.publicUrl} is no https address: tokens and messages can be read on the way`
      const isOpen = isPublic(server.publicUrl) && server.publicUrl?.startsWith('http:')
      return isOpen ? [gateway(text, 'server.public_url')] : []
    },
  },
  'admin-token-in-file': {
    severity: 'medium',
    look({ settings: { server } }) {
      const text =
        'the admin token stands in the configuration in plain text; env:NAME or file:PATH keeps it out'
      const isText = server.adminToken !== undefined && !/^(?:env|file|secret):/.test(server.adminToken)
      return isText ? [gateway(text, 'server.admin_token')] : []
    },
  },
  'proxy-unmarked': {
    severity: 'high',
    look: ({ daemon }) =>
      (daemon?.unmarkedProxies ?? []).map((url) => {
        const text = `the proxy at ${url} names no visitor and asks under our own Host, by itself or because a visitor wrote it, so a visitor looks local: X-Sender is believed and /metrics is open`
        return gateway(text, 'server.public_url')
      }),
  },
  // Each module gives the severity of its own.
  'module-risk': { severity: 'medium', look: ({ modules }) => modules.found },
  'anybody-may-talk': {
    severity: 'high',
    look: ({ settings }) =>
      settings.integrations.flatMap(({ id, origin, enabled, access }) => {
        // Where a credential is the gate, its holders were admitted by it.
        if (!enabled || !access.readable || access.dm === 'credential') return []
        const text = `anybody may talk to ${id}: allow_from lists "*"`
        const key = `${origin}.access.allow_from`
        return access.allowFrom.includes('*') ? [{ subject: `integration ${id}`, text, remedy: key }] : []
      }),
  },
  'any-member-may-talk': {
    severity: 'medium',
    look: ({ settings }) =>
      settings.integrations.flatMap(({ id, origin, enabled, access }) =>
        Object.entries(enabled && access.readable ? access.groups : {})
          .filter(([, { allowFrom }]) => allowFrom.includes('*'))
          .map(([group]) => ({
            subject: `integration ${id}`,
            text: `any member of group ${group} of ${id} may talk: allow_from lists "*"`,
            remedy: `${origin}.access.groups["${group}"].allow_from`,
          })),
      ),
  },
  'limit-lifted': {
    severity: 'medium',
    look({ settings: { tunables } }) {
      const { senderLimit, floodLimit, strangerLimit } = tunables
      const all = { sender_limit: senderLimit, flood_limit: floodLimit, stranger_limit: strangerLimit }
      return Object.entries(all)
        .filter(([, limit]) => isLifted(limit))
        .map(([key]) => gateway(`${key} is lifted: nothing holds back a flood`, `tunables.${key}`))
    },
  },
  'binding-unlimited': {
    severity: 'medium',
    look: ({ settings: { agents } }) =>
      agents.flatMap(({ id, origin, bindings }) =>
        bindings.flatMap(({ instance, senderLimit, limitedBy }, at) => {
          if (senderLimit === undefined || !isLifted(senderLimit)) return []
          const text = `senders of ${instance} reach ${id} without a limit`
          const remedy = `${origin}.inbound_bindings[${limitedBy ?? at}].rate_limit`
          return [{ subject: `agent ${id}`, text, remedy }]
        }),
      ),
  },
  'token-lasting': {
    severity: 'low',
    look({ daemon }) {
      const lasting = (daemon?.tokens ?? []).filter(
        ({ expires_at, revoked }) => !revoked && expires_at === null,
      )
      return [...new Set(lasting.map(({ kind }) => kind))].flatMap((kind) =>
        tokenFinding(
          lasting.filter((one) => one.kind === kind),
          (count) =>
            count === 1
              ? `a token of kind ${kind} never expires`
              : `${count} tokens of kind ${kind} never expire`,
        ),
      )
    },
  },
  'token-unused': {
    severity: 'low',
    look(facts) {
      const unused = validTokens(facts).filter(
        ({ never_used, created_at }) => never_used && facts.now - Date.parse(created_at) >= UNUSED_AFTER_MS,
      )
      return tokenFinding(unused, (count) => `${tokensWere(count)} never used, in a week or longer`)
    },
  },
  'token-idle': {
    severity: 'low',
    look(facts) {
      const idle = validTokens(facts).filter(
        ({ last_used_at: at }) => at !== null && facts.now - Date.parse(at) >= IDLE_AFTER_MS,
      )
      return tokenFinding(idle, (count) => `${tokensWere(count)} not used for three months or longer`)
    },
  },
  'plugin-unverified': {
    severity: 'medium',
    look: ({ daemon }) =>
      (daemon?.servers ?? [])
        .filter(({ verified }) => !verified)
        .map(({ name, plugin_source: source }): Found => {
          const subject = `server ${name}`
          const named = `channel server ${name} is called ${source} by hand, and nothing verifies it`
          const unnamed = `channel server ${name} comes from no marketplace: nothing says whose program it is`
          return source === null
            ? { subject, severity: 'low', text: unnamed, remedy: `mcp_servers.${name}.plugin` }
            : { subject, text: named, remedy: `mcp_servers.${name}.plugin_source` }
        }),
  },
}

const NO_DAEMON = [
  'tokens that never expire or are not used: no daemon was asked',
  'proxies in front of the daemon: no daemon was asked',
  'plugins of channel servers: no daemon was asked',
  'the listening address and admin token in force: no daemon was asked, the configuration was judged',
]
const USE_UNKNOWN = ['whether tokens that were minted before their use was recorded are used']

export function risksOf(facts: RiskFacts): Omit<SecurityReport, 'files'> {
  const { daemon, modules } = facts
  const isUseUnknown = daemon?.tokens.some(
    (one) => !one.revoked && one.last_used_at === null && !one.never_used,
  )
  return {
    findings: findings(RISKS, facts).map(asRisk),
    unjudged: [...modules.unjudged, ...(daemon === null ? NO_DAEMON : isUseUnknown ? USE_UNKNOWN : [])],
  }
}

function gateway(text: string, remedy: string): Found {
  return { subject: 'gateway', text, remedy }
}

function isLifted({ rps, burst }: RateLimit): boolean {
  return rps === 0 || burst === 0
}

function validTokens({ daemon, now }: RiskFacts): readonly TokenView[] {
  return (daemon?.tokens ?? []).filter(
    ({ revoked, expires_at: at }) => !revoked && (at === null || Date.parse(at) > now),
  )
}

const tokensWere = (count: number) => (count === 1 ? 'a token was' : `${count} tokens were`)
const MOST_NAMED = 10

/** One finding for all of them, because there may be thousands. */
function tokenFinding(tokens: readonly TokenView[], text: (count: number) => string): readonly Found[] {
  if (tokens.length === 0) return []
  const more = tokens.length > MOST_NAMED ? ` and ${tokens.length - MOST_NAMED} more` : ''
  const named = tokens.slice(0, MOST_NAMED).map(({ id }) => id)
  return [
    {
      subject: 'gateway',
      severity: tokens.some(({ kind }) => kind === 'admin') ? 'medium' : 'low',
      text: `${text(tokens.length)}: ${named.join(', ')}${more}`,
      remedy: 'switchboard token revoke ID',
    },
  ]
}
