// The operator's interface behind `/api` and the command line. The daemon implements all of it; a command without a
// daemon gets a read-only part. Its results are in desk-views.ts.
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
  /** `problems: false` omits the findings of `doctor`. It is cheaper, for frequent calls. */
  status(options?: { readonly problems?: boolean }): Promise<StatusReport>
  turns(filter: TurnFilter): Promise<readonly TurnView[]>
  /** Returns a page with bounded reading: at most `span` turns are read, so `next` may accompany a short page. */
  turnPage(
    filter: TurnFilter,
    span: number,
  ): Promise<{ readonly items: readonly TurnView[]; readonly next: number | null }>
  turn(id: string): Promise<TurnDetail | null>
  /** Turns over time. With very many turns the result is an estimate, and says so. */
  series(query: SeriesQuery): Promise<TurnSeries>
  sends(filter: SendFilter): Promise<readonly SendView[]>
  send(id: string): Promise<SendView | null>
  /** Newest first; `before`: only those before this position (`seq`). */
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
  /** Omits tokens that deliveries mint for themselves, unless `all` is set. */
  tokens(options?: { readonly all?: boolean }): Promise<
    readonly {
      readonly id: string
      readonly kind: string
      readonly scope: Readonly<Record<string, string>>
      readonly created_at: string
      readonly expires_at: string | null
      readonly revoked: boolean
      /** Precise to an hour; null: never used, or unknown. */
      readonly last_used_at: string | null
      /** False also when unknown: for tokens minted before use was recorded. */
      readonly never_used: boolean
    }[]
  >
  conversations(filter: ConversationFilter, by: Operator): Promise<ConversationListView>
  /** Null: no message was ever sent or received there. */
  conversation(at: Address, by: Operator): Promise<ConversationView | null>
  /** Newest first. Throws `input_invalid` for a cursor of another list. */
  thread(
    at: Address,
    page: { readonly limit: number; readonly before?: string },
    by: Operator,
  ): Promise<ThreadView>
  /** Live ones, oldest first. */
  takeovers(state: 'asked' | 'held' | null, by: Operator): Promise<readonly TakeoverView[]>
  secretNames(): Promise<readonly string[]>
  /** Newest first; `before`: only those before this one. */
  notifications(limit: number, before?: string): Promise<readonly NotificationView[]>
  verifyAudit(expectHead?: string): Promise<AuditReport>
  auditHead(): Promise<LedgerHead>
  ledger(afterSeq: number, limit: number): Promise<readonly LedgerEntry[]>
  /**
   * Returns all messages of a user or of one `integration:sender`. Throws `input_invalid` for neither. `files`: with
   * the bytes of their files, where the integration runs.
   */
  exportPerson(who: string, options?: { readonly files?: boolean }): AsyncIterable<PersonLine>
}

/** The operator's name in the ledger. */
export type Operator = string

/** Names of secrets: the removed ones, and unreferenced ones that an operator had named. */
export interface RemovedSecrets {
  readonly removed: readonly string[]
  readonly unused: readonly string[]
}

export interface Desk extends ReadDesk {
  /**
   * `security`: includes security findings, in `security`. `sendTest`: also lets every capable integration test on the
   * real service whether a forged sender would be believed.
   */
  doctor(options?: { readonly security?: boolean; readonly sendTest?: boolean }): Promise<DoctorReport>
  order(order: SendOrder, by: Operator): Promise<SendResult>
  notify(
    order: NotifyOrder,
    by: Operator,
  ): Promise<SendResult & { readonly channel: string; readonly text: string }>
  integrations(): Promise<readonly IntegrationView[]>
  /** Starts a schedule now, as a separate turn. Throws `not_found`. */
  runSchedule(agent: string, schedule: string, by: string): Promise<{ readonly turn: string }>
  /** Stores a definition (the shape of one entry under `integrations:`) encrypted, and starts it. */
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
  /** Also removes secrets that were stored for it alone. */
  removeIntegration(id: string, by: Operator): Promise<RemovedSecrets>
  /** Empties a person's messages and the answers to them, and removes their files. */
  erasePerson(who: string, options: { readonly revoke: boolean }, by: Operator): Promise<ErasedPerson>
  /**
   * Sends a request as a sender would, through the real endpoint, and reports each step. The report contains no
   * secret.
   */
  testHook(id: string, order: SampleOrder, by: Operator): Promise<HookTest>
  /** Repeats the message of a hook's turn as a new turn: through the gates, with its own id. */
  replayTurn(id: string, by: Operator): Promise<ReplayedTurn>
  /** `won: false`: another person holds it. Throws `not_found` for a place without messages. */
  takeConversation(at: Address, options: { readonly force: boolean }, by: Operator): Promise<TakenView>
  /** Writes as a person who holds the place. Throws `held` or `not_held`. */
  sayHeld(
    at: Address,
    order: { readonly text: string; readonly idempotency_key?: string; readonly wait_ms?: number },
    by: Operator,
  ): Promise<SendResult>
  /** Throws `held` if another person holds it, unless `force` is set, and `not_held`. */
  giveConversation(
    at: Address,
    options: { readonly force: boolean },
    by: Operator,
  ): Promise<{ readonly takeover: TakeoverView }>
  operateTurn(id: string, verb: 'retry' | 'cancel', by: Operator): Promise<TurnView>
  operateSend(id: string, verb: 'retry' | 'bury', by: Operator): Promise<SendView>
  /** Handles several sends with one result each. A send that cannot be moved stops no other. */
  operateSends(ids: readonly string[], verb: 'retry' | 'bury', by: Operator): Promise<readonly OperatedSend[]>
  /** The configuration in force, masked, and a refused file. */
  config(): Promise<ConfigView>
  /** Checks a text before it is written. It changes nothing, and runs no code that the text names. */
  checkConfig(text: string): Promise<ConfigCheck>
  users(): Promise<readonly UserView[]>
  /** Writes to an agent as `by`, in a separate chat that the first call creates. Throws `not_found`. */
  tryAgent(
    agent: string,
    /** The same key again writes nothing again. */
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
  /** Mints a connection string of a `chorus` integration, shown only once. `rotate`: revokes the older ones. */
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
  /**
   * Returns a fresh one-time link to the web chat. `phone`: a link for another device, and why it may not open there.
   */
  chatLink(by: Operator): Promise<{
    readonly url: string
    readonly expires_at: string
    readonly phone: { readonly url: string; readonly warning: string | null }
  }>
  /**
   * Returns a one-time link that signs a user in at the console; without a name, the first owner. Throws `not_found`.
   */
  consoleLink(
    order: { readonly user?: string },
    by: Operator,
  ): Promise<{
    readonly url: string
    readonly user: string
    readonly roles: readonly string[]
    readonly expires_at: string
  }>
  /**
   * Live events for /events: hints as lines that a page can act on. `decides`: the watcher may decide approvals, so
   * questions reach a person.
   */
  watch(
    listen: (event: { readonly kind: string; readonly id: string; readonly scope?: string }) => void,
    who: { readonly decides: boolean },
  ): () => void
}
