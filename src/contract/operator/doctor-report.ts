// The report of `doctor`: who may pass each gate, what is stuck, and which key changes it. Fields may be added, none
// renamed.
import type { AgentState } from '../agent/agent.ts'
import type { ModuleStanding } from '../modules.ts'
import type { ServerView } from '../platform/channel-servers.ts'
import type { NodeView } from '../store/nodes.ts'
import type { ScheduleView, StatusReport } from './desk-views.ts'
import type { GateView, HealthFinding, SecurityReport } from './findings.ts'

export interface DoctorReport {
  /** None of `problems` is a problem; warnings may be there. */
  readonly ok: boolean
  /** What stands in the way of messages now, worst first. */
  readonly problems: readonly HealthFinding[]
  readonly config: {
    readonly file: string | null
    readonly digest: string
    readonly problem: string | null
    readonly warnings: readonly string[]
  }
  /** `problem`: why messages cannot be stored now, and where stored ones are. */
  readonly store: { readonly kind: string; readonly durability: string; readonly problem?: string }
  /** All nodes, if there is more than one, and problems between them. */
  readonly cluster?: { readonly nodes: readonly NodeView[]; readonly warnings: readonly string[] }
  /** `problem`: parts were sealed with another key. */
  readonly ledger: { readonly foreign_chains: number; readonly problem: string | null }
  /** Third-party platforms and connectors. `changed`: the file differs from the loaded one; `gone`: it is missing. */
  readonly modules?: readonly (ModuleStanding & { readonly changed: boolean; readonly gone?: boolean })[]
  readonly integrations: readonly {
    readonly id: string
    readonly platform: string
    readonly link: string
    readonly detail?: string
    readonly gates: readonly GateView[]
    readonly last_in_at: string | null
    readonly last_out_at: string | null
    /** Until when nothing was missed; `late`: the number of messages found late. */
    readonly complete: StatusReport['integrations'][number]['complete'] & { readonly late: number }
    readonly drops: Readonly<Record<string, number>>
    /** What the gates refused, most frequent first, with the key that would change it. */
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
    /** Start of `unreachable` or `failing`. */
    readonly since?: string
    /** It was unreachable at the last try, and no turn has waited for it since: when, and why. */
    readonly was_unreachable?: string
    readonly detail?: string
    /** Its programs on this node, with their last lines on stderr. */
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
  /** Turns that were handed to a host without evidence for longer than `unseen_notice`. */
  readonly unseen?: readonly UnseenView[]
  /** Agents whose hosts were refused, with the last reason. */
  readonly turned_away?: readonly { readonly agent: string; readonly reason: string; readonly at: string }[]
  /** Tool servers of a service in front that could not be used, with the last reason. */
  readonly tools_left_out?: readonly {
    readonly session: string
    readonly server: string
    readonly problem: string
    readonly at: string
  }[]
  /** Present on request. */
  readonly security?: SecurityReport
}

export interface UnseenView {
  readonly turn: string
  readonly agent: string
  /** The host that has it; null: a host at another node. */
  readonly host: string | null
  readonly since: string
  /** The likely cause, and what to do. */
  readonly why: string
  /** Further turns of this agent follow unlisted; absent: this is the last. */
  readonly more?: true
}
