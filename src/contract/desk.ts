// The operator's desk: what `/api` serves and the command line asks. One interface, two speakers: the daemon
// implements all of it; a command without a daemon gets a desk that only reads. Field names are what scripts rely on
// (fields may be added, none renamed); times are ISO 8601 strings unless the name ends in _ms.
import type { ServerView } from './channel-servers.ts'
import type { Urgency } from './message.ts'
import type { ModuleStanding } from './modules.ts'
import type { NodeView } from './nodes.ts'
import type { ErasedPerson, PersonLine } from './person.ts'
import type { AuditReport, LedgerEntry, SendFilter, TurnFilter } from './records.ts'
import type { SecurityReport } from './security.ts'
import type { TurnEventRow } from './turn-events.ts'

export interface StatusReport {
  readonly ready: boolean
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
    /** `behind`: the database was restored from a backup of then, and what came since is not in it. */
    readonly complete?: { readonly state: 'behind'; readonly until: string }
  }[]
  /** Absent where no channel server is configured. */
  readonly servers?: readonly ServerView[]
  readonly agents: readonly {
    readonly id: string
    readonly connector: string
    readonly attached: boolean
    readonly queued: number
    readonly detail?: string
  }[]
  readonly counts: Readonly<
    Record<
      'received' | 'refused' | 'consumed' | 'queued' | 'handed' | 'seen' | 'answered' | 'failed' | 'expired',
      number
    >
  >
  /** `sending` rows count as queued. */
  readonly outbox: Readonly<Record<'queued' | 'sent' | 'deduplicated' | 'failed' | 'unknown', number>>
  readonly approvals: { readonly pending: number }
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
}

export interface ApprovalView {
  readonly id: string
  /** Its place in the list: ids are used again, places are not. */
  readonly seq: number
  readonly agent: string
  readonly session: string
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
  readonly decided_at: string | null
  readonly created_at: string
  readonly expires_at: string
}

export interface PairingView {
  readonly code: string
  readonly integration: string
  readonly sender: string
  readonly sender_name: string | null
  readonly expires_at: string
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
}

export interface GateView {
  readonly gate: string
  readonly pass: boolean
  readonly reason: string
  /** The key of the configuration that changes it. */
  readonly key: string
  /** It lets people through, but wider than most would want. */
  readonly flagged?: boolean
}

export interface DoctorReport {
  readonly ok: boolean
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
  /** Platforms and connectors of others. `changed`: the file is not the one that was loaded. */
  readonly modules?: readonly (ModuleStanding & { readonly changed: boolean })[]
  readonly integrations: readonly {
    readonly id: string
    readonly platform: string
    readonly link: string
    readonly detail?: string
    readonly gates: readonly GateView[]
    readonly last_in_at: string | null
    readonly last_out_at: string | null
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
    readonly detail?: string
    readonly queued: number
    readonly bindings: readonly {
      readonly integration: string
      readonly conversations: string
      readonly gates: readonly GateView[]
    }[]
    readonly last_message_at: string | null
    readonly approvals_pending: number
  }[]
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
}

export interface ReadDesk {
  status(): Promise<StatusReport>
  turns(filter: TurnFilter): Promise<readonly TurnView[]>
  turn(id: string): Promise<TurnDetail | null>
  sends(filter: SendFilter): Promise<readonly SendView[]>
  send(id: string): Promise<SendView | null>
  /** Newest first; `before`: those before this place (`seq`). */
  approvals(
    states: readonly string[] | null,
    limit: number,
    which?: { readonly id?: string; readonly before?: number },
  ): Promise<readonly ApprovalView[]>
  pairings(): Promise<readonly PairingView[]>
  access(): Promise<
    readonly {
      readonly integration: string
      readonly sender: string
      readonly right: string
      readonly origin: string
      readonly at: string | null
    }[]
  >
  /** Without those that every delivery to an agent mints for itself, unless `all` is asked for. */
  tokens(options?: { readonly all?: boolean }): Promise<
    readonly {
      readonly id: string
      readonly kind: string
      readonly scope: Readonly<Record<string, string>>
      readonly created_at: string
      readonly expires_at: string | null
      readonly revoked: boolean
    }[]
  >
  secretNames(): Promise<readonly string[]>
  /** Newest first; `before`: those before this one. */
  notifications(limit: number, before?: string): Promise<readonly NotificationView[]>
  verifyAudit(expectHead?: string): Promise<AuditReport>
  ledger(afterSeq: number, limit: number): Promise<readonly LedgerEntry[]>
  /** Everything that a user, or one `integration:sender`, said. Throws `input_invalid` for neither. */
  exportPerson(who: string): AsyncIterable<PersonLine>
}

/** Who is at the desk: named in the ledger. */
export type Operator = string

export interface Desk extends ReadDesk {
  /** `security`: with what is open, in `security`. */
  doctor(options?: { readonly security?: boolean }): Promise<DoctorReport>
  order(order: SendOrder, by: Operator): Promise<SendResult>
  notify(
    order: NotifyOrder,
    by: Operator,
  ): Promise<SendResult & { readonly channel: string; readonly text: string }>
  integrations(): Promise<readonly IntegrationView[]>
  /** Keeps a definition (the shape of one entry under `integrations:`) encrypted, and starts it. */
  addIntegration(
    definition: Readonly<Record<string, unknown>>,
    options: { readonly agent?: string },
    by: Operator,
  ): Promise<IntegrationView>
  changeIntegration(
    id: string,
    change: { readonly enabled?: boolean; readonly scope?: 'all' | { readonly agents: readonly string[] } },
    by: Operator,
  ): Promise<IntegrationView>
  removeIntegration(id: string, by: Operator): Promise<void>
  /** Empties what a person said and the answers to it, and removes their files. */
  erasePerson(who: string, options: { readonly revoke: boolean }, by: Operator): Promise<ErasedPerson>
  operateTurn(id: string, verb: 'retry' | 'cancel', by: Operator): Promise<TurnView>
  operateSend(id: string, verb: 'retry' | 'bury', by: Operator): Promise<SendView>
  decide(
    id: string,
    behavior: 'allow' | 'deny',
    by: Operator,
    via: string,
  ): Promise<{ readonly won: boolean; readonly approval: ApprovalView }>
  /** The first one of an integration may approve from then on, unless `talkOnly`: whoever says yes has no such right to give. */
  approvePairing(
    code: string,
    by: Operator,
    options?: { readonly talkOnly?: true },
  ): Promise<PairingView & { readonly approver: boolean }>
  denyPairing(code: string, by: Operator): Promise<void>
  grant(integration: string, sender: string, right: 'talk' | 'approve', by: Operator): Promise<void>
  revoke(integration: string, sender: string, right: 'talk' | 'approve', by: Operator): Promise<boolean>
  mintToken(
    order: {
      readonly kind: string
      readonly scope: Readonly<Record<string, string>>
      readonly ttl_ms: number | null
    },
    by: Operator,
  ): Promise<{ readonly token: string; readonly id: string; readonly expires_at: string | null }>
  revokeToken(id: string, by: Operator): Promise<boolean>
  /** Mints a connection string of a `chorus` integration, shown this once. `rotate`: the older ones are dead. */
  connectChorus(
    integration: string,
    options: { readonly rotate: boolean },
    by: Operator,
  ): Promise<{ readonly connection_string: string; readonly id: string; readonly revoked: number }>
  setSecret(name: string, value: string, by: Operator): Promise<void>
  removeSecret(name: string, by: Operator): Promise<boolean>
  rotateSecrets(by: Operator): Promise<{ readonly rotated: number }>
  reload(by: Operator): Promise<{
    readonly ok: boolean
    readonly problem: string | null
    readonly digest: string
    readonly warnings: readonly string[]
  }>
  /** A fresh one-time link to the web chat. */
  chatLink(by: Operator): Promise<{ readonly url: string; readonly expires_at: string }>
  /** Live events for /events: hints in the form of a line a page can act on. */
  watch(
    listen: (event: { readonly kind: string; readonly id: string; readonly scope?: string }) => void,
  ): () => void
}
