// What `doctor` reports: which door lets whom in, what stands still and which key changes it. Fields may be added, none
// renamed.
import type { AgentState } from '../agent/agent.ts'
import type { ModuleStanding } from '../modules.ts'
import type { ServerView } from '../platform/channel-servers.ts'
import type { HealthFinding } from '../platform/health.ts'
import type { NodeView } from '../store/nodes.ts'
import type { ScheduleView, StatusReport } from './desk-views.ts'
import type { SecurityReport, Severity } from './security.ts'

export interface GateView {
  readonly gate: string
  readonly pass: boolean
  readonly reason: string
  /** The key of the configuration that changes it. */
  readonly key: string
  /** It lets people through, but wider than most would want. */
  readonly flagged?: boolean
  /** A door that stands open, and how bad that is: `doctor --security` lists it. */
  readonly open?: Severity
}

export interface DoctorReport {
  /** No problem of the health table holds. */
  readonly ok: boolean
  /** What of the health table holds, worst first. */
  readonly problems: readonly HealthFinding[]
  readonly config: {
    readonly file: string | null
    readonly digest: string
    readonly problem: string | null
    readonly warnings: readonly string[]
  }
  /** `problem`: why messages cannot be stored now, and where those are that were. */
  readonly store: { readonly kind: string; readonly durability: string; readonly problem?: string }
  /** All nodes, where there is more than one, and what is wrong between them. */
  readonly cluster?: { readonly nodes: readonly NodeView[]; readonly warnings: readonly string[] }
  /** `problem`: the key at hand did not seal all of it. */
  readonly ledger: { readonly foreign_chains: number; readonly problem: string | null }
  /** Platforms and connectors of others. `changed`: the file is not the one that was loaded; `gone`: it is not there. */
  readonly modules?: readonly (ModuleStanding & { readonly changed: boolean; readonly gone?: boolean })[]
  readonly integrations: readonly {
    readonly id: string
    readonly platform: string
    readonly link: string
    readonly detail?: string
    readonly gates: readonly GateView[]
    readonly last_in_at: string | null
    readonly last_out_at: string | null
    /** How far nothing was missed; `late`: how many messages were found late. */
    readonly complete: StatusReport['integrations'][number]['complete'] & { readonly late: number }
    readonly drops: Readonly<Record<string, number>>
    /** What the door refused, most often first: which gate, and the key that would change it. */
    readonly refusals: readonly {
      readonly reason: string
      readonly count: number
      readonly text: string
      readonly key: string
    }[]
    readonly sends_waiting: number
    readonly sends_failed: number
  }[]
  readonly servers?: readonly ServerView[]
  readonly agents: readonly {
    readonly id: string
    readonly connector: string
    readonly attached: boolean
    /** The same word in `status` and the console. */
    readonly state: AgentState
    /** Since when it is `unreachable` or `failing`. */
    readonly since?: string
    /** It could not be reached when it was tried last, and nothing has waited for it since: when, and why. */
    readonly was_unreachable?: string
    readonly detail?: string
    /** Programs that run for it on this node, with the last lines that they wrote to stderr. */
    readonly processes?: readonly {
      readonly name: string
      readonly pid: number
      readonly since: string
      readonly memory_bytes: number | null
      readonly stderr: readonly string[]
    }[]
    readonly queued: number
    readonly bindings: readonly {
      readonly integration: string
      readonly conversations: string
      readonly gates: readonly GateView[]
    }[]
    readonly last_message_at: string | null
    readonly approvals_pending: number
  }[]
  /** Absent where there are none. */
  readonly schedules?: readonly ScheduleView[]
  /** Turns that were handed to a host and of which nothing shows that it saw them, for longer than `unseen_notice`. */
  readonly unseen?: readonly UnseenView[]
  /** Agents that a host wanted to serve and was not let, with the last reason. */
  readonly turned_away?: readonly { readonly agent: string; readonly reason: string; readonly at: string }[]
  /** Tool servers of a service in front whose tools an agent does not get, with the last reason. */
  readonly tools_left_out?: readonly {
    readonly session: string
    readonly server: string
    readonly problem: string
    readonly at: string
  }[]
  /** Where it was asked for. */
  readonly security?: SecurityReport
}

export interface UnseenView {
  readonly turn: string
  readonly agent: string
  /** Which host has it; null: one at another node. */
  readonly host: string | null
  readonly since: string
  /** What is likely closed, and what to do. */
  readonly why: string
  /** More of this agent lie behind it and are not listed; absent: it is the last. */
  readonly more?: true
}
