// The validated configuration, with defaults and unresolved references. `config` makes it from switchboard.yaml; no
// other folder reads files or the environment.
import type { ModuleStanding } from './modules.ts'
import type { TakeoverSettings } from './platform/takeover.ts'

export interface RateLimit {
  /** 0/0 = no limit. */
  readonly rps: number
  readonly burst: number
}

export interface GroupPolicy {
  readonly requireMention: boolean
  /** Empty: the integration's. ['*']: any member. */
  readonly allowFrom: readonly string[]
  /** Approval requests without a chat are shown here, too. */
  readonly approvals?: true
}

export type AccessPolicy =
  | {
      readonly readable: true
      /** `credential`: the platform's own credential is the gate (web token, webhook HMAC, Chorus secret). */
      readonly dm: 'pairing' | 'allowlist' | 'disabled' | 'credential'
      readonly allowFrom: readonly string[]
      readonly approvers: readonly string[]
      /** The file names none: they are the platform's own. */
      readonly approversByDefault?: true
      readonly groups: Readonly<Record<string, GroupPolicy>>
      readonly mentionPatterns: readonly string[]
    }
  | { readonly readable: false; readonly problem: string }

export interface IntegrationSettings {
  readonly id: string
  readonly platform: string
  readonly enabled: boolean
  readonly default: boolean
  readonly scope: 'all' | 'bound' | { readonly agents: readonly string[] }
  readonly access: AccessPolicy
  /** The platform's own keys, validated by its schema. Secrets are still references. */
  readonly options: Readonly<Record<string, unknown>>
  /** By its module: messages come in, and nothing can be sent back. */
  readonly oneWay?: true
  /** By its module: the identity of senders is unproven. */
  readonly unproven?: true
  /** Reaction once the agent has the message; absent: the tunable. */
  readonly ackReaction?: string
  /** Which parts of an answer quote the message they answer. */
  readonly replyToMode?: 'off' | 'first' | 'all'
  /** Code points per message; the platform's own limit still applies. */
  readonly textChunkLimit?: number
  /** The source of its turns in the log; absent: `<platform>:<id>`. */
  readonly source?: string
  /** Why it cannot run at all: its options are no longer valid. It stays down. */
  readonly problem?: string
  /** Its origin, for doctor: `integrations[0]`, `embedded default: integrations[0]`, `store`, `mcp_servers.slack`. */
  readonly origin: string
}

export interface Binding {
  readonly plugin: string
  /** The integration's id. */
  readonly instance: string
  /** `chat` or `chat/topic`; absent: everything that no other binding takes. */
  readonly conversations?: readonly string[]
  readonly allowedChannelServers: readonly string[]
  /** Limit per sender in this binding; absent: the tunable sender limit. */
  readonly senderLimit?: RateLimit
  /** The binding of the file that contains the limit; absent: this one. */
  readonly limitedBy?: number
  /** The agent's context for this place (Chorus `channel.context`). */
  readonly context?: string
  /** Which tools may run for messages from here. Absent: all, subject to the rest of the configuration. */
  readonly trust?: 'read_only' | 'none'
}

export interface AgentSettings {
  readonly id: string
  readonly connector: { readonly type: string; readonly options: Readonly<Record<string, unknown>> }
  readonly bindings: readonly Binding[]
  readonly channels: ChannelsSettings | null
  readonly schedules: readonly ScheduleSettings[]
  readonly notifyOn: 'none' | 'completion' | 'failure' | 'both'
  /** `platform:target`, `platform:*`, `*`. */
  readonly messagingAllow: readonly string[]
  /** Tools of the agent that only read, by the operator's word. They run where the trust is `read_only`. */
  readonly readOnlyTools?: readonly string[]
  readonly origin: string
}

export interface ChannelsSettings {
  readonly enabled: boolean
  /** Code points; 0 = no limit. */
  readonly maxContentChars: number
  readonly defaultRateLimit: RateLimit | null
  readonly approved: readonly {
    readonly server: string
    readonly pluginSource: string | null
    readonly outboundToolName: string
    /** The meaning of the tool's arguments; absent: its own schema decides. */
    readonly outboundArguments?: OutboundArguments
    /** The server has one conversation, so a reply needs no argument that names it. */
    readonly singleConversation?: boolean
    readonly rateLimit: RateLimit | null
  }[]
}

/** Arguments of a server's outbound tool, and the value of each. */
export type OutboundArguments = Readonly<Record<string, 'target' | 'body' | 'thread'>>

export interface ScheduleSettings {
  readonly id: string
  readonly cron: string
  readonly tz: string
  readonly prompt: string
  readonly missed: 'run' | 'skip'
}

export interface UserSettings {
  readonly id: string
  /** `integration:sender`. */
  readonly identities: readonly string[]
  readonly notifyTo: string | null
  readonly roles: readonly Role[]
}

/** `viewer` reads, except secrets and the inputs of approvals. `owner` and `operator` may hold a conversation. */
export const ROLES = ['owner', 'approver', 'operator', 'viewer'] as const
export type Role = (typeof ROLES)[number]

export interface Tunables {
  readonly maxAttempts: number
  readonly redeliverAfterMs: number
  readonly unseenNoticeMs: number
  readonly queueExpiryMs: number
  readonly approvalExpiryMs: number
  readonly senderLimit: RateLimit
  /** Per integration, before anything is parsed. */
  readonly floodLimit: RateLimit
  /** All refused senders of an integration together, so that they take nothing from admitted ones. */
  readonly strangerLimit: RateLimit
  readonly recipientLimit: RateLimit
  readonly toolWaitMs: number
  /** Time after the holder's last message when a takeover ends by itself; 0: never. */
  readonly takeoverTimeoutMs: number
  readonly unknownPolicy: 'note' | 'hold'
  /** Bodies older than this are pruned; 0 keeps them. */
  readonly bodyRetentionMs: number
  /** The same for attachments, counted from the end of `queueExpiryMs`. */
  readonly attachmentRetentionMs: number
  /** The same for settled rows; never less than 30 days. */
  readonly rowRetentionMs: number
  /** The same for ledger entries whose rows are gone. */
  readonly ledgerRetentionMs: number
  readonly maxBodyBytes: number
  readonly sendRetryBaseMs: number
  readonly sendRetryMaxMs: number
  /** How long a send is tried, and the platform is asked about it. */
  readonly sendExpiryMs: number
  readonly ackReaction: string
  /** Folders whose files may be attached, as written; null: the default ones. */
  readonly sendRoots: readonly string[] | null
}

export const DEFAULT_TUNABLES: Tunables = {
  maxAttempts: 5,
  redeliverAfterMs: 15 * 60_000,
  unseenNoticeMs: 2 * 60_000,
  queueExpiryMs: 7 * 24 * 3_600_000,
  approvalExpiryMs: 10 * 60_000,
  senderLimit: { rps: 20, burst: 500 },
  floodLimit: { rps: 200, burst: 2_000 },
  strangerLimit: { rps: 1, burst: 30 },
  recipientLimit: { rps: 1, burst: 30 },
  toolWaitMs: 10_000,
  takeoverTimeoutMs: 30 * 60_000,
  unknownPolicy: 'note',
  bodyRetentionMs: 0,
  attachmentRetentionMs: 0,
  rowRetentionMs: 0,
  ledgerRetentionMs: 0,
  maxBodyBytes: 1_048_576,
  sendRetryBaseMs: 1_000,
  sendRetryMaxMs: 300_000,
  sendExpiryMs: 24 * 3_600_000,
  ackReaction: '',
  sendRoots: null,
}

export interface McpServerSettings {
  readonly name: string
  readonly options: Readonly<Record<string, unknown>>
}

/** The default port of a daemon. */
export const DEFAULT_PORT = 4747

export interface Settings {
  readonly server: {
    readonly host: string
    readonly port: number
    /** The port was configured, so no other is tried when it is in use. */
    readonly portChosen?: boolean
    readonly publicUrl: string | null
    /** Addresses and networks of proxies whose X-Forwarded-For is trusted. Absent: none. */
    readonly trustedProxies?: readonly string[]
    /** A reference; absent: SWITCHBOARD_ADMIN_TOKEN or the one in the data folder. */
    readonly adminToken?: string
  }
  readonly store: string
  readonly integrations: readonly IntegrationSettings[]
  readonly agents: readonly AgentSettings[]
  readonly mcpServers: readonly McpServerSettings[]
  readonly users: readonly UserSettings[]
  readonly tunables: Tunables
  /** Absent: `DEFAULT_TAKEOVER`. */
  readonly takeover?: TakeoverSettings
  /** Third-party platforms and connectors, with the result of loading them. Absent: none is named. */
  readonly modules?: readonly ModuleStanding[]
  /** SHA-256 over the meaning of the configuration: nodes compare it. */
  readonly digest: string
  /** Valid but notable settings: platforms not built yet, approved servers that are not configured. */
  readonly warnings: readonly string[]
}
