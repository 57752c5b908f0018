// What operators see, as plain data: the answers of `/api` and the command line. Fields may be added, none renamed. Times
// are ISO 8601 strings unless the name ends in _ms.
import type { AgentState } from '../agent/agent.ts'
import type { Completeness } from '../message/history.ts'
import type { SendReceipt } from '../message/message.ts'
import type { TurnEventRow } from '../message/turn-events.ts'
import type { ServerView } from '../platform/channel-servers.ts'
import type { NodeView } from '../store/nodes.ts'
import type { HealthFinding } from './findings.ts'

export interface StatusReport {
  readonly ready: boolean
  /** What stands in the way of messages now, as in `doctor`. Absent without a daemon. */
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
    /** Until when nothing was missed. `unchecked`: the platform has no readable history. */
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
    /** Start of `unreachable` or `failing`. */
    readonly since?: string
    /** It was unreachable at the last try, and no turn has waited for it since: when, and why. */
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
  /** Rows that need a person's decision, without those that an operator buried. */
  readonly stuck: { readonly failed: number; readonly unknown: number }
  readonly approvals: { readonly pending: number }
  /** Conversations that a person holds now, and those where one was requested. */
  readonly held: number
  readonly asked: number
  readonly config: {
    readonly digest: string
    readonly file: string | null
    readonly problem: string | null
    readonly warnings: readonly string[]
  }
  /** All nodes, if there is more than one. */
  readonly nodes?: readonly NodeView[]
  readonly store: {
    readonly kind: string
    readonly durability: string
    /** Why messages cannot be stored now. */
    readonly problem?: string
  }
}

/** An agent's report about its work. */
export interface TurnEventView extends Omit<TurnEventRow, 'at'> {
  readonly at: string
  /** The caller may not see `text`, which is null. */
  readonly masked?: true
}

/** One turn in full. */
export interface TurnDetail extends TurnView {
  readonly events: readonly TurnEventView[]
  /** It may have been seen before, so its next hand-over is marked as a repeat. */
  readonly repeat: boolean
  /** Messages sent for it, oldest first. */
  readonly sends: readonly SendView[]
  /** Approvals for it. The approvals themselves contain the inputs. */
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
  /** The full length, where a list shows only the beginning. */
  readonly text_chars?: number
  /** It was missed, and found in the history later. `received_at` is that time, not when it was sent. */
  readonly late: boolean
  /** The sender's name on the platform; pruned with the text. */
  readonly sender_name?: string
  /** A model's token use, if Switchboard itself called one. */
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
  /** The full length, where a list shows only the beginning. */
  readonly text_chars?: number
  /** The platform's later report. */
  readonly receipt: SendReceipt | null
  /** The caller may not see `text`, which is null. */
  readonly masked?: true
}

export interface ApprovalView {
  readonly id: string
  /** Its position in the list. Ids are reused; positions are not. */
  readonly seq: number
  readonly agent: string
  readonly session: string
  /** The turn behind it; null: unknown. */
  readonly turn: string | null
  readonly tool_name: string
  /** `description` and `input` are null with `masked`. */
  readonly description: string | null
  readonly input: string | null
  readonly masked?: true
  readonly input_hash: string
  readonly state: string
  readonly behavior: string | null
  /** `person`, `expired` or `unreachable`; null while pending, or when withdrawn. */
  readonly cause: string | null
  readonly decided_by: string | null
  readonly decided_via: string | null
  /** When it was decided, expired or was withdrawn. */
  readonly decided_at: string | null
  readonly created_at: string
  readonly expires_at: string
  /** Who was asked, and where. Present when one approval is requested by its id. Empty: no chat could be asked. */
  readonly asked?: readonly AskedView[]
}

/** One chat, or channel server, that was asked for a verdict. */
export interface AskedView {
  readonly integration: string
  readonly conversation: string
  readonly thread: string | null
  /** The person, or for a channel server its integration. Null: a group, where any approver may decide. */
  readonly who: string | null
  readonly name: string | null
  /** The state of the question's message: `queued`, `sending` (its outcome is open), `sent`, `failed`, `unknown`. */
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

/** The result of a send, for tools, `/api/send` and the command line. */
export interface SendResult {
  readonly ok: boolean
  readonly status: 'sent' | 'deduplicated' | 'queued' | 'failed'
  readonly platform_ids: readonly string[]
  readonly outbox_id: string | null
  readonly code: string | null
  readonly error: string | null
}

export interface NotificationView {
  readonly id: string
  readonly user: string
  readonly agent: string | null
  readonly session: string | null
  readonly channel: string
  /** The notified address; null: nothing was sent. */
  readonly to: string | null
  readonly message: string | null
  readonly urgency: string
  readonly source: string
  readonly status: string
  readonly error: string | null
  readonly outbox_id: string | null
  readonly at: string
}

/** An integration in force, defined by the file or the store. */
export interface IntegrationView {
  readonly id: string
  readonly platform: string
  readonly enabled: boolean
  readonly default: boolean
  /** `all`, `bound`, or the ids of agents. */
  readonly scope: 'all' | 'bound' | readonly string[]
  /** `store` for integrations added by command. */
  readonly origin: string
  readonly link: string
  /** Why the link is in this state, if there is a reason. */
  readonly detail?: string
  /** Lines to paste elsewhere, if its platform has some. */
  readonly paste?: readonly string[]
  /** Where a person writes to it: a URL, or a name on its platform. Absent: unknown so far. */
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
  /** The result of its last time; null: none yet. */
  readonly last: { readonly at: string; readonly outcome: string; readonly turn: string | null } | null
}
