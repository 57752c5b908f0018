// What is shown and ordered at the operator's desk: the answers of `/api` and the command line as plain data. Fields may
// be added, none renamed; times are ISO 8601 strings unless the name ends in _ms.
import type { AgentState } from '../agent/agent.ts'
import type { Completeness } from '../message/history.ts'
import type { SendReceipt, Template, Urgency } from '../message/message.ts'
import type { TurnEventRow } from '../message/turn-events.ts'
import type { ServerView } from '../platform/channel-servers.ts'
import type { HealthFinding } from '../platform/health.ts'
import type { NodeView } from '../store/nodes.ts'

export interface StatusReport {
  readonly ready: boolean
  /** What of the health table holds, as `doctor` says it. Absent without a daemon. */
  readonly problems?: readonly HealthFinding[]
  readonly node: string
  readonly version: string
  readonly uptime_ms: number
  /** `config` null: the embedded default. */
  readonly instance: { readonly name: string; readonly config: string | null; readonly data: string }
  readonly integrations: readonly {
    readonly id: string
    readonly platform: string
    readonly link: string
    readonly detail?: string
    readonly last_in_at: string | null
    readonly last_out_at: string | null
    /** How far nothing was missed. `unchecked`: its platform keeps no history that we may read. */
    readonly complete: {
      readonly state: Completeness['state']
      readonly until: string | null
      readonly detail?: string
    }
  }[]
  /** Absent where no channel server is configured. */
  readonly servers?: readonly ServerView[]
  readonly agents: readonly {
    readonly id: string
    readonly connector: string
    readonly attached: boolean
    /** The same word in `doctor` and the console. */
    readonly state: AgentState
    /** Since when it is `unreachable` or `failing`. */
    readonly since?: string
    /** It could not be reached when it was tried last, and nothing has waited for it since: when, and why. */
    readonly was_unreachable?: string
    readonly queued: number
    readonly detail?: string
  }[]
  /** Absent where there are none. */
  readonly schedules?: readonly ScheduleView[]
  readonly counts: Readonly<
    Record<
      'received' | 'refused' | 'consumed' | 'queued' | 'handed' | 'seen' | 'answered' | 'failed' | 'expired',
      number
    >
  >
  /** `sending` rows count as queued. */
  readonly outbox: Readonly<
    Record<'queued' | 'sent' | 'deduplicated' | 'failed' | 'unknown' | 'outcome_open', number>
  >
  /** Of these a person has to make up their mind: what an operator buried is not among them. */
  readonly stuck: { readonly failed: number; readonly unknown: number }
  readonly approvals: { readonly pending: number }
  /** Conversations that a person holds now, and those where one was asked for. */
  readonly held: number
  readonly asked: number
  readonly config: {
    readonly digest: string
    readonly file: string | null
    readonly problem: string | null
    readonly warnings: readonly string[]
  }
  /** All nodes, where there is more than one. */
  readonly nodes?: readonly NodeView[]
  readonly store: {
    readonly kind: string
    readonly durability: string
    /** Why messages cannot be stored now. */
    readonly problem?: string
  }
}

/** What an agent told of its work, as the desk shows it. */
export interface TurnEventView extends Omit<TurnEventRow, 'at'> {
  readonly at: string
}

/** One turn in full. */
export interface TurnDetail extends TurnView {
  readonly events: readonly TurnEventView[]
  /** It may have been seen before: its next hand-over is marked as a repeat. */
  readonly repeat: boolean
  /** What was sent for it, oldest first. */
  readonly sends: readonly SendView[]
  /** What was asked for it; the inputs stand with the approvals themselves. */
  readonly approvals: readonly Omit<ApprovalView, 'input' | 'description'>[]
}

export interface TurnView {
  readonly id: string
  readonly session: string | null
  readonly agent: string | null
  readonly integration: string
  readonly source: string
  readonly address: string
  readonly sender: string
  readonly state: string
  readonly reason: string | null
  readonly attempts: number
  readonly received_at: string
  readonly updated_at: string
  readonly message_id: string
  readonly text: string | null
  /** How long the text is, where a list shows its beginning only. */
  readonly text_chars?: number
  /** It was missed, and found in the history later: `received_at` is then, not when it was said. */
  readonly late: boolean
  /** As its platform shows the sender; pruned with the text. */
  readonly sender_name?: string
  /** What a model used for it, where Switchboard itself asked one. */
  readonly usage?: UsageView
}

export interface UsageView {
  readonly input_tokens: number
  readonly output_tokens: number
  readonly cache_read_tokens: number
  readonly cache_write_tokens: number
  /** Only where `prices` are configured. */
  readonly cost?: number
}

export interface SendView {
  readonly id: string
  readonly to: string
  readonly agent: string | null
  readonly session: string | null
  readonly state: string
  readonly reason: string | null
  readonly detail: string | null
  readonly attempts: number
  readonly platform_ids: readonly string[]
  readonly created_at: string
  readonly updated_at: string
  readonly cause: string
  readonly turn: string | null
  readonly text: string | null
  /** How long the text is, where a list shows its beginning only. */
  readonly text_chars?: number
  /** What the platform told of it later. */
  readonly receipt: SendReceipt | null
}

export interface ApprovalView {
  readonly id: string
  /** Its place in the list: ids are used again, places are not. */
  readonly seq: number
  readonly agent: string
  readonly session: string
  /** The turn that it was asked for; null: not known. */
  readonly turn: string | null
  readonly tool_name: string
  readonly description: string
  readonly input: string
  readonly input_hash: string
  readonly state: string
  readonly behavior: string | null
  /** `person`, `expired` or `unreachable`; null while it is pending, or when it was withdrawn. */
  readonly cause: string | null
  readonly decided_by: string | null
  readonly decided_via: string | null
  /** When it was decided, expired or was withdrawn. */
  readonly decided_at: string | null
  readonly created_at: string
  readonly expires_at: string
  /** Who was asked, and where; told where one approval is asked for by its id. Empty: no chat could be asked. */
  readonly asked?: readonly AskedView[]
}

/** One chat, or channel server, that was asked for a verdict. */
export interface AskedView {
  readonly integration: string
  readonly conversation: string
  readonly thread: string | null
  /** The person (of a channel server: its integration). Null: a group, where any approver may decide. */
  readonly who: string | null
  readonly name: string | null
  /** Of the question's own message: `queued`, `sending` (its outcome is open), `sent`, `failed`, `unknown`. */
  readonly state: string
  readonly reason: string | null
  readonly detail: string | null
}

export interface PairingView {
  readonly code: string
  readonly integration: string
  readonly sender: string
  readonly sender_name: string | null
  readonly expires_at: string
}

/** What a newcomer was granted when they were let in. */
export interface PairedView extends PairingView {
  /** The right to approve was given by itself. */
  readonly approver: boolean
  /** Whose identity the newcomer is. */
  readonly user?: string
  /** The same in words, after the newcomer's name: "may talk". */
  readonly granted: string
}

/** The result of a send, told to tools, `/api/send` and the command line alike. */
export interface SendResult {
  readonly ok: boolean
  readonly status: 'sent' | 'deduplicated' | 'queued' | 'failed'
  readonly platform_ids: readonly string[]
  readonly outbox_id: string | null
  readonly code: string | null
  readonly error: string | null
}

export interface SendOrder {
  /** An address string, or `platform:target`. */
  readonly to: string
  readonly text: string
  readonly thread?: string
  readonly integration?: string
  /** Words that the platform has approved beforehand; `text` is what is kept and shown of them. */
  readonly template?: Template
  readonly idempotency_key?: string
  /** How long to wait for the confirmation. */
  readonly wait_ms?: number
}

export interface NotifyOrder {
  readonly message: string
  /** A type, or `type:integration`; absent: the default. */
  readonly channel?: string
  readonly urgency?: Urgency
  readonly user?: string
}

export interface NotificationView {
  readonly id: string
  readonly user: string
  readonly agent: string | null
  readonly session: string | null
  readonly channel: string
  /** The address that was notified; null: nothing was sent. */
  readonly to: string | null
  readonly message: string | null
  readonly urgency: string
  readonly source: string
  readonly status: string
  readonly error: string | null
  readonly outbox_id: string | null
  readonly at: string
}

/** An integration as it is in force, whether the file or the store defines it. */
export interface IntegrationView {
  readonly id: string
  readonly platform: string
  readonly enabled: boolean
  readonly default: boolean
  /** `all`, `bound`, or the ids of agents. */
  readonly scope: 'all' | 'bound' | readonly string[]
  /** `store` for those that were added by command. */
  readonly origin: string
  readonly link: string
  /** Why the link is as it is, where there is something to say. */
  readonly detail?: string
  /** What to paste elsewhere, line by line, where its platform has something. */
  readonly paste?: readonly string[]
  /** Where a person writes to it: a URL, or a name on its platform. Absent: not known (yet). */
  readonly reach?: string
}

export interface ScheduleView {
  readonly id: string
  readonly agent: string
  readonly cron: string
  readonly tz: string
  readonly prompt: string
  /** Null: it never fires again. */
  readonly next_at: string | null
  /** What came of its last time; null: it has had none. */
  readonly last: { readonly at: string; readonly outcome: string; readonly turn: string | null } | null
}

export interface HookTest {
  readonly recipe: string
  readonly event: string
  readonly request: {
    readonly method: 'POST'
    readonly url: string
    /** Those that hold a secret are masked. */
    readonly headers: Readonly<Record<string, string>>
    readonly bytes: number
  }
  readonly status: number
  readonly answer: string
  /** The turn that it made; null: none. */
  readonly turn: string | null
}

export interface ReplayedTurn {
  /** The new turn; null: its body was not kept. */
  readonly id: string | null
  readonly replay_of: string
  readonly state: string
  readonly reason: string | null
}
