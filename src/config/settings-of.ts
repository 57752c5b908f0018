// From the validated file to Settings: camelCase keys, and the defaults of each platform.
import { isAbsolute, resolve } from 'node:path'
import {
  type AccessPolicy,
  type AgentSettings,
  type Binding,
  CHANNEL_DM,
  type ChannelsSettings,
  DEFAULT_PORT,
  defined,
  type IntegrationSettings,
  type ModuleStanding,
  type Settings,
  type TakeoverSettings,
  type Tunables,
} from '../contract/index.ts'
import { askModule } from './ask-module.ts'
import { withChannelServers } from './channel-integrations.ts'
import { instanceOf } from './check-bindings.ts'
import { defaultAccessOf } from './default-access.ts'
import { digestSteps } from './digest.ts'
import { writtenPath } from './instance/written-path.ts'
import type { AccessConfig, PolicyConfig } from './schema/access.ts'
import type { AgentConfig } from './schema/agents.ts'
import type { Config } from './schema/index.ts'
import type { IntegrationConfig } from './schema/integrations.ts'

/** The files that the configuration points to. `load` reads them, so that this stays pure. */
export interface SideFiles {
  /** A policy file. With a `problem` nobody is admitted. */
  readonly access: (file: string) => { readonly policy: PolicyConfig } | { readonly problem: string }
  readonly messaging: (file: string, agent: string) => readonly string[]
  /** From messaging.json beside the file, for agents without a `messaging` key. */
  readonly messagingBeside: (agent: string) => readonly string[]
}

export interface SettingsPlace {
  /** Folder of the file: relative paths start here. */
  readonly folder: string
  /** Store to use when the file names none. */
  readonly defaultStore: string
  /** The result for each entry of `modules`. */
  readonly modules: readonly ModuleStanding[]
}

/** Yields between parts of a large configuration. */
export function* settingsOf(
  config: Config,
  side: SideFiles,
  place: SettingsPlace,
  warnings: readonly string[],
): Generator<void, Settings> {
  const { host, port, public_url, trusted_proxies, admin_token } = config.server
  const plain = withChannelServers<Omit<Settings, 'digest' | 'warnings'>>({
    server: {
      host,
      port: port ?? DEFAULT_PORT,
      ...(port === undefined ? {} : { portChosen: true }),
      publicUrl: public_url === undefined ? null : public_url.replace(/(?<!\/)\/+$/, ''),
      ...defined({ adminToken: admin_token, trustedProxies: trusted_proxies }),
    },
    store: storeOf(config.store, place),
    integrations: config.integrations.map((one, index) => integrationOf(one, index, config, side)),
    agents: config.agents.map((one, index) => agentOf(one, index, config, side)),
    mcpServers: Object.entries(config.mcp_servers).map(([name, { access, ...options }]) => ({
      name,
      options: {
        ...options,
        ...(access === undefined ? {} : { access: policyOf(access, CHANNEL_DM, [], side) }),
      },
    })),
    users: config.users.map((user) => ({
      id: user.id,
      identities: user.identities,
      notifyTo: user.notify_to ?? null,
      roles: user.roles,
    })),
    tunables: tunablesOf(config),
    takeover: takeoverOf(config),
    ...(place.modules.length === 0 ? {} : { modules: place.modules }),
  })
  // The path of the store belongs to this node, not to the meaning of the configuration.
  const meaning = {
    ...plain,
    store: plain.store.startsWith('sqlite:') ? 'sqlite' : withoutPassword(plain.store),
    // The path of a module has no meaning, but its version has: two versions make two digests.
    ...(plain.modules ? { modules: plain.modules.map(({ file: _file, ...one }) => one) } : {}),
  }
  yield
  const digest = yield* digestSteps(meaning)
  // After the digest: the path of the file has no meaning.
  const mcpServers = plain.mcpServers.map((one) => ({ ...one, options: placed(one.options, place.folder) }))
  return { ...plain, mcpServers, digest, warnings }
}

/** A program of the file runs in the folder of the file, wherever the daemon was started. A plugin has its own folder. */
function placed(options: Readonly<Record<string, unknown>>, folder: string) {
  const cwd = options.cwd ?? (options.command === undefined ? undefined : '.')
  return typeof cwd === 'string' ? { ...options, cwd: writtenPath(folder, cwd) } : options
}

export function integrationOf(
  one: IntegrationConfig,
  index: number,
  config: Config,
  side: SideFiles,
): IntegrationSettings {
  const { dm, approvers = [], allowFrom = [] } = defaultAccessOf(one.adapter, one.options)
  const access = withOwn(policyOf(one.access, dm, config.tunables.mention_patterns, side), allowFrom)
  const { reply_to_mode, text_chunk_limit } = config.tunables
  const chunk = one.text_chunk_limit ?? text_chunk_limit
  return {
    id: one.id,
    platform: one.platform,
    enabled: one.enabled,
    default: one.default,
    scope: one.scope ?? 'bound',
    access:
      access.readable && access.approvers.length === 0 && approvers.length > 0
        ? { ...access, approvers, approversByDefault: true }
        : access,
    options: one.options,
    ...(askModule(() => one.adapter?.oneWay?.(one.options)) === true ? { oneWay: true as const } : {}),
    ...(askModule(() => one.adapter?.provesSenders?.(one.options) ?? true) === true
      ? {}
      : { unproven: true as const }),
    ackReaction: one.ack_reaction ?? config.tunables.ack_reaction,
    replyToMode: one.reply_to_mode ?? reply_to_mode,
    ...defined({ textChunkLimit: chunk }),
    origin: `integrations[${index}]`,
  }
}

/** A policy that cannot be read admits none of them. */
function withOwn(access: AccessPolicy, own: readonly string[]): AccessPolicy {
  if (!access.readable || own.length === 0) return access
  return { ...access, allowFrom: [...new Set([...access.allowFrom, ...own])] }
}

type Dm = 'pairing' | 'allowlist' | 'disabled' | 'credential'

function policyOf(
  access: AccessConfig | undefined,
  dm: Dm,
  mentionPatterns: readonly string[],
  side: SideFiles,
): AccessPolicy {
  if (access?.file !== undefined) {
    const read = side.access(access.file)
    return 'problem' in read
      ? { readable: false, problem: read.problem }
      : readable(read.policy, dm, mentionPatterns)
  }
  return readable(access, dm, mentionPatterns)
}

function readable(
  policy: PolicyConfig | undefined,
  dm: Dm,
  mentionPatterns: readonly string[],
): AccessPolicy {
  const groups = Object.entries(policy?.groups ?? {}).map(
    ([group, { require_mention, allow_from, approvals }]) => [
      group,
      {
        requireMention: require_mention,
        allowFrom: allow_from,
        ...(approvals ? { approvals: true as const } : {}),
      },
    ],
  )
  return {
    readable: true,
    dm: policy?.dm ?? dm,
    allowFrom: policy?.allow_from ?? [],
    approvers: policy?.approvers ?? [],
    groups: Object.fromEntries(groups),
    mentionPatterns: policy?.mention_patterns ?? mentionPatterns,
  }
}

function agentOf(one: AgentConfig, index: number, config: Config, side: SideFiles): AgentSettings {
  const { type, options } = one.connector
  const { channels, messaging } = one
  return {
    id: one.id,
    connector: { type, options },
    bindings: one.inbound_bindings.map(
      (binding): Binding => ({
        plugin: binding.plugin,
        instance: instanceOf(config, binding),
        ...defined({ conversations: binding.conversations }),
        allowedChannelServers: binding.allowed_channel_servers,
        ...defined({ senderLimit: binding.rate_limit, context: binding.context }),
        ...(binding.trust === 'full' ? {} : { trust: binding.trust }),
      }),
    ),
    channels: channelsOf(channels),
    schedules: one.schedules,
    notifyOn: one.notify_on,
    messagingAllow:
      messaging === undefined
        ? side.messagingBeside(one.id)
        : messaging.file === undefined
          ? (messaging.allow ?? [])
          : side.messaging(messaging.file, one.id),
    ...(one.read_only_tools.length === 0 ? {} : { readOnlyTools: one.read_only_tools }),
    origin: `agents[${index}]`,
  }
}

export function channelsOf(channels: AgentConfig['channels']): ChannelsSettings | null {
  if (channels === undefined) return null
  return {
    enabled: channels.enabled,
    maxContentChars: channels.max_content_chars,
    defaultRateLimit: channels.default_rate_limit ?? null,
    approved: channels.approved.map((entry) => ({
      server: entry.server,
      pluginSource: entry.plugin_source ?? null,
      outboundToolName: entry.outbound_tool_name,
      ...defined({
        outboundArguments: entry.outbound_arguments,
        singleConversation: entry.single_conversation,
      }),
      rateLimit: entry.rate_limit ?? null,
    })),
  }
}

function tunablesOf({ tunables: t, retention }: Config): Tunables {
  return {
    maxAttempts: t.max_attempts,
    redeliverAfterMs: t.redeliver_after,
    unseenNoticeMs: t.unseen_notice,
    queueExpiryMs: t.queue_expiry,
    approvalExpiryMs: t.approval_expiry,
    senderLimit: t.sender_limit,
    floodLimit: t.flood_limit,
    strangerLimit: t.stranger_limit,
    recipientLimit: t.recipient_limit,
    toolWaitMs: t.tool_wait,
    takeoverTimeoutMs: t.takeover_timeout,
    unknownPolicy: t.unknown_policy,
    bodyRetentionMs: retention.bodies,
    attachmentRetentionMs: retention.attachments ?? retention.bodies,
    rowRetentionMs: retention.rows,
    ledgerRetentionMs: retention.ledger,
    maxBodyBytes: t.max_body_bytes,
    sendRetryBaseMs: t.send_retry_base,
    sendRetryMaxMs: t.send_retry_max,
    sendExpiryMs: t.send_expiry,
    ackReaction: t.ack_reaction,
    sendRoots: t.send_roots ?? null,
  }
}

function takeoverOf({ takeover: { as, human } }: Config): TakeoverSettings {
  return { as, human: human === true ? 'all' : human === false ? [] : human }
}

function storeOf(store: string | undefined, place: SettingsPlace): string {
  if (store === undefined) return place.defaultStore
  if (!store.startsWith('sqlite:')) return store
  const path = store.slice('sqlite:'.length)
  return path === ':memory:' || isAbsolute(path) ? store : `sqlite:${resolve(place.folder, path)}`
}

/** The address of a store without its password, for output. */
function withoutPassword(store: string): string {
  return store
    .replace(/^(postgres(?:ql)?:\/\/[^:@/]*):[^@]*@/, '$1:•••@')
    .replace(/([?&]password=)[^&]*/gi, '$1•••')
}
