// The embedded default, which `switchboard up` runs without a file: web chat, a two-way webhook, the demo agent.
import {
  type AccessPolicy,
  DEFAULT_PORT,
  DEFAULT_TAKEOVER,
  DEFAULT_TUNABLES,
  type IntegrationSettings,
  type Settings,
  WEB_OWNER,
} from '../contract/index.ts'
import { digestOf } from './digest.ts'

/** The prefix of keys that stand in no file, so that people do not search a file for them. */
export const EMBEDDED_ORIGIN = 'embedded default: '

export function defaultSettings(options: { readonly defaultStore: string }): Settings {
  const plain: Omit<Settings, 'digest' | 'warnings'> = {
    server: { host: '127.0.0.1', port: DEFAULT_PORT, publicUrl: null },
    store: options.defaultStore,
    integrations: [
      integration(
        'web',
        'web',
        {},
        {
          ...{ dm: 'credential', allowFrom: [], approvers: [WEB_OWNER] },
          approversByDefault: true,
        },
      ),
      // Trusts a header, which is safe on loopback only. The webhook platform refuses it from elsewhere.
      integration(
        'demo',
        'webhook',
        { sender_header: 'X-Sender', behind_proxy: false, two_way: true },
        { dm: 'allowlist', allowFrom: ['dev'], approvers: ['dev'] },
      ),
    ],
    agents: [
      {
        id: 'demo',
        connector: { type: 'demo', options: {} },
        bindings: [
          { plugin: 'web', instance: 'web', allowedChannelServers: [] },
          { plugin: 'webhook', instance: 'demo', allowedChannelServers: [] },
        ],
        channels: null,
        schedules: [],
        notifyOn: 'none',
        messagingAllow: [],
        origin: `${EMBEDDED_ORIGIN}agents[0]`,
      },
    ],
    mcpServers: [],
    users: [],
    tunables: DEFAULT_TUNABLES,
    takeover: DEFAULT_TAKEOVER,
  }
  return { ...plain, digest: digestOf({ ...plain, store: 'sqlite' }), warnings: [] }
}

function integration(
  id: string,
  platform: string,
  options: Readonly<Record<string, unknown>>,
  access: Pick<
    Extract<AccessPolicy, { readable: true }>,
    'dm' | 'allowFrom' | 'approvers' | 'approversByDefault'
  >,
): IntegrationSettings {
  return {
    id,
    platform,
    enabled: true,
    default: id === 'web',
    scope: 'bound',
    access: { readable: true, ...access, groups: {}, mentionPatterns: [] },
    options,
    ackReaction: DEFAULT_TUNABLES.ackReaction,
    replyToMode: 'first',
    origin: `${EMBEDDED_ORIGIN}integrations[${id === 'web' ? 0 : 1}]`,
  }
}
