// Settings for tests: small and complete. A test can override everything.
import {
  type AgentSettings,
  DEFAULT_TUNABLES,
  type IntegrationSettings,
  type Settings,
  type Tunables,
} from '../contract/index.ts'

/** Access by the platform's own credential alone: every sender passes. */
export const OPEN = {
  readable: true,
  dm: 'credential',
  allowFrom: [],
  approvers: [],
  groups: {},
  mentionPatterns: [],
} as const satisfies IntegrationSettings['access']

export function testIntegration(id: string, over: Partial<IntegrationSettings> = {}): IntegrationSettings {
  return {
    id,
    platform: 'test',
    enabled: true,
    default: false,
    scope: 'bound',
    access: OPEN,
    options: {},
    origin: 'integrations[0]',
    ...over,
  }
}

export function testAgent(
  id: string,
  integrations: readonly string[],
  over: Partial<AgentSettings> = {},
): AgentSettings {
  return {
    id,
    connector: { type: 'test', options: {} },
    bindings: integrations.map((instance) => ({ plugin: 'test', instance, allowedChannelServers: [] })),
    channels: null,
    schedules: [],
    notifyOn: 'none',
    messagingAllow: [],
    origin: 'agents[0]',
    ...over,
  }
}

export interface TestSettings {
  readonly integrations?: readonly IntegrationSettings[]
  /** A plain name becomes an agent with a catch-all binding to every integration. */
  readonly agents?: readonly (string | AgentSettings)[]
  readonly users?: Settings['users']
  readonly mcpServers?: Settings['mcpServers']
  readonly tunables?: Partial<Tunables>
  readonly takeover?: Settings['takeover']
}

const NONE = { rps: 0, burst: 0 }
const UNLIMITED = { senderLimit: NONE, floodLimit: NONE, strangerLimit: NONE }

export function testSettings({
  integrations = [testIntegration('chat')],
  agents = ['demo'],
  users = [],
  mcpServers = [],
  tunables = {},
  takeover,
}: TestSettings = {}): Settings {
  const all = integrations.map((one) => one.id)
  return {
    server: { host: '127.0.0.1', port: 0, publicUrl: null },
    store: 'sqlite::memory:',
    integrations,
    agents: agents.map((one) => (typeof one === 'string' ? testAgent(one, all) : one)),
    mcpServers,
    users,
    // Tests send many messages at once, so limits are off. Tests of limits set them.
    tunables: { ...DEFAULT_TUNABLES, ...UNLIMITED, ...tunables },
    ...(takeover ? { takeover } : {}),
    digest: 'test',
    warnings: [],
  }
}
