// The facts of the running daemon for `doctor --security`: its own settings, tokens, servers and paths.
import { expect, it } from 'vitest'
import { defaultSettings } from '../config/default-settings.ts'
import type { DataFolder } from '../config/instance/data-folder.ts'
import { createModuleCatalog } from '../modules/module-catalog.ts'
import { testAgent, testIntegration } from '../testing/test-settings.ts'
import { judgeConfiguration, judgeRunning } from './judge-security.ts'

const files = { config: ['/a/switchboard.yaml'], secrets: [], database: '/a/db' }

it('[I14.doctor-security] judges the tokens, servers and address of the daemon that runs', async () => {
  const settings = defaultSettings({ defaultStore: 'sqlite:x' })
  const adapters = createModuleCatalog()
  await Promise.all(settings.integrations.map(({ platform }) => adapters.platform(platform)))
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
    adapters,
    settings: () => settings,
    clock: { now: () => 2_000 },
    store: { tokens: async () => [token] },
    gateway: { servers: () => ({ all: () => [{ facts: () => ({ ...facts, stamp }) }] }) },
  } as unknown as Parameters<typeof judgeRunning>[0]
  const report = await judgeRunning(deps, { host: '0.0.0.0', adminTokenChosen: true, files })
  expect(report.findings.map(({ severity, key }) => [severity, key])).toEqual([
    ['medium', 'server.host'],
    ['medium', 'embedded default: integrations[1].secret'],
    ['medium', 'switchboard token revoke ID'],
    ['medium', 'mcp_servers.slack.plugin_source'],
  ])
  expect(report.files).toEqual(files)
  expect(report.unjudged).toHaveLength(1)
})

it('[I14.doctor-security] knows the doors of the embedded default without a daemon, too', async () => {
  const folder = { path: '/a', defaultStore: 'sqlite:/a/db' } as DataFolder
  const { findings } = await judgeConfiguration(null, folder)
  expect(findings).toEqual([
    {
      severity: 'medium',
      what: 'hook demo is unsigned and believes the header X-Sender from this machine: any program or user here can say who it is, and approve as dev',
      key: 'embedded default: integrations[1].secret',
    },
  ])
})

it('[I13.module-security] options of a foreign adapter that are called like those of a hook or model mean nothing to it', async () => {
  const options = { sender_header: 'X-Sender', auth: 'basic', signature: 'plain', out: { room: 'ops' } }
  const connector = { type: 'parrot', options: { limits: { tokens: 9 }, risky_tools: [], dialect: 'nexo' } }
  const settings = {
    ...defaultSettings({ defaultStore: 'sqlite:x' }),
    integrations: [testIntegration('duty', { platform: 'pager', options })],
    agents: [testAgent('polly', ['duty'], { connector })],
  }
  const foreign = { name: 'x', docs: 'x', create: () => null }
  const deps = {
    adapters: { loadedPlatform: () => foreign, loadedConnector: () => foreign, changed: () => new Set() },
    settings: () => settings,
    clock: { now: () => 2_000 },
    store: { tokens: async () => [] },
    gateway: { servers: () => null },
  } as unknown as Parameters<typeof judgeRunning>[0]
  const report = await judgeRunning(deps, { host: '127.0.0.1', adminTokenChosen: true, files })
  expect(report).toEqual({ findings: [], unjudged: [], files })
})
