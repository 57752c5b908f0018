// The report of `doctor`: who may pass each gate, what is stuck, and which key changes it. Fields may be added, none
// renamed.
import type { ModuleStanding } from '../modules.ts'
import type { NodeView } from '../store/nodes.ts'
import type { GateView, HealthFinding, SecurityReport } from './findings.ts'
import type { StatusReport } from './views.ts'

type IntegrationStatus = StatusReport['integrations'][number]

export interface DoctorReport extends Pick<StatusReport, 'config' | 'store' | 'servers' | 'schedules'> {
  /** None of `problems` is a problem; warnings may be there. */
  readonly ok: boolean
  /** What stands in the way of messages now, worst first. */
  readonly problems: readonly HealthFinding[]
  /** All nodes, if there is more than one, and problems between them. */
  readonly cluster?: { readonly nodes: readonly NodeView[]; readonly warnings: readonly string[] }
  /** `problem`: parts were sealed with another key. */
  readonly ledger: { readonly foreign_chains: number; readonly problem: string | null }
  /** Third-party platforms and connectors. `changed`: the file differs from the loaded one; `gone`: it is missing. */
  readonly modules?: readonly (ModuleStanding & { readonly changed: boolean; readonly gone?: boolean })[]
  readonly integrations: readonly (IntegrationStatus & {
    readonly gates: readonly GateView[]
    /** `late`: the number of messages found late. */
    readonly complete: IntegrationStatus['complete'] & { readonly late: number }
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
  })[]
  readonly agents: readonly (StatusReport['agents'][number] & {
    /** Its programs on this node, with their last lines on stderr. */
    readonly processes?: readonly {
      readonly name: string
      readonly pid: number
      readonly since: string
      readonly memory_bytes: number | null
      readonly stderr: readonly string[]
    }[]
    readonly bindings: readonly {
      readonly integration: string
      readonly conversations: string
      readonly gates: readonly GateView[]
    }[]
    readonly last_message_at: string | null
    readonly approvals_pending: number
  })[]
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
