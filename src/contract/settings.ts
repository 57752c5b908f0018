// The configuration as the rest of the house sees it: validated, with defaults, references not yet resolved.
// `config` makes it from switchboard.yaml; nobody else reads files or the environment.
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
  /** Requests for approval that name no chat are shown here, too. */
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
  /** The platform's own keys, validated by the platform's schema. Secrets are still references. */
  readonly options: Readonly<Record<string, unknown>>
  /** By its module: messages come in and nothing can be said back. */
  readonly oneWay?: true
  /** By its module: nothing proves that senders are who they say. */
  readonly unproven?: true
  /** Reaction once the agent has the message; absent: the tunable. */
  readonly ackReaction?: string
  /** Which parts of an answer quote the message they answer. */
  readonly replyToMode?: 'off' | 'first' | 'all'
  /** Code points per message; the platform's own limit still holds. */
  readonly textChunkLimit?: number
  /** What its turns are logged as; absent: `<platform>:<id>`. */
  readonly source?: string
  /** Why it cannot run, whatever is tried: its options do not hold any more. It stays down. */
  readonly problem?: string
  /** Where it came from, for doctor: `integrations[0]`, `embedded default: integrations[0]`, `store`, `mcp_servers.slack`. */
  readonly origin: string
}

export interface Binding {
  readonly plugin: string
  /** The integration's id. */
  readonly instance: string
  /** `chat` or `chat/topic`; absent: all that no other binding took. */
  readonly conversations?: readonly string[]
  readonly allowedChannelServers: readonly string[]
  /** Limit per sender in this binding; absent: the tunable sender limit. */
  readonly senderLimit?: RateLimit
  /** Which binding of the file the limit stands in; absent: this one. */
  readonly limitedBy?: number
  /** What the agent is told about this place (Chorus `channel.context`). */
  readonly context?: string
  /** Which tools may run for what is said here. Absent: all of them, as the rest of the configuration has it. */
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
  /** Tools of the agent that only read, by the operator's word: they run where the trust is `read_only`. */
  readonly readOnlyTools?: readonly string[]
  readonly origin: string
}

export interface ChannelsSettings {
  readonly enabled: boolean
  /** Code points; 0 = no cap. */
  readonly maxContentChars: number
  readonly defaultRateLimit: RateLimit | null
  readonly approved: readonly {
    readonly server: string
    readonly pluginSource: string | null
    readonly outboundToolName: string
    /** Which arguments of the tool hold what; absent: its own schema decides. */
    readonly outboundArguments?: OutboundArguments
    /** The server has one conversation: a reply needs no argument that names it. */
    readonly singleConversation?: boolean
    readonly rateLimit: RateLimit | null
  }[]
}

/** Arguments of a server's outbound tool, and what each is given. */
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

/** `viewer` reads; neither secrets nor the inputs of approvals. `owner` and `operator` may hold a conversation. */
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
  /** All senders of an integration together who may not speak: they take nothing from those who may. */
  readonly strangerLimit: RateLimit
  readonly recipientLimit: RateLimit
  readonly toolWaitMs: number
  /** How long after the holder's last word a takeover ends by itself; 0: never. */
  readonly takeoverTimeoutMs: number
  readonly unknownPolicy: 'note' | 'hold'
  /** Bodies older than this are pruned; 0 keeps them. */
  readonly bodyRetentionMs: number
  /** Attachments likewise, counted from the end of `queueExpiryMs`. */
  readonly attachmentRetentionMs: number
  /** Settled rows likewise; never less than 30 days. */
  readonly rowRetentionMs: number
  /** Ledger entries likewise, where their rows are gone. */
  readonly ledgerRetentionMs: number
  readonly maxBodyBytes: number
  readonly sendRetryBaseMs: number
  readonly sendRetryMaxMs: number
  /** How long a send is tried, and the platform is asked what became of it. */
  readonly sendExpiryMs: number
  readonly ackReaction: string
  /** Folders whose files may be attached, as they were written; null: the default ones. */
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

/** Where a daemon listens unless told otherwise. */
export const DEFAULT_PORT = 4747

export interface Settings {
  readonly server: {
    readonly host: string
    readonly port: number
    /** It was written down: where it is taken no other one will do. */
    readonly portChosen?: boolean
    readonly publicUrl: string | null
    /** Addresses and networks of proxies whose X-Forwarded-For is believed. Absent: none. */
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
  /** Platforms and connectors of others, as they were found. Absent: none is named. */
  readonly modules?: readonly ModuleStanding[]
  /** SHA-256 over the meaning of the configuration: nodes compare it. */
  readonly digest: string
  /** Things that load but deserve a word: platforms not built yet, approved servers configured nowhere. */
  readonly warnings: readonly string[]
}
