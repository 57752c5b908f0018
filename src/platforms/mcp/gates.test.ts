// The five gates, the table of capabilities and the limits, row by row in the seed's order.
import { describe, expect, it } from 'vitest'
import type { ChannelsSettings } from '../../contract/index.ts'
import { isDeclared, readCapability } from './capability.ts'
import { evaluateGates, type GateFacts, type GateRules, rateLimitOf } from './gates.ts'

const FACTS: GateFacts = {
  name: 'slack',
  prefix: 'nexo',
  permissionRelay: true,
  stamp: { source: 'slack@anthropic', verified: true },
}
const ENTRY = {
  server: 'slack',
  pluginSource: 'slack@anthropic',
  outboundToolName: 'chat.postMessage',
  rateLimit: null,
}
const CHANNELS: ChannelsSettings = {
  enabled: true,
  maxContentChars: 16_000,
  defaultRateLimit: null,
  approved: [ENTRY],
}
const BINDING = { plugin: 'telegram', instance: 'kate_tg', allowedChannelServers: ['slack'] }
const RULES: GateRules = { agent: 'kate', origin: 'agents[0]', channels: CHANNELS, bindings: [BINDING] }

const judged = (facts: Partial<GateFacts>, rules: Partial<GateRules> = {}) =>
  evaluateGates({ ...FACTS, ...facts }, { ...RULES, ...rules })
const skipped = (facts: Partial<GateFacts>, rules: Partial<GateRules> = {}) => {
  const gated = judged(facts, rules)
  return gated.pass ? null : gated.skip
}
const killed: ChannelsSettings = { ...CHANNELS, enabled: false }
const unlisted = { bindings: [{ ...BINDING, allowedChannelServers: ['telegram'] }] }
const unapproved: ChannelsSettings = { ...CHANNELS, approved: [] }
const sourced = (pluginSource: string | null): ChannelsSettings => ({
  ...CHANNELS,
  approved: [{ ...ENTRY, pluginSource }],
})
const stamped = (source: string | null) => ({ stamp: { source, verified: true } })

describe('the gates', () => {
  it('open for a server that is declared, switched on, listed, of the right source and approved', () => {
    expect(judged({})).toEqual({
      pass: true,
      registration: {
        server: 'slack',
        agent: 'kate',
        binding: 'telegram:kate_tg',
        prefix: 'nexo',
        stamp: FACTS.stamp,
        outboundToolName: 'chat.postMessage',
        permissionRelay: true,
      },
    })
  })

  it('[F7.gate-capability] [S9.skip-typed] a server without the capability alone', () => {
    expect(skipped({ prefix: null })).toEqual({
      kind: 'capability',
      reason: 'server slack did not declare nexo/channel capability (nor claude/channel; mcp_servers.slack)',
      key: 'mcp_servers.slack',
    })
  })

  it('[F7.gate-disabled] channels.enabled false alone, or no channels at all', () => {
    const skip = {
      kind: 'disabled',
      reason: 'channels.enabled is false (operator killswitch)',
      key: 'agents[0].channels.enabled',
    }
    expect(skipped({}, { channels: killed })).toEqual(skip)
    expect(skipped({}, { channels: null })).toEqual(skip)
  })

  it('[F7.gate-session] a server outside the list of the binding alone', () => {
    expect(skipped({}, unlisted)).toEqual({
      kind: 'session',
      reason: "server slack is not in this binding's allowed_channel_servers",
      key: 'agents[0].inbound_bindings[0].allowed_channel_servers',
    })
  })

  it('[F7.gate-marketplace] another source than the approved one alone', () => {
    expect(skipped(stamped('slack@elsewhere'))).toEqual({
      kind: 'marketplace',
      reason:
        'plugin_source mismatch: approved declares slack@anthropic but the installed source is slack@elsewhere',
      key: 'agents[0].channels.approved[0].plugin_source',
    })
  })

  it('[F7.gate-allowlist] a server that is not approved alone', () => {
    expect(skipped({}, { channels: unapproved })).toEqual({
      kind: 'allowlist',
      reason: 'server slack is not in channels.approved (add it to vet the source)',
      key: 'agents[0].channels.approved',
    })
  })

  it('[S9.skip-names-key] every reason names the key of the configuration', () => {
    const skips = [
      skipped({ prefix: null }),
      skipped({}, { channels: killed }),
      skipped({}, unlisted),
      skipped(stamped(null)),
      skipped({}, { channels: unapproved }),
    ]
    for (const skip of skips) {
      const last = (skip?.key ?? 'none')
        .replace(/\[\d*\]/g, '')
        .split('.')
        .slice(-1)[0]
      expect(skip?.reason).toContain(last)
    }
  })

  it('[F7.gate-order] [S9.gates-order] the first that is closed is told, in the order of the seed', () => {
    const all = { channels: { ...killed, approved: [] }, ...unlisted }
    expect(skipped({ prefix: null }, all)?.kind).toBe('capability')
    expect(skipped({}, all)?.kind).toBe('disabled')
    const on = { ...unlisted, channels: unapproved }
    expect(skipped(stamped('x@y'), on)?.kind).toBe('session')
    expect(skipped(stamped('x@y'), unlisted)?.kind).toBe('session')
    expect(skipped(stamped('x@y'))?.kind).toBe('marketplace')
    expect(skipped(stamped('x@y'), { channels: unapproved })?.kind).toBe('allowlist')
  })

  it('[F7.gate-empty-binding] an empty list denies, and so does an agent without bindings', () => {
    expect(skipped({}, { bindings: [{ ...BINDING, allowedChannelServers: [] }] })?.kind).toBe('session')
    expect(skipped({}, { bindings: [] })?.kind).toBe('session')
  })

  it('[F7.gate-source-unset] an entry without plugin_source takes any stamp, or none', () => {
    expect(judged(stamped(null), { channels: sourced(null) }).pass).toBe(true)
    expect(judged(stamped('slack@elsewhere'), { channels: sourced(null) }).pass).toBe(true)
  })

  it('[F7.gate-unstamped] plugin_source is declared, and the server came from no marketplace', () => {
    expect(skipped(stamped(null))).toMatchObject({
      kind: 'marketplace',
      reason:
        'approved declares plugin_source slack@anthropic but the runtime did not stamp one (non-plugin server?)',
    })
  })

  it('[F7.gate-exact] names and sources match letter by letter', () => {
    expect(skipped({ name: 'Slack' })?.kind).toBe('session')
    expect(skipped({ name: 'slack ' })?.kind).toBe('session')
    expect(skipped(stamped('Slack@anthropic'))?.kind).toBe('marketplace')
    expect(skipped(stamped('slack@anthropic '))?.kind).toBe('marketplace')
  })

  it('a server in two bindings of one agent is registered once, with the first', () => {
    const second = { plugin: 'web', instance: 'page', allowedChannelServers: ['slack'] }
    expect(judged({}, { bindings: [second, BINDING] })).toMatchObject({
      registration: { binding: 'web:page' },
    })
  })
})

describe('capabilities', () => {
  it.each([{}, { a: 1 }, true, 'yes', [0], 1, -1])('[F7.cap-truthy] %j declares', (value) => {
    expect(isDeclared(value)).toBe(true)
    expect(readCapability({ 'nexo/channel': value }).prefix).toBe('nexo')
  })

  it.each([null, false, '', [], 0, undefined])('[F7.cap-falsy] %j does not', (value) => {
    expect(isDeclared(value)).toBe(false)
    expect(readCapability({ 'claude/channel': value }).prefix).toBeNull()
  })

  it('[F7.cap-falsy] nor does what is absent or no object at all', () => {
    for (const experimental of [undefined, null, 'nexo/channel', [], 5, {}])
      expect(readCapability(experimental)).toEqual({ prefix: null, permissionRelay: false })
    expect(readCapability(Object.create({ 'nexo/channel': {} })).prefix).toBeNull()
  })

  it('[F7.cap-permission-alone] permission without the channel is no channel', () => {
    const declared = readCapability({ 'nexo/channel/permission': {} })
    expect(declared).toEqual({ prefix: null, permissionRelay: false })
    expect(skipped(declared)?.kind).toBe('capability')
  })

  it('both prefixes are channels, and permission is that of the same prefix', () => {
    expect(readCapability({ 'claude/channel': {} })).toEqual({ prefix: 'claude', permissionRelay: false })
    expect(readCapability({ 'claude/channel': {}, 'claude/channel/permission': {} }).permissionRelay).toBe(
      true,
    )
    expect(readCapability({ 'claude/channel': {}, 'nexo/channel/permission': {} }).permissionRelay).toBe(
      false,
    )
    expect(readCapability({ 'claude/channel': {}, 'claude/channel/permission': false }).permissionRelay).toBe(
      false,
    )
    expect(judged({ prefix: 'claude' }).pass).toBe(true)
  })
})

describe('limits', () => {
  const limit = { rps: 5, burst: 20 }
  const own = (rateLimit: typeof limit | null, defaultRateLimit: typeof limit | null = limit) =>
    rateLimitOf('slack', { ...CHANNELS, defaultRateLimit, approved: [{ ...ENTRY, rateLimit }] })

  it('the own entry comes before the default, and 0 in either part means none', () => {
    expect(own(null)).toEqual(limit)
    expect(own({ rps: 1, burst: 2 })).toEqual({ rps: 1, burst: 2 })
    expect(own({ rps: 0, burst: 0 })).toBeNull()
    expect(own({ rps: 0, burst: 9 })).toBeNull()
    expect(own({ rps: 9, burst: 0 })).toBeNull()
    expect(own(null, null)).toBeNull()
    expect(rateLimitOf('slack', null)).toBeNull()
  })
})
