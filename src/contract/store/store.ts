// The store's verbs. Each takes plain data, returns a result, and is atomic; there is no transaction to hold.
// One writer per node gathers the verbs of a loop turn into one commit; one verb's failure never rolls back its
// neighbours. The lane row is the lock: a lane is one session (inbox) or one conversation (outbox); it has an owner,
// a fencing token that only grows, and a time until. Every settle presents the token, so a frozen node that wakes up
// can write nothing. Every verb that changes something leaves its ledger entries and counters in the same commit.

import type { NewTurnStep, PastTurn, TokenUsage, TurnStep, UsageRow } from '../agent/turn-steps.ts'
import type { Address } from '../message/address.ts'
import type { Hint } from '../message/hints.ts'
import type { NewTurnEvent, TurnEventRow } from '../message/turn-events.ts'
import type { ConversationVerbs } from '../operator/conversations.ts'
import type { PersonVerbs } from '../operator/person.ts'
import type { SeriesQuery, TurnSample } from '../operator/turn-series.ts'
import type { TranscriptEntry, TranscriptQuery } from '../platform/platform.ts'
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

/** A file that all nodes need. Names are the integration's own, and given out once. */
export interface KeptFile {
  readonly integration: string
  readonly name: string
  readonly bytes: Uint8Array
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
  /** Overwrites all that the file keeps of removed content: pages that are free, and the log. */
  wipeFree?(): Promise<void>
}

/** `unhurried`: nobody waits for it, so it may share the next commit, and is written within milliseconds where none comes. */
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
  /**
   * A try to read an input of others begins. Resolves after the commit, with how many tries there were since the last one
   * that ended, this one included: more than one says that a reader broke, or that the daemon died meanwhile.
   */
  beginTry(integration: string, input: string): Promise<number>
  /** The input was read, or what went wrong was not its fault. */
  endTry(integration: string, input: string): Promise<void>

  // dispatch
  takeTurns(lanes: readonly LaneRequest[], leaseMs: number): Promise<readonly TakenTurns[]>
  moveTurns(moves: readonly TurnMove[], options?: MoveOptions): Promise<readonly MoveOutcome[]>
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
  moveSends(moves: readonly SendMove[], options?: MoveOptions): Promise<readonly MoveOutcome[]>
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

  // reading
  turn(id: string): Promise<TurnRow | null>
  turns(filter: TurnFilter): Promise<readonly TurnRow[]>
  /** When each of these agents was last written to; absent: never. */
  lastReceived(agents: readonly string[]): Promise<ReadonlyMap<string, number>>
  /** For charts: all since then, or some of them, never more than a fixed number. */
  sampleTurns(query: SeriesQuery): Promise<TurnSample>
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
  /** Places in the transcript of what is queued or being sent there, in no order. */
  onItsWay(integration: string): Promise<readonly number[]>
  counters(): Promise<readonly Counter[]>
  /** Queued turns by agent, counted on the index of queued turns (never on the whole table). */
  queuedTurns(): Promise<readonly { readonly agent: string; readonly count: number }[]>
  /** Sessions in which turns are queued behind one that is in flight since before that time, longest queue first, 20 at most. */
  waitingBehind(before: number): Promise<
    readonly {
      readonly agent: string
      readonly turn: string
      readonly since: number
      readonly behind: number
    }[]
  >
  /** Integrations through which sends wait that were made before that time, or whose outcome is open. */
  waitingSends(before: number): Promise<
    readonly {
      readonly integration: string
      readonly waiting: number
      readonly open: number
      /** When the oldest of them was made. */
      readonly since: number
    }[]
  >

  /** `from`: the owner name of the node that told it; null: this one. */
  onHint(listen: (hint: Hint, from: string | null) => void): void
  /**
   * Told within a commit, when its verbs have run, what will be hinted at after it: verbs that are called before `listen`
   * returns are part of that commit. Lossy like a hint; nothing is true yet, and nobody may act on it but by such a verb.
   */
  onCommit(listen: (hints: readonly Hint[]) => void): void
  close(): Promise<void>
}

/** What everybody but the outlet is handed: rows for the outbox are made in one place. */
export type StoreBesideOutlet = Omit<Store, 'enqueue' | 'sayHeld'>
