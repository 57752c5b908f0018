// Every open gate is found, with its severity and key; a closed one is not.
import { describe, expect, it } from 'vitest'
import { defaultSettings } from '../config/default-settings.ts'
import type { IntegrationSettings, ServerView, Settings } from '../contract/index.ts'
import { testIntegration } from '../testing/test-settings.ts'
import { type RiskFacts, risksOf } from './risks.ts'

const base = defaultSettings({ defaultStore: 'sqlite:x' })
const NOTHING = { adminTokenChosen: false, tokens: [], servers: [], unmarkedProxies: [], trials: [] }
const CLOSED: RiskFacts = {
  settings: { ...base, integrations: [] },
  host: '127.0.0.1',
  daemon: NOTHING,
  modules: { found: [], unjudged: [] },
  now: Date.parse('2026-06-01T00:00:00.000Z'),
}

function found(facts: Partial<RiskFacts>) {
  return risksOf({ ...CLOSED, ...facts }).findings.map(({ severity, key, what }) => [severity, key, what])
}

/** The daemon's answers to the checks. */
const asked = (facts: Partial<NonNullable<RiskFacts['daemon']>>) => ({ daemon: { ...NOTHING, ...facts } })
const settingsWith = (more: Partial<Settings>): RiskFacts['settings'] => ({ ...CLOSED.settings, ...more })
const serverWith = (more: Partial<Settings['server']>) => ({
  settings: settingsWith({ server: { ...base.server, ...more } }),
})

it('[I35.b39] a proxy that makes every visitor look local is a high finding, and without a daemon it is said that nobody tried', () => {
  const [[severity, key, what] = []] = found(asked({ unmarkedProxies: ['http://192.0.2.7:80'] }))
  expect([severity, key]).toEqual(['high', 'server.public_url'])
  expect(what).toContain('http://192.0.2.7:80')
  const { unjudged } = risksOf({ ...CLOSED, daemon: null })
  expect(unjudged.join()).toContain('proxies in front')
})

function opened(access: Partial<Extract<IntegrationSettings['access'], { readable: true }>>) {
  const tg = testIntegration('tg', {
    access: {
      ...{ readable: true, dm: 'allowlist', allowFrom: ['kate'], approvers: [] },
      ...{ groups: {}, mentionPatterns: [] },
      ...access,
    },
  })
  return { settings: settingsWith({ integrations: [tg] }) }
}

const token = (more: object) => ({
  id: 'tok_1',
  kind: 'agent',
  scope: {},
  created_at: '2026-01-01T00:00:00.000Z',
  expires_at: null,
  revoked: false,
  last_used_at: '2026-05-31T00:00:00.000Z',
  never_used: false,
  ...more,
})

describe('[I14.doctor-security] what is open', () => {
  it('nothing, where all is closed', () => {
    expect(found({})).toEqual([])
    expect(found(opened({}))).toEqual([])
  })

  it('a listener beyond this machine, worse without an admin token of its own', () => {
    expect(found({ host: '0.0.0.0', ...asked({ adminTokenChosen: true }) })).toEqual([
      ['medium', 'server.host', expect.stringContaining('0.0.0.0')],
    ])
    expect(found({ host: '::' }).map(([severity, key]) => [severity, key])).toEqual([
      ['medium', 'server.host'],
      ['high', 'server.admin_token'],
    ])
  })

  it('a public address without TLS', () => {
    expect(found(serverWith({ publicUrl: 'http://sb.example.com' }))).toEqual([
      ['high', 'server.public_url', expect.stringContaining('no https')],
    ])
    expect(found(serverWith({ publicUrl: 'http://localhost:4747' }))).toEqual([])
    expect(found(serverWith({ publicUrl: 'https://sb.example.com' }))).toEqual([])
  })

  it('an admin token in plain text, which is not told', () => {
    const told = found(serverWith({ adminToken: 'hunter2-hunter2-hunter2' }))
    expect(told).toEqual([['medium', 'server.admin_token', expect.stringContaining('plain text')]])
    expect(JSON.stringify(told)).not.toContain('hunter2')
    expect(found(serverWith({ adminToken: 'env:ADMIN' }))).toEqual([])
  })

  it('a place where anybody may talk, and an open group', () => {
    expect(found(opened({ allowFrom: ['*'] }))).toEqual([
      ['high', 'integrations[0].access.allow_from', expect.stringContaining('anybody')],
    ])
    expect(found(opened({ dm: 'credential', allowFrom: ['*'] }))).toEqual([])
    const { settings } = opened({
      allowFrom: ['*'],
      groups: { '-1': { requireMention: true, allowFrom: ['*'] } },
    })
    const off = settings.integrations.map((one) => ({ ...one, enabled: false }))
    expect(found({ settings: { ...settings, integrations: off } })).toEqual([])
    const groups = {
      '-1': { requireMention: true, allowFrom: ['*'] },
      '-2': { requireMention: true, allowFrom: [] },
    }
    expect(found(opened({ groups }))).toEqual([
      ['medium', 'integrations[0].access.groups["-1"].allow_from', expect.stringContaining('any member')],
    ])
  })

  it.each([
    ['senderLimit', 'sender_limit'],
    ['floodLimit', 'flood_limit'],
    ['strangerLimit', 'stranger_limit'],
  ])('a lifted %s', (name, key) => {
    const tunables = { ...base.tunables, [name]: { rps: 0, burst: 0 } }
    expect(found({ settings: settingsWith({ tunables }) })).toEqual([
      ['medium', `tunables.${key}`, expect.stringContaining('lifted')],
    ])
  })

  it('a binding without a limit', () => {
    const agents = base.agents.map((agent) => ({
      ...agent,
      bindings: agent.bindings.map((one, at) =>
        at === 1 ? { ...one, senderLimit: { rps: 0, burst: 0 } } : one,
      ),
    }))
    expect(found({ settings: settingsWith({ agents }) })).toEqual([
      ['medium', 'embedded default: agents[0].inbound_bindings[1].rate_limit', expect.any(String)],
    ])
  })

  it('tokens that never expire, once a kind, however many', () => {
    const many = Array.from({ length: 12 }, (_, at) => token({ id: `tok_${at}` }))
    const rest = [
      token({ id: 'tok_x', revoked: true }),
      token({ id: 'tok_y', expires_at: '2027-01-01T00:00:00.000Z' }),
      token({ id: 'tok_z', kind: 'admin' }),
    ]
    expect(found(asked({ tokens: [...many, ...rest] }))).toEqual([
      ['low', 'switchboard token revoke ID', expect.stringMatching(/^12 tokens .*tok_9 and 2 more$/)],
      ['medium', 'switchboard token revoke ID', 'a token of kind admin never expires: tok_z'],
    ])
  })

  it('[I14.token-unused] tokens that nobody uses: never in a week, or not for three months', () => {
    const since = (created_at: string, more: object = {}) =>
      token({
        created_at,
        last_used_at: null,
        never_used: true,
        expires_at: '2027-01-01T00:00:00.000Z',
        ...more,
      })
    const used = (id: string, last_used_at: string) =>
      since('2025-01-01T00:00:00.000Z', { id, last_used_at, never_used: false })
    const tokens = [
      since('2026-05-01T00:00:00.000Z', { id: 'tok_never' }),
      since('2026-05-30T00:00:00.000Z', { id: 'tok_fresh' }),
      since('2026-05-01T00:00:00.000Z', { id: 'tok_gone', revoked: true }),
      since('2026-05-01T00:00:00.000Z', { id: 'tok_over', expires_at: '2026-05-02T00:00:00.000Z' }),
      since('2025-01-01T00:00:00.000Z', { id: 'tok_before', never_used: false }),
      used('tok_idle', '2026-01-01T00:00:00.000Z'),
      used('tok_busy', '2026-05-31T00:00:00.000Z'),
    ]
    expect(found(asked({ tokens }))).toEqual([
      ['low', 'switchboard token revoke ID', 'a token was never used, in a week or longer: tok_never'],
      ['low', 'switchboard token revoke ID', 'a token was not used for three months or longer: tok_idle'],
    ])
    expect(risksOf({ ...CLOSED, ...asked({ tokens }) }).unjudged).toEqual([
      'whether tokens that were minted before their use was recorded are used',
    ])
    const admin = since('2026-05-01T00:00:00.000Z', { kind: 'admin' })
    expect(found(asked({ tokens: [admin, admin] }))[0]).toEqual([
      ...['medium', 'switchboard token revoke ID', expect.stringMatching(/^2 tokens were never used/)],
    ])
  })

  it('plugins that nothing verifies', () => {
    const server = (more: object) =>
      ({ name: 'slack', plugin_source: 'slack@acme', verified: false, ...more }) as ServerView
    expect(found(asked({ servers: [server({})] }))).toEqual([
      ['medium', 'mcp_servers.slack.plugin_source', expect.stringContaining('slack@acme')],
    ])
    expect(found(asked({ servers: [server({ plugin_source: null })] }))).toEqual([
      ['low', 'mcp_servers.slack.plugin', expect.any(String)],
    ])
    expect(found(asked({ servers: [server({ verified: true })] }))).toEqual([])
  })

  it('says what could not be judged', () => {
    expect(risksOf(CLOSED).unjudged).toEqual([])
    const alone = risksOf({ ...CLOSED, daemon: null }).unjudged
    expect(alone).toHaveLength(4)
    for (const word of ['never expire', 'plugins', 'admin token']) expect(alone.join()).toContain(word)
  })
})
