// The store's verbs. Each takes plain data, returns a result, and is atomic; callers hold no transaction. One writer
// per node gathers the verbs of one turn of the event loop into one commit. One verb's failure never rolls back its
// neighbours.
//
// The lane row is the lock. A lane is one session (inbox) or one conversation (outbox). It has an owner, a fencing
// token that only grows, and an end time. Every settlement presents the token, so a frozen node that wakes up can write
// nothing. Every verb that changes data writes its ledger entries and counters in the same commit.

import type { NewTurnStep, PastTurn, TokenUsage, TurnStep, UsageRow } from '../agent/turn-steps.ts'
import type { Address } from '../message/address.ts'
import type { Hint } from '../message/hints.ts'
import type { NewTurnEvent, TurnEventRow } from '../message/turn-events.ts'
import type { ConversationVerbs } from '../operator/conversations.ts'
import type { PersonVerbs } from '../operator/person.ts'
import type { SeriesQuery, TurnSample } from '../operator/turn-series.ts'
import type { TranscriptEntry, TranscriptQuery } from '../platform/platform-deps.ts'
import type {
  ClaimRow,
  Firing,
  FiringRow,
  NewNotification,
  NotificationRow,
  RouteRow,
} from '../platform/sending.ts'
import type { StatusLineRow } from '../platform/status-line.ts'
import type { TakeoverVerbs } from '../platform/takeover.ts'
import type { AccessVerbs } from './access-verbs.ts'
import type { ApprovalVerbs } from './approval-verbs.ts'
import type { HistoryStore, MarkMove, PositionFence } from './history-records.ts'
import type { KeepingVerbs } from './keeping-verbs.ts'
import type { LaneRequest, TakenTurns } from './lanes.ts'
import type { AttachmentRow, NodeReport, NodeRow } from './nodes.ts'
import type { Counter, SendFilter, SessionRow, TurnFilter } from './records.ts'
import type { Enqueued, LaterWordVerbs, NewSend, SendMove, SendRow, TakenSend } from './send-records.ts'
import type { ClaimState } from './states.ts'
import type { MoveOutcome, ReceiveItem, ReceiveResult, TurnMove, TurnRow } from './turn-records.ts'

/** A file that all nodes need. The integration assigns its name once. */
export interface KeptFile {
  readonly integration: string
  readonly name: string
  readonly bytes: Uint8Array
}

/** The progress of a copy, in pages. */
export type CopyProgress = (done: number, total: number) => void

/** The file of an embedded store. */
export interface DatabaseFile {
  readonly path: string
  /**
   * Compares the path with the open handle. Returns what happened to the file; null: it is in place. While it is
   * missing, every write is refused (`store_unavailable`), because it would be lost.
   */
  misplaced(): string | null
  /** Copies the store's content of one moment into a new file, even while the file is misplaced. */
  copyTo(path: string, onProgress?: CopyProgress): Promise<void>
  /** Overwrites removed content in the file: free pages, and the log. */
  wipeFree?(): Promise<void>
}

/** `unhurried`: not waited for, so it may share the next commit; without one it is written within milliseconds. */
export interface MoveOptions {
  readonly unhurried: boolean
}

export interface Work {
  readonly lane: string
  /** Agent (inbox) or integration (outbox). */
  readonly scope: string
}

export interface Store
  extends PersonVerbs,
    HistoryStore,
    LaterWordVerbs,
    ApprovalVerbs,
    AccessVerbs,
    TakeoverVerbs,
    ConversationVerbs,
    KeepingVerbs {
  /** Short random name of this database, part of every row id. */
  readonly tag: string
  /** `<node>/<boot>`: the owner of lanes and leases here, and the name of the ledger's chain. */
  readonly owner: string
  /** Whether other nodes may write to it. */
  readonly shared: boolean
  /** Present if the database is a local file. */
  readonly file?: DatabaseFile
  /** Returns `sqlite` or `postgres`, and the durability of the live connection. */
  durability(): Promise<{ readonly kind: 'sqlite' | 'postgres'; readonly detail: string }>

  // intake
  /** Writes rows, sessions, effects, cursor, mark, ledger and counters in one commit. */
  receive(
    items: readonly ReceiveItem[],
    /** `fence`: a lease that must still be held; otherwise nothing is written and this throws. */
    cursor?: { readonly integration: string; readonly value: string; readonly fence?: PositionFence },
    /** How far the place in the history was compared. */
    mark?: MarkMove,
  ): Promise<readonly ReceiveResult[]>
  cursor(integration: string): Promise<string | null>
  /**
   * Begins an attempt to read external input. Resolves after the commit with the number of attempts since the last
   * finished one, including this one. More than one means that a reader broke, or that the daemon died meanwhile.
   */
  beginTry(integration: string, input: string): Promise<number>
  /** The input was read, or was not the cause of the failure. */
  endTry(integration: string, input: string): Promise<void>

  // dispatch
  takeTurns(lanes: readonly LaneRequest[], leaseMs: number): Promise<readonly TakenTurns[]>
  moveTurns(moves: readonly TurnMove[], options?: MoveOptions): Promise<readonly MoveOutcome[]>
  /**
   * Enqueues and moves in one commit. A stale move writes nothing. A move to `failed` of an ended turn writes nothing
   * either, nor does a `sole` answer to an answered one (`ended`). Other messages of an agent are stored even for an
   * ended turn. `sends` without acceptance: the rows of exactly this answer, if it was given before under the same
   * keys.
   */
  accept(
    sends: readonly NewSend[],
    moves: readonly TurnMove[],
  ): Promise<{ readonly outcome: 'accepted' | 'stale' | 'ended'; readonly sends: readonly Enqueued[] }>
  /** Stores an event. False: no such turn, a known key, or the limit is reached. */
  keepTurnEvent(event: NewTurnEvent): Promise<boolean>
  /**
   * Records a sign of life that moves nothing: the turn's `updatedAt` becomes now, and the holder of its lane gets a
   * hint. False: it is not in flight, not this agent's, or being moved.
   */
  heardOf(turn: string, agent: string): Promise<boolean>
  /**
   * Like `accept`, for a turn that another node holds and whose agent spoke here. The lane keeps its holder, who gets
   * a hint. `stale`: the turn is no longer in flight, and nothing was written. `waiting`: also for a queued turn.
   */
  acceptFor(
    sends: readonly NewSend[],
    move: Pick<TurnMove, 'turn' | 'reason' | 'detail' | 'sole'> & {
      readonly to: 'seen' | 'answered' | 'failed'
      readonly waiting?: true
    },
  ): Promise<{ readonly outcome: 'accepted' | 'stale'; readonly sends: readonly Enqueued[] }>
  /** Records a status line that is shown, or (empty `line`) about to be. Resolves with the valid one. */
  keepStatusLine(line: Pick<StatusLineRow, 'turn' | 'to' | 'line'>): Promise<StatusLineRow>
  /** Returns the recorded lines, oldest first; `after`: only those after this one. */
  statusLines(limit: number, after?: Pick<StatusLineRow, 'turn' | 'at'>): Promise<readonly StatusLineRow[]>
  forgetStatusLine(turn: string): Promise<void>
  /**
   * For operators: failed or expired → queued; anything open → failed: cancelled. Null when the state does not allow
   * it.
   */
  operateTurn(id: string, verb: 'retry' | 'cancel', by: string): Promise<TurnRow | null>
  /** Returns turns queued longer than `olderThanMs`; at most `limit`. */
  overdueTurns(olderThanMs: number, limit: number): Promise<readonly TurnRow[]>
  /** Moves those still overdue → expired, each with its notices, in one commit. Returns the moved turns. */
  expireTurns(
    olderThanMs: number,
    turns: readonly { readonly id: string; readonly words: readonly NewSend[] }[],
  ): Promise<readonly TurnRow[]>

  // outlet
  enqueue(sends: readonly NewSend[]): Promise<readonly Enqueued[]>
  takeSends(lanes: readonly LaneRequest[], leaseMs: number): Promise<readonly TakenSend[]>
  moveSends(moves: readonly SendMove[], options?: MoveOptions): Promise<readonly MoveOutcome[]>
  /** For operators: failed or unknown → queued, or → failed: buried. Null when the state does not allow it. */
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
   * The session could not be reached. Its route ends, its claim is passed over, and the person is informed in the same
   * commit (`{label}` in the text is the thread's). Null: there is no such route.
   */
  giveBack(at: Address, session: string, words?: readonly NewSend[]): Promise<RouteRow | null>

  // notifications
  /** Logs an attempt without an outbox row. Other attempts are logged with their row. */
  logNotification(
    attempt: NewNotification & { readonly status: 'failed' | 'not_sent'; readonly error: string },
  ): Promise<void>
  /** Newest first. */
  notifications(filter: {
    readonly agent?: string
    readonly user?: string
    /** Only those before this one, by its id. */
    readonly before?: string
    readonly limit: number
  }): Promise<readonly NotificationRow[]>

  // schedules
  /** Writes the firing and its turn in one commit. `won: false`: it was fired before, here or elsewhere. */
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
  /** Returns lanes with open, due work that no node holds; `after` continues. */
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
  /** Takes a named lease (poller, schedule, socket). Null when another node holds it. */
  lease(name: string, ttlMs: number): Promise<{ readonly token: number } | null>
  releaseLease(name: string, token: number): Promise<void>
  /**
   * Checks whether the clock is before the last written time, because it was set back. All waiting times (rows, lanes,
   * leases, expiries of questions) then move back with it. Returns by how much; 0: it was not.
   */
  settleClock(): Promise<number>

  // nodes
  /** A heartbeat: the node's row, and its agents as rows. Sends a hint when more than the time changed. */
  beat(report: NodeReport): Promise<void>
  /** The node leaves and is no longer waited for. */
  leave(): Promise<void>
  /** Returns all nodes seen in the last day, latest first. */
  nodes(): Promise<readonly NodeRow[]>
  /** Returns which agents are, or recently were, attached to which node. */
  attachments(): Promise<readonly AttachmentRow[]>
  /** Sends hints to the other nodes without a commit. Lossy: only for dispensable hints. */
  tell(hints: readonly Hint[]): void

  // limits
  /**
   * Takes up to `take` tokens from each shared bucket; each key once per call. `retryAfterMs`: when a token will be
   * available, if none was granted. Absent with one node, whose own buckets are enough.
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
  /** Stores a file whole or not at all, beside other commits. The same name again changes nothing. */
  keepFile(file: KeptFile): Promise<void>
  /** Null when there is none, or it was pruned. */
  keptFile(integration: string, name: string): Promise<Uint8Array | null>

  // reading
  turn(id: string): Promise<TurnRow | null>
  turns(filter: TurnFilter): Promise<readonly TurnRow[]>
  /** Returns when each of these agents last got a message; absent: never. */
  lastReceived(agents: readonly string[]): Promise<ReadonlyMap<string, number>>
  /** For charts: all turns since then, or a sample of bounded size. */
  sampleTurns(query: SeriesQuery): Promise<TurnSample>
  /**
   * Returns messages refused as `not_mentioned` at the place of a group's turn. They lie before it, after the last
   * handed turn of its session, and not before the session was opened. Returns the newest `limit`, oldest first,
   * without deleted bodies.
   */
  overheard(
    turn: string,
    query: { readonly sinceMs: number; readonly limit: number },
  ): Promise<readonly TurnRow[]>
  // journals of loops that run in this process
  /** Stores a step. False: the position is taken, or the turn is not in work. */
  keepStep(step: NewTurnStep): Promise<boolean>
  turnSteps(turn: string): Promise<readonly TurnStep[]>
  /** Returns earlier turns of the session that were handed over, newest first, with their steps and answers. */
  pastTurns(session: string, before: string, limit: number): Promise<readonly PastTurn[]>
  spentTokens(agent: string, day: string): Promise<TokenUsage>
  /** By agent, day and model. */
  usage(sinceDay: string): Promise<readonly UsageRow[]>

  /** In order. Empty for an unknown turn. */
  turnEvents(id: string): Promise<readonly TurnEventRow[]>
  send(id: string): Promise<SendRow | null>
  sends(filter: SendFilter): Promise<readonly SendRow[]>
  session(id: string): Promise<SessionRow | null>
  /** Returns the session an address leads to now; null if there is none. */
  sessionAt(agent: string, at: Address): Promise<SessionRow | null>
  transcript(integration: string, query: TranscriptQuery): Promise<readonly TranscriptEntry[]>
  /** Returns the transcript positions of queued and sending messages there, in no order. */
  onItsWay(integration: string): Promise<readonly number[]>
  counters(): Promise<readonly Counter[]>
  /** Returns queued turns by agent, counted on the index of queued turns (never on the whole table). */
  queuedTurns(): Promise<readonly { readonly agent: string; readonly count: number }[]>
  /**
   * Returns sessions with turns queued behind one that is in flight since before that time: longest queue first, at
   * most 20.
   */
  waitingBehind(before: number): Promise<
    readonly {
      readonly agent: string
      readonly turn: string
      readonly since: number
      readonly behind: number
    }[]
  >
  /** Returns integrations with waiting sends from before that time, or with open outcomes. */
  waitingSends(before: number): Promise<
    readonly {
      readonly integration: string
      readonly waiting: number
      readonly open: number
      /** Creation time of the oldest. */
      readonly since: number
    }[]
  >

  /** `from`: the owner name of the sending node; null: this one. */
  onHint(listen: (hint: Hint, from: string | null) => void): void
  /**
   * Calls `listen` within a commit, after its verbs have run, with the coming hints. Verbs called before `listen`
   * returns join that commit. Lossy like a hint. Nothing is committed yet, so only such verbs may act on it.
   */
  onCommit(listen: (hints: readonly Hint[]) => void): void
  close(): Promise<void>
}

/** The store for all code but the outlet, because outbox rows are made in one place. */
export type StoreBesideOutlet = Omit<Store, 'enqueue' | 'sayHeld'>
