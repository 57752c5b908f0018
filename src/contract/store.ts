// The store's verbs. Each takes plain data, returns a result, and is atomic; there is no transaction to hold.
// One writer per node gathers the verbs of a loop turn into one commit; one verb's failure never rolls back its
// neighbours. The lane row is the lock: a lane is one session (inbox) or one conversation (outbox); it has an owner,
// a fencing token that only grows, and a time until. Every settle presents the token, so a frozen node that wakes up
// can write nothing. Every verb that changes something leaves its ledger entries and counters in the same commit.
import type { Address } from './address.ts'
import type { HistoryStore, MarkMove, PositionFence } from './history-records.ts'
import type { LaneRequest, TakenTurns } from './lanes.ts'
import type { Signal } from './message.ts'
import type { AttachmentRow, NodeReport, NodeRow } from './nodes.ts'
import type { PersonVerbs } from './person.ts'
import type { TranscriptEntry, TranscriptQuery } from './platform.ts'
import type {
  ApprovalRow,
  AuditReport,
  Counter,
  Decide,
  Grant,
  LedgerEntry,
  LedgerHead,
  LedgerNote,
  NewApproval,
  PairingRow,
  SendFilter,
  SessionRow,
  TokenRow,
  TurnFilter,
} from './records.ts'
import type { Enqueued, LaterWordVerbs, NewSend, SendMove, SendRow, TakenSend } from './send-records.ts'
import type { ClaimRow, Firing, FiringRow, NewNotification, NotificationRow, RouteRow } from './sending.ts'
import type { ApprovalState, ClaimState, TurnState } from './states.ts'
import type { StatusLineRow } from './status-line.ts'
import type { NewTurnEvent, TurnEventRow } from './turn-events.ts'
import type { MoveOutcome, ReceiveItem, ReceiveResult, TurnMove, TurnRow } from './turn-records.ts'
import type { NewTurnStep, PastTurn, TokenUsage, TurnStep, UsageRow } from './turn-steps.ts'

// ---- wake-ups ---------------------------------------------------------------------------------------------

/** Told after the commit, on this node and (PostgreSQL) on the others. Lossy: sweeps find what a hint missed. */
export type Hint =
  | { readonly kind: 'turns'; readonly lane: string; readonly scope: string }
  /** `settled`: nothing in the lane became due; told for those who wait for the outcome. */
  | { readonly kind: 'sends'; readonly lane: string; readonly scope: string; readonly settled?: true }
  | { readonly kind: 'approval'; readonly id: string }
  | { readonly kind: 'turn'; readonly id: string }
  | { readonly kind: 'access' }
  /** A secret or an integration that was added by command changed. */
  | { readonly kind: 'config' }
  /** A node came or went, or an agent attached to one or left it. */
  | { readonly kind: 'nodes' }
  /** Hints may have been missed (a connection was lost and is back): look around. */
  | { readonly kind: 'missed' }
  /** News for whoever looks at this conversation through another node; null: look at its rows. Never stored. */
  | { readonly kind: 'signal'; readonly to: string; readonly signal: Signal | null }

/** A file that all nodes need. Names are the integration's own, and given out once. */
export interface KeptFile {
  readonly integration: string
  readonly name: string
  readonly bytes: Uint8Array
}

/** When a database was put back, and when the backup was taken. */
export interface RestoredFrom {
  readonly at: number
  readonly takenAt: number
}

/** How far a copy has come, in pages. */
export type CopyProgress = (done: number, total: number) => void

/** The file under an embedded store. */
export interface DatabaseFile {
  readonly path: string
  /**
   * Compares the path with the open handle. Not null: what happened to the file, and until a later call finds it back
   * every write is refused (`store_unavailable`), for it would be lost.
   */
  misplaced(): string | null
  /** Copies all that the store holds, as of one moment, into a new file. Also while the file is misplaced. */
  copyTo(path: string, onProgress?: CopyProgress): Promise<void>
}

export interface Work {
  readonly lane: string
  /** Agent (inbox) or integration (outbox). */
  readonly scope: string
}

export interface Store extends PersonVerbs, HistoryStore, LaterWordVerbs {
  /** Short random name of this database, part of every row id. */
  readonly tag: string
  /** `<node>/<boot>`: under this name lanes and leases are held here, and this is the ledger's chain. */
  readonly owner: string
  /** Other nodes may write to it. False: there is nobody else. */
  readonly shared: boolean
  /** Present where the database is a file of ours. */
  readonly file?: DatabaseFile
  /** `sqlite` or `postgres`, and what the live connection says about durability. */
  durability(): Promise<{ readonly kind: 'sqlite' | 'postgres'; readonly detail: string }>

  // intake
  /** Rows, sessions, effects, cursor, mark, ledger and counters in one commit. */
  receive(
    items: readonly ReceiveItem[],
    /** `fence`: a lease that must still be held, or nothing is written (`conflict`). */
    cursor?: { readonly integration: string; readonly value: string; readonly fence?: PositionFence },
    /** How far the place that they were found in was compared. */
    mark?: MarkMove,
  ): Promise<readonly ReceiveResult[]>
  cursor(integration: string): Promise<string | null>

  // dispatch
  takeTurns(lanes: readonly LaneRequest[], leaseMs: number): Promise<readonly TakenTurns[]>
  moveTurns(moves: readonly TurnMove[]): Promise<readonly MoveOutcome[]>
  /**
   * Enqueues and moves in one commit. A stale move writes nothing at all; nor does one to `failed` of a turn that has
   * ended, or the `sole` answer to one that is answered (`ended`). Whatever else an agent says is kept also for a turn that
   * has. `sends` of one that was not accepted: the rows of that very answer, where it was given before under the same keys.
   */
  accept(
    sends: readonly NewSend[],
    moves: readonly TurnMove[],
  ): Promise<{ readonly outcome: 'accepted' | 'stale' | 'ended'; readonly sends: readonly Enqueued[] }>
  /** False: no such turn, a key that is known, or the turn keeps no more. */
  keepTurnEvent(event: NewTurnEvent): Promise<boolean>
  /**
   * A sign of life that moves nothing: the turn's `updatedAt` is now, and whoever holds its lane hears of it. False: it is
   * not in flight, not this agent's, or just being moved.
   */
  heardOf(turn: string, agent: string): Promise<boolean>
  /**
   * Like `accept`, for a turn that another node holds and whose agent spoke here. The lane stays whose it is; its holder
   * hears of the move. `stale`: the turn is not in flight any more, nothing was written. `waiting`: also for one that is
   * queued.
   */
  acceptFor(
    sends: readonly NewSend[],
    move: Pick<TurnMove, 'turn' | 'reason' | 'detail' | 'sole'> & {
      readonly to: 'seen' | 'answered' | 'failed'
      readonly waiting?: true
    },
  ): Promise<{ readonly outcome: 'accepted' | 'stale'; readonly sends: readonly Enqueued[] }>
  /** A line that tells what the agent does stands, or (empty `line`) is about to. Resolves with the one that counts. */
  keepStatusLine(line: Pick<StatusLineRow, 'turn' | 'to' | 'line'>): Promise<StatusLineRow>
  /** Those that stand, the oldest first; `after`: behind this one. */
  statusLines(limit: number, after?: Pick<StatusLineRow, 'turn' | 'at'>): Promise<readonly StatusLineRow[]>
  forgetStatusLine(turn: string): Promise<void>
  /** Operator: failed or expired → queued; anything open → failed: cancelled. Null when the state does not allow it. */
  operateTurn(id: string, verb: 'retry' | 'cancel', by: string): Promise<TurnRow | null>
  /** What has been queued longer than `olderThanMs`; at most `limit`. */
  overdueTurns(olderThanMs: number, limit: number): Promise<readonly TurnRow[]>
  /** Those of them that still are → expired, each with what is said about it, in one commit. Returns what it moved. */
  expireTurns(
    olderThanMs: number,
    turns: readonly { readonly id: string; readonly words: readonly NewSend[] }[],
  ): Promise<readonly TurnRow[]>

  // outlet
  enqueue(sends: readonly NewSend[]): Promise<readonly Enqueued[]>
  takeSends(lanes: readonly LaneRequest[], leaseMs: number): Promise<readonly TakenSend[]>
  moveSends(moves: readonly SendMove[]): Promise<readonly MoveOutcome[]>
  /** Operator: failed or unknown → queued, or → failed: buried. Null when the state does not allow it. */
  operateSend(id: string, verb: 'retry' | 'bury', by: string): Promise<SendRow | null>

  // claims and routes
  claims(filter: {
    readonly integration?: string
    readonly conversation?: string
    readonly session?: string
    readonly states?: readonly ClaimState[]
    readonly limit: number
  }): Promise<readonly ClaimRow[]>
  /**
   * The session could not be reached after all: the route to it ends, its claim is passed over, and the person is told in
   * the same commit (`{label}` in the text is the thread's). Null: there is no such route.
   */
  giveBack(at: Address, session: string, words?: readonly NewSend[]): Promise<RouteRow | null>

  // notifications
  /** An attempt that came to no outbox row. The others are written with their row. */
  logNotification(
    attempt: NewNotification & { readonly status: 'failed' | 'not_sent'; readonly error: string },
  ): Promise<void>
  /** Newest first. */
  notifications(filter: {
    readonly agent?: string
    readonly user?: string
    /** Those before this one, by its id. */
    readonly before?: string
    readonly limit: number
  }): Promise<readonly NotificationRow[]>

  // schedules
  /** The firing and its turn in one commit. `won: false`: it was fired before, here or elsewhere. */
  fireSchedule(
    firing: Firing,
    item?: ReceiveItem,
  ): Promise<{ readonly won: boolean; readonly received: ReceiveResult | null }>
  /** Newest first. */
  firings(filter: {
    readonly agent?: string
    readonly schedule?: string
    readonly limit: number
  }): Promise<readonly FiringRow[]>

  // lanes
  /** Lanes with open, due work that nobody holds; `after` pages on. */
  findWork(
    kind: 'turns' | 'sends',
    scopes: readonly string[],
    options: { readonly limit: number; readonly after?: string },
  ): Promise<readonly Work[]>
  renewLanes(
    kind: 'turns' | 'sends',
    lanes: readonly { readonly lane: string; readonly token: number }[],
    leaseMs: number,
  ): Promise<readonly boolean[]>
  releaseLanes(
    kind: 'turns' | 'sends',
    lanes: readonly { readonly lane: string; readonly token: number }[],
  ): Promise<void>
  /** A named lease (poller, schedule, socket). Null when another node holds it. */
  lease(name: string, ttlMs: number): Promise<{ readonly token: number } | null>
  releaseLease(name: string, token: number): Promise<void>
  /**
   * Looks whether the clock stands before what was written last: it was set back. Whatever waits for a time (rows, lanes,
   * leases, expiries of questions) is moved back with it. By how much; 0: it was not.
   */
  settleClock(): Promise<number>

  // approvals
  /** Row and prompts in one commit. `collision`: the id is pending already, choose another. */
  ask(approval: NewApproval, prompts: readonly NewSend[]): Promise<'asked' | 'collision'>
  /**
   * Compare-and-set on a pending row. Cause `expired` ends in state `expired`, every other in `decided`. A person does not
   * win after `expiresAt`, whoever is to say that it expired. `words`: what the chats are told if it won, in the same commit.
   */
  decide(
    decide: Decide,
    words?: readonly NewSend[],
  ): Promise<{ readonly won: boolean; readonly approval: ApprovalRow | null }>
  /** decided → relayed | undeliverable, pending → withdrawn; `words` with it. Null when it was not in the state before. */
  settleApproval(
    id: string,
    to: 'relayed' | 'undeliverable' | 'withdrawn',
    words?: readonly NewSend[],
  ): Promise<ApprovalRow | null>
  /** This node asks for it from now on: what another one asked was asked again here. */
  adoptApproval(id: string): Promise<void>
  approval(id: string): Promise<ApprovalRow | null>
  /** Newest first. */
  approvals(filter: {
    readonly states?: readonly ApprovalState[]
    readonly agent?: string
    readonly id?: string
    /** The asking host's own id of its request. */
    readonly hostId?: string
    readonly turn?: string
    readonly dueBefore?: number
    readonly beforeSeq?: number
    readonly limit: number
  }): Promise<readonly ApprovalRow[]>
  /** How many wait for a decision, by agent. */
  pendingApprovals(): Promise<readonly { readonly agent: string; readonly count: number }[]>

  // nodes
  /** A heartbeat: the node's row, and its agents as rows. Tells the others when something changed but the time. */
  beat(report: NodeReport): Promise<void>
  /** The last word of a node: nobody waits for it any more. */
  leave(): Promise<void>
  /** All that were heard of in the last day, the latest first. */
  nodes(): Promise<readonly NodeRow[]>
  /** Which agents are, or lately were, attached to which node. */
  attachments(): Promise<readonly AttachmentRow[]>
  /** Told to the other nodes without a commit. Lossy: for what nobody misses. */
  tell(hints: readonly Hint[]): void

  // limits
  /**
   * Takes up to `take` tokens from each bucket that all nodes share; the same key once in a call. `retryAfterMs`: when
   * there will be one, where none was granted. Absent where there is one node: its own buckets are enough.
   */
  drawTokens?(
    draws: readonly {
      readonly key: string
      readonly rps: number
      readonly burst: number
      readonly take: number
    }[],
  ): Promise<readonly { readonly granted: number; readonly retryAfterMs: number }[]>

  // files
  /** Whole or not at all, and not behind other commits. The same name again changes nothing. */
  keepFile(file: KeptFile): Promise<void>
  /** Null when there is none, or it was pruned. */
  keptFile(integration: string, name: string): Promise<Uint8Array | null>

  // people
  grants(): Promise<readonly Grant[]>
  grant(grant: Omit<Grant, 'at'>): Promise<void>
  revoke(integration: string, sender: string, right: 'talk' | 'approve', by: string): Promise<boolean>
  pairings(): Promise<readonly PairingRow[]>
  /**
   * Grants `talk` (and `approve` to the first one of an integration, unless it is one of `approversNamed`: there they are
   * named elsewhere), forgets the code and says the `words`, in one commit. Null: no such code.
   */
  approvePairing(
    code: string,
    by: string,
    options?: { readonly approversNamed?: readonly string[]; readonly words?: readonly NewSend[] },
  ): Promise<{ readonly pairing: PairingRow; readonly approver: boolean } | null>
  denyPairing(code: string, by: string): Promise<boolean>
  addToken(token: Omit<TokenRow, 'createdAt' | 'revokedAt' | 'lastUsedAt'>, by: string): Promise<void>
  tokenByHash(hash: string): Promise<TokenRow | null>
  /** `kind`: those alone. `ofTurns: false`: without what every delivery of a turn mints for itself. */
  tokens(only?: { readonly kind?: string; readonly ofTurns?: false }): Promise<readonly TokenRow[]>
  revokeToken(id: string, by: string): Promise<boolean>
  /** When tokens let somebody in; an earlier time than the one that is known changes nothing. Not told in the ledger. */
  tokensUsed(uses: readonly { readonly id: string; readonly at: number }[]): Promise<void>
  /** Ciphertexts by name; the store never sees a plain one. `replaceSecrets` swaps all at once (rotation). */
  secrets(): Promise<Readonly<Record<string, string>>>
  replaceSecrets(change: Readonly<Record<string, string | null>>, by: string): Promise<void>

  // reading
  turn(id: string): Promise<TurnRow | null>
  turns(filter: TurnFilter): Promise<readonly TurnRow[]>
  /**
   * What was refused as `not_mentioned` at the place of a turn of a group: before it, after the last turn of its session that
   * was handed over, not before the session was opened anew; the newest `limit`, oldest first. Bodies that are gone are left out.
   */
  overheard(
    turn: string,
    query: { readonly sinceMs: number; readonly limit: number },
  ): Promise<readonly TurnRow[]>
  // journals of loops that run in this process
  /** False: the position is taken, or the turn is not in work. */
  keepStep(step: NewTurnStep): Promise<boolean>
  turnSteps(turn: string): Promise<readonly TurnStep[]>
  /** Turns of the session before this one that were handed over, newest first, with what was done and said. */
  pastTurns(session: string, before: string, limit: number): Promise<readonly PastTurn[]>
  spentTokens(agent: string, day: string): Promise<TokenUsage>
  /** By agent, day and model. */
  usage(sinceDay: string): Promise<readonly UsageRow[]>

  /** In order. Empty for a turn that is not there. */
  turnEvents(id: string): Promise<readonly TurnEventRow[]>
  send(id: string): Promise<SendRow | null>
  sends(filter: SendFilter): Promise<readonly SendRow[]>
  session(id: string): Promise<SessionRow | null>
  /** The session an address leads to now; null if it never spoke. */
  sessionAt(agent: string, at: Address): Promise<SessionRow | null>
  transcript(integration: string, query: TranscriptQuery): Promise<readonly TranscriptEntry[]>
  counters(): Promise<readonly Counter[]>
  /** Open turns per agent and state, counted on the index of open turns (never on the whole table). */
  openTurns(): Promise<
    readonly { readonly agent: string; readonly state: TurnState; readonly count: number }[]
  >

  // ledger
  note(notes: readonly LedgerNote[]): Promise<void>
  ledger(query: { readonly afterSeq: number; readonly limit: number }): Promise<readonly LedgerEntry[]>
  verify(expectHead?: string): Promise<AuditReport>
  /** The head of the chain as it is written, unproven; and how many entries there are. */
  head(): Promise<LedgerHead>
  /** Chains that were sealed with another key than the one at hand. */
  foreignChains(): Promise<number>
  /**
   * After a backup was put back: up to `limit` sends that were open become `unknown`. Zero: none is left, open turns are
   * marked as repeats, and the database says from when it is.
   */
  settleRestored(takenAt: number, by: string, limit: number): Promise<number>
  /** Null: it was never restored. */
  restored(): Promise<RestoredFrom | null>
  /** Bodies of settled rows older than this are dropped; rows and ledger stay. Returns how many. */
  pruneBodies(olderThanMs: number, limit: number): Promise<number>
  /** Bodies of `not_mentioned` messages older than this are dropped: no turn can need them any more. Returns how many. */
  forgetOverheard(olderThanMs: number, limit: number): Promise<number>
  /**
   * Settled rows older than this (and never younger than 30 days) go for good; counters and ledger stay. At most `limit`
   * of each kind; returns how many.
   */
  pruneRows(olderThanMs: number, limit: number): Promise<number>
  /** Ledger entries older than this, of rows that are gone, go behind a checkpoint entry. Returns how many. */
  pruneLedger(olderThanMs: number, limit: number): Promise<number>
  /** Tokens that expired longer ago than this are forgotten; the ledger keeps that they were minted. Returns how many. */
  pruneTokens(expiredForMs: number, limit: number): Promise<number>

  /** When it was kept; null when there is none. */
  fileTime(integration: string, name: string): Promise<number | null>
  /** Files that were kept longer ago than this are forgotten. Returns how many parts: at most `limit`. */
  pruneFiles(olderThanMs: number, limit: number): Promise<number>

  /** `from`: the owner name of the node that told it; null: this one. */
  onHint(listen: (hint: Hint, from: string | null) => void): void
  close(): Promise<void>
}
