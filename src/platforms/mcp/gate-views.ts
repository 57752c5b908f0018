// The five gates for doctor. Each shows pass or its own reason, also behind a closed one.
import type { ChannelsSettings, GateView, ServerFacts, SkipKind } from '../../contract/index.ts'
import { type ChannelOptions, inboundLimit } from './channel-options.ts'
import { evaluateGates, type GateFacts, type GateRules } from './gates.ts'

const KINDS: readonly SkipKind[] = ['capability', 'disabled', 'session', 'marketplace', 'allowlist']

export function gateViews(facts: ServerFacts, rules: ChannelOptions): readonly GateView[] {
  const skips = skipsOf(facts, rules)
  const five = KINDS.map((kind): GateView => {
    const skip = skips.get(kind)
    if (kind === 'capability' && facts.state !== 'up') {
      const reason = `not known: the server is ${facts.state}${facts.detail === null ? '' : ` (${facts.detail})`}`
      return { gate: kind, pass: facts.state === 'waiting', reason, key: `mcp_servers.${facts.name}` }
    }
    if (skip) return { gate: kind, pass: false, reason: skip.reason, key: skip.key }
    return { gate: kind, pass: true, ...open(kind, facts, rules) }
  })
  return [...five, limitView(rules)]
}

function limitView(rules: ChannelOptions): GateView {
  const found = inboundLimit(rules)
  if (!found)
    return { gate: 'limit', pass: true, reason: 'none', key: `${rules.origin}.channels.default_rate_limit` }
  const { rps, burst } = found.limit
  return { gate: 'limit', pass: true, reason: `${rps} a second, ${burst} at once`, key: found.key }
}

/** Evaluates the gates repeatedly, each time as if the closed gate were open. */
function skipsOf(facts: GateFacts, rules: GateRules) {
  const skips = new Map<SkipKind, { readonly reason: string; readonly key: string }>()
  let server = facts
  let asked = rules
  for (const _ of KINDS) {
    const gated = evaluateGates(server, asked)
    if (gated.pass) break
    const { kind } = gated.skip
    skips.set(kind, gated.skip)
    if (kind === 'capability') server = { ...server, prefix: 'nexo' }
    else asked = opened(kind, facts.name, asked)
  }
  return skips
}

const NONE: ChannelsSettings = { enabled: true, maxContentChars: 0, defaultRateLimit: null, approved: [] }

function opened(kind: SkipKind, server: string, rules: GateRules): GateRules {
  const channels = rules.channels ?? NONE
  switch (kind) {
    case 'capability':
      return rules
    case 'disabled':
      return { ...rules, channels: { ...channels, enabled: true } }
    case 'session':
      return {
        ...rules,
        bindings: [...rules.bindings, { plugin: '', instance: '', allowedChannelServers: [server] }],
      }
    case 'marketplace':
      return {
        ...rules,
        channels: {
          ...channels,
          approved: channels.approved.map((entry) =>
            entry.server === server ? { ...entry, pluginSource: null } : entry,
          ),
        },
      }
    case 'allowlist': {
      const entry = { server, pluginSource: null, outboundToolName: '', rateLimit: null }
      return { ...rules, channels: { ...channels, approved: [...channels.approved, entry] } }
    }
  }
}

function open(
  kind: SkipKind,
  { name, prefix, permissionRelay, stamp }: ServerFacts,
  { origin, channels, bindings }: GateRules,
): Omit<GateView, 'gate' | 'pass'> {
  const at = channels?.approved.findIndex((entry) => entry.server === name) ?? -1
  switch (kind) {
    case 'capability': {
      const relay = permissionRelay ? ', and relays permissions' : ''
      return { reason: `declares ${prefix}/channel${relay}`, key: `mcp_servers.${name}` }
    }
    case 'disabled':
      return { reason: 'channels.enabled is true', key: `${origin}.channels.enabled` }
    case 'session': {
      const index = bindings.findIndex((binding) => binding.allowedChannelServers.includes(name))
      const { plugin = '', instance = '' } = bindings[index] ?? {}
      const key = `${origin}.inbound_bindings[${index}].allowed_channel_servers`
      return { reason: `allowed by ${plugin}:${instance || 'default'}`, key }
    }
    case 'marketplace': {
      const key = `${origin}.channels.approved[${Math.max(0, at)}].plugin_source`
      const wanted = channels?.approved[at]?.pluginSource ?? null
      const source = stamp.source ?? 'none'
      const hand = stamp.source !== null && !stamp.verified ? ', unverified: it was written by hand' : ''
      const reason =
        wanted === null
          ? `any source is taken (this one: ${source}${hand})`
          : `installed source ${source} matches${hand}`
      return { reason, key, ...(hand !== '' && wanted !== null ? { flagged: true } : {}) }
    }
    case 'allowlist':
      return { reason: 'approved', key: `${origin}.channels.approved[${at}]` }
  }
}
