// RISKS: what stands open to others, as one table of checks: listening address, trusted senders, tokens, limits, groups and
// plugins. `doctor --security` lists what they find, and the modes of files (file-modes.ts). Pure: facts in, findings out.
import type { RateLimit, SecurityReport, ServerView, Settings } from '../contract/index.ts'
import type { TokenView } from '../gateway/access/token-views.ts'
import { isLoopbackListener } from '../server/host-guard.ts'
import { isPublic } from '../server/near.ts'
import { type Words, wordsIn } from '../words/index.ts'
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

type RiskWords = Words['security']['risks']

const RISKS: { readonly [Code in keyof RiskWords]: Check<RiskFacts, RiskWords[Code]> } = {
  'trial-failed': { severity: 'medium', look: ({ daemon }) => daemon?.trials ?? [] },
  'listener-open': {
    severity: 'medium',
    look: ({ host }, found) => (isLoopbackListener(host) ? [] : [gateway(found({ host }), 'server.host')]),
  },
  'admin-token-generated': {
    severity: 'high',
    look({ host, daemon }, found) {
      const safe = isLoopbackListener(host) || daemon?.adminTokenChosen !== false
      return safe ? [] : [gateway(found({ host }), 'server.admin_token')]
    },
  },
  'public-url-unencrypted': {
    severity: 'high',
    look({ settings: { server } }, found) {
      const { publicUrl: url } = server
      if (url === null || !isPublic(url) || !url.startsWith('http:')) return []
      return [gateway(found({ url }), 'server.public_url')]
    },
  },
  'admin-token-in-file': {
    severity: 'medium',
    look({ settings: { server } }, text) {
      const isText = server.adminToken !== undefined && !/^(?:env|file|secret):/.test(server.adminToken)
      return isText ? [gateway(text, 'server.admin_token')] : []
    },
  },
  'proxy-unmarked': {
    severity: 'high',
    look: ({ daemon }, found) =>
      (daemon?.unmarkedProxies ?? []).map((url) => gateway(found({ url }), 'server.public_url')),
  },
  // Each module gives the severity of its own.
  'module-risk': { severity: 'medium', look: ({ modules }) => modules.found },
  'anybody-may-talk': {
    severity: 'high',
    look: ({ settings }, found) =>
      settings.integrations.flatMap(({ id, origin, enabled, access }) => {
        // Where a credential is the gate, its holders were admitted by it.
        if (!enabled || !access.readable || access.dm === 'credential') return []
        if (!access.allowFrom.includes('*')) return []
        const remedy = `${origin}.access.allow_from`
        return [{ subject: `integration ${id}`, text: found({ id }), remedy }]
      }),
  },
  'any-member-may-talk': {
    severity: 'medium',
    look: ({ settings }, found) =>
      settings.integrations.flatMap(({ id, origin, enabled, access }) =>
        Object.entries(enabled && access.readable ? access.groups : {})
          .filter(([, { allowFrom }]) => allowFrom.includes('*'))
          .map(([group]) => ({
            subject: `integration ${id}`,
            text: found({ id, group }),
            remedy: `${origin}.access.groups["${group}"].allow_from`,
          })),
      ),
  },
  'limit-lifted': {
    severity: 'medium',
    look({ settings: { tunables } }, found) {
      const { senderLimit, floodLimit, strangerLimit } = tunables
      const all = { sender_limit: senderLimit, flood_limit: floodLimit, stranger_limit: strangerLimit }
      return Object.entries(all)
        .filter(([, limit]) => isLifted(limit))
        .map(([key]) => gateway(found({ key }), `tunables.${key}`))
    },
  },
  'binding-unlimited': {
    severity: 'medium',
    look: ({ settings: { agents } }, found) =>
      agents.flatMap(({ id, origin, bindings }) =>
        bindings.flatMap(({ instance, senderLimit, limitedBy }, at) => {
          if (senderLimit === undefined || !isLifted(senderLimit)) return []
          const text = found({ id, integration: instance })
          const remedy = `${origin}.inbound_bindings[${limitedBy ?? at}].rate_limit`
          return [{ subject: `agent ${id}`, text, remedy }]
        }),
      ),
  },
  'token-lasting': {
    severity: 'low',
    look({ daemon }, found) {
      const lasting = (daemon?.tokens ?? []).filter(
        ({ expires_at, revoked }) => !revoked && expires_at === null,
      )
      return [...new Set(lasting.map(({ kind }) => kind))].flatMap((kind) =>
        tokenFinding(
          lasting.filter((one) => one.kind === kind),
          (tokens) => found({ kind, ...tokens }),
        ),
      )
    },
  },
  'token-unused': {
    severity: 'low',
    look(facts, found) {
      const unused = validTokens(facts).filter(
        ({ never_used, created_at }) => never_used && facts.now - Date.parse(created_at) >= UNUSED_AFTER_MS,
      )
      return tokenFinding(unused, found)
    },
  },
  'token-idle': {
    severity: 'low',
    look(facts, found) {
      const idle = validTokens(facts).filter(
        ({ last_used_at: at }) => at !== null && facts.now - Date.parse(at) >= IDLE_AFTER_MS,
      )
      return tokenFinding(idle, found)
    },
  },
  'plugin-unverified': {
    severity: 'medium',
    look: ({ daemon }, words) =>
      (daemon?.servers ?? [])
        .filter(({ verified }) => !verified)
        .map(({ name: id, plugin_source: source }): Found => {
          const subject = `server ${id}`
          if (source !== null)
            return { subject, text: words.byHand({ id, source }), remedy: `mcp_servers.${id}.plugin_source` }
          const text = words.noMarketplace({ id })
          return { subject, severity: 'low', text, remedy: `mcp_servers.${id}.plugin` }
        }),
  },
}

export function risksOf(facts: RiskFacts): Omit<SecurityReport, 'files'> {
  const { daemon, modules } = facts
  const { risks, unjudged } = wordsIn().security
  const isUseUnknown = daemon?.tokens.some(
    (one) => !one.revoked && one.last_used_at === null && !one.never_used,
  )
  return {
    findings: findings(RISKS, facts, risks).map(asRisk),
    unjudged: [
      ...modules.unjudged,
      ...(daemon === null ? Object.values(unjudged.noDaemon) : []),
      ...(isUseUnknown ? [unjudged.tokenUse] : []),
    ],
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

const MOST_NAMED = 10

/** One finding for all of them, because there may be thousands. */
function tokenFinding(
  tokens: readonly TokenView[],
  found: (tokens: { readonly count: number; readonly ids: string; readonly more: number }) => string,
): readonly Found[] {
  if (tokens.length === 0) return []
  const count = tokens.length
  const named = tokens.slice(0, MOST_NAMED).map(({ id }) => id)
  return [
    {
      subject: 'gateway',
      severity: tokens.some(({ kind }) => kind === 'admin') ? 'medium' : 'low',
      text: found({ count, ids: named.join(', '), more: Math.max(0, count - MOST_NAMED) }),
      remedy: 'switchboard token revoke ID',
    },
  ]
}
