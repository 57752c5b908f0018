// The operator's desk: what `/api` serves and the command line asks. One interface, two speakers: the daemon
// implements all of it; a command without a daemon gets a desk that only reads. What it shows is in desk-views.ts.
import type { Address } from '../message/address.ts'
import type { SampleOrder } from '../platform/endpoint.ts'
import type { TakeoverView } from '../platform/takeover.ts'
import type { AuditReport, LedgerEntry, LedgerHead, Right, SendFilter, TurnFilter } from '../store/records.ts'
import type { ConfigCheck, ConfigView, OperatedSend, UserView } from './config-view.ts'
import type {
  ConversationFilter,
  ConversationListView,
  ConversationView,
  TakenView,
  ThreadView,
} from './conversations.ts'
import type {
  ApprovalView,
  HookTest,
  IntegrationView,
  NotificationView,
  NotifyOrder,
  PairedView,
  PairingView,
  ReplayedTurn,
  SendOrder,
  SendResult,
  SendView,
  StatusReport,
  TurnDetail,
  TurnView,
} from './desk-views.ts'
import type { DoctorReport } from './doctor-report.ts'
import type { ErasedPerson, PersonLine } from './person.ts'
import type { SeriesQuery, TurnSeries } from './turn-series.ts'

export interface ReadDesk {
  /** `problems: false` leaves out what only `doctor` knows. It costs less: for what asks often. */
  status(options?: { readonly problems?: boolean }): Promise<StatusReport>
  turns(filter: TurnFilter): Promise<readonly TurnView[]>
  /** A page whose reading is bounded: at most `span` turns are looked at, so `next` may stand beside a short page. */
  turnPage(
    filter: TurnFilter,
    span: number,
  ): Promise<{ readonly items: readonly TurnView[]; readonly next: number | null }>
  turn(id: string): Promise<TurnDetail | null>
  /** Turns over time. Estimated, and told so, where there are very many. */
  series(query: SeriesQuery): Promise<TurnSeries>
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
      /** Within an hour; null: never, or not known. */
      readonly last_used_at: string | null
      /** False also where it is not known: those that were minted before this was recorded. */
      readonly never_used: boolean
    }[]
  >
  conversations(filter: ConversationFilter, by: Operator): Promise<ConversationListView>
  /** Null: nothing was ever said there. */
  conversation(at: Address, by: Operator): Promise<ConversationView | null>
  /** Newest first. Throws `input_invalid` for a cursor of another list. */
  thread(
    at: Address,
    page: { readonly limit: number; readonly before?: string },
    by: Operator,
  ): Promise<ThreadView>
  /** Live ones, the oldest first. */
  takeovers(state: 'asked' | 'held' | null, by: Operator): Promise<readonly TakeoverView[]>
  secretNames(): Promise<readonly string[]>
  /** Newest first; `before`: those before this one. */
  notifications(limit: number, before?: string): Promise<readonly NotificationView[]>
  verifyAudit(expectHead?: string): Promise<AuditReport>
  auditHead(): Promise<LedgerHead>
  ledger(afterSeq: number, limit: number): Promise<readonly LedgerEntry[]>
  /** Everything that a user, or one `integration:sender`, said. Throws `input_invalid` for neither. */
  /** `files`: with the bytes of what they sent, where the integration runs. */
  exportPerson(who: string, options?: { readonly files?: boolean }): AsyncIterable<PersonLine>
}

/** Who is at the desk: named in the ledger. */
export type Operator = string

/** Names of secrets: those that went, and those that nothing refers to any more but that an operator named. */
export interface RemovedSecrets {
  readonly removed: readonly string[]
  readonly unused: readonly string[]
}

export interface Desk extends ReadDesk {
  /**
   * `security`: with what is open, in `security`. `sendTest`: beside it every integration that can tries on the real thing
   * whether a forger would be believed.
   */
  doctor(options?: { readonly security?: boolean; readonly sendTest?: boolean }): Promise<DoctorReport>
  order(order: SendOrder, by: Operator): Promise<SendResult>
  notify(
    order: NotifyOrder,
    by: Operator,
  ): Promise<SendResult & { readonly channel: string; readonly text: string }>
  integrations(): Promise<readonly IntegrationView[]>
  /** Starts a schedule now, as a turn of its own. Throws `not_found`. */
  runSchedule(agent: string, schedule: string, by: string): Promise<{ readonly turn: string }>
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
  /** Secrets that were kept for it alone go with it. */
  removeIntegration(id: string, by: Operator): Promise<RemovedSecrets>
  /** Empties what a person said and the answers to it, and removes their files. */
  erasePerson(who: string, options: { readonly revoke: boolean }, by: Operator): Promise<ErasedPerson>
  /** Sends a request as a sender would, through the real door, and tells each step. No secret is in it. */
  testHook(id: string, order: SampleOrder, by: Operator): Promise<HookTest>
  /** The message of a hook's turn once more, as a new turn: through the gates, under an id of its own. */
  replayTurn(id: string, by: Operator): Promise<ReplayedTurn>
  /** `won: false`: somebody else holds it. Throws `not_found` where nothing was ever said. */
  takeConversation(at: Address, options: { readonly force: boolean }, by: Operator): Promise<TakenView>
  /** As a person, only where one holds. Throws `held` or `not_held`. */
  sayHeld(
    at: Address,
    order: { readonly text: string; readonly idempotency_key?: string; readonly wait_ms?: number },
    by: Operator,
  ): Promise<SendResult>
  /** Throws `held` where it is another's, unless `force`, and `not_held`. */
  giveConversation(
    at: Address,
    options: { readonly force: boolean },
    by: Operator,
  ): Promise<{ readonly takeover: TakeoverView }>
  operateTurn(id: string, verb: 'retry' | 'cancel', by: Operator): Promise<TurnView>
  operateSend(id: string, verb: 'retry' | 'bury', by: Operator): Promise<SendView>
  /** Several; each is told by itself, and one that cannot be moved stops no other. */
  operateSends(ids: readonly string[], verb: 'retry' | 'bury', by: Operator): Promise<readonly OperatedSend[]>
  /** What is in force, masked, and the file that was refused. */
  config(): Promise<ConfigView>
  /** Of a text that is not written yet. It changes nothing, and runs no code that the text names. */
  checkConfig(text: string): Promise<ConfigCheck>
  users(): Promise<readonly UserView[]>
  /** Says something to an agent as `by`, in a chat of its own, which the first try makes. Throws `not_found`. */
  tryAgent(
    agent: string,
    /** The same key again says nothing again. */
    said: { readonly text: string; readonly idempotency_key?: string },
    by: Operator,
  ): Promise<{
    readonly turn: string | null
    readonly address: string
    readonly state: string
    readonly reason: string | null
  }>
  decide(
    id: string,
    behavior: 'allow' | 'deny',
    by: Operator,
    via: string,
  ): Promise<{ readonly won: boolean; readonly approval: ApprovalView }>
  /** Lets a newcomer talk; `approver`: and decide approvals; `user`: as an identity of that user. */
  approvePairing(
    code: string,
    by: Operator,
    options?: { readonly approver?: boolean; readonly user?: string },
  ): Promise<PairedView>
  denyPairing(code: string, by: Operator): Promise<void>
  grant(integration: string, sender: string, right: 'talk' | 'approve', by: Operator): Promise<void>
  revoke(integration: string, sender: string, right: Right, by: Operator): Promise<boolean>
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
  /** A fresh one-time link to the web chat. `phone`: the same for another device, and why it may not open there. */
  chatLink(by: Operator): Promise<{
    readonly url: string
    readonly expires_at: string
    readonly phone: { readonly url: string; readonly warning: string | null }
  }>
  /** A one-time link that signs a user in at the console; without a name the first owner. Throws `not_found`. */
  consoleLink(
    order: { readonly user?: string },
    by: Operator,
  ): Promise<{
    readonly url: string
    readonly user: string
    readonly roles: readonly string[]
    readonly expires_at: string
  }>
  /** Live events for /events: hints in the form of a line a page can act on. */
  /** `decides`: the watcher may decide approvals, so that what is asked reaches somebody. */
  watch(
    listen: (event: { readonly kind: string; readonly id: string; readonly scope?: string }) => void,
    who: { readonly decides: boolean },
  ): () => void
}
