// What the running daemon hands to `doctor --security`: its own settings, tokens, servers and paths.
import { expect, it } from 'vitest'
import { defaultSettings } from '../config/default-settings.ts'
import { judgeRunning } from './judge-security.ts'

it('[I14.doctor-security] judges the tokens, servers and address of the daemon that runs', async () => {
  const settings = defaultSettings({ defaultStore: 'sqlite:x' })
  const token = {
    id: 'tok_1',
    kind: 'admin',
    scope: {},
    createdAt: 0,
    expiresAt: null,
    revokedAt: null,
    lastUsedAt: 0,
  }
  const stamp = { source: 'slack@acme', verified: false }
  const facts = {
    name: 'slack',
    transport: 'stdio',
    state: 'up',
    detail: null,
    connectedAt: null,
    program: null,
  }
  const deps = {
    settings: () => settings,
    clock: { now: () => 2_000 },
    store: { tokens: async () => [token] },
    gateway: { servers: () => ({ all: () => [{ facts: () => ({ ...facts, stamp }) }] }) },
  } as unknown as Parameters<typeof judgeRunning>[0]
  const files = { config: ['/a/switchboard.yaml'], secrets: [], database: '/a/db' }
  const report = await judgeRunning(deps, { host: '0.0.0.0', adminTokenChosen: true, files })
  expect(report.findings.map(({ severity, key }) => [severity, key])).toEqual([
    ['medium', 'server.host'],
    ['low', 'embedded default: integrations[1].secret'],
    ['medium', 'switchboard token revoke ID'],
    ['medium', 'mcp_servers.slack.plugin_source'],
  ])
  expect(report.files).toEqual(files)
  expect(report.unjudged).toHaveLength(1)
})
