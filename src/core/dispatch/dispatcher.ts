// DISPATCH: inbox → agent. It holds the lanes of sessions whose agent is attached here, hands turns over in order, and
// settles them by the evidence that returns. `handed` is committed before the hand-over. So every turn that a crash
// leaves behind is either offered again as a marked repeat or waited for, as the connector declares.
import {
  type AgentConnector,
  type AgentTrouble,
  type Clock,
  type Delivery,
  defined,
  LEASE_MS,
  type Logger,
  type NewSend,
  type Settings,
  type StoreBesideOutlet,
  type TurnMove,
  type TurnRow,
  type Work,
} from '../../contract/index.ts'
import type { Cluster } from '../cluster/cluster.ts'
import { createDrain, type Drain } from '../lanes/drain.ts'
import type { Pressure } from '../lanes/pressure.ts'
import type { TurnEnd } from '../outbound/notify-on.ts'
import { type Admission, NOT_KNOWN_YET } from '../people/admission.ts'
import type { Roster } from '../roster.ts'
import { type SignalSink, tellTurnState } from '../signals.ts'
import { createStoreRetry } from '../store-retry.ts'
import { createOfflineNotices } from './agent/offline-notices.ts'
import { createPastOutages } from './agent/past-outages.ts'
import { createReachability, type Reachability } from './agent/reachability.ts'
import { recallTrouble } from './agent/recall-trouble.ts'
import { toDelivery } from './delivery.ts'
import type { FailureNotes } from './failure-notes.ts'
import { createHandOver } from './hand-over.ts'
import { createAgentCapacity } from './lanes/agent-capacity.ts'
import { listenForLanes } from './lanes/lane-events.ts'
import { createLaneHolds, type Flight, type LaneHold } from './lanes/lane-holds.ts'
import { createMovedElsewhere } from './lanes/moved-elsewhere.ts'
import { createPutBack, type PutBack } from './lanes/put-back.ts'
import { createTakeLanes, mustPrepare, type PrepareToken, type TakenLane } from './lanes/take-lanes.ts'
import { createRecovery } from './recover-in-flight.ts'
import { retryDelayMs } from './retry-delay.ts'
import { createSettling, type Settling } from './settling.ts'
import { createTurnExpiry } from './turn-expiry.ts'

export interface DispatcherDeps {
  readonly store: StoreBesideOutlet
  readonly clock: Clock
  readonly log: Logger
  readonly settings: () => Settings
  readonly roster: Roster
  readonly cluster: Pick<Cluster, 'isFirst' | 'isMine' | 'onGone' | 'outageOf' | 'reaches' | 'caughtUp'>
  readonly signal: SignalSink
  /** False for a place where Switchboard cannot send. */
  readonly canSpeak: (integration: string) => boolean
  /** True for a place that never takes an answer. */
  readonly isOneWay: (integration: string) => boolean
  /** Instructions of the channel server behind an integration. */
  readonly instructionsOf?: (integration: string) => Delivery['instructions']
  /** Puts messages from Switchboard itself into the outbox. */
  readonly say: (sends: readonly NewSend[]) => Promise<unknown>
  /** The reaction that shows a sender that the agent has the message; null if there is none. */
  readonly ackReaction: (row: TurnRow) => NewSend | null
  /** Further messages at the end of a turn, committed with that end. */
  readonly ended: (row: TurnRow, end: TurnEnd) => readonly NewSend[]
  /** The agent refused a turn for good. A claim that led it there is undone. */
  readonly onRejected: (row: TurnRow) => void
  /** Access is checked again at hand-over. */
  readonly admission: Pick<Admission, 'atOnce' | 'ofTurn' | 'mayBeHeard'>
  /** A turn was not handed over because access was revoked. */
  readonly onRevoked: (row: TurnRow) => void
  readonly onAskerOver: (row: TurnRow) => void
  /**
   * A person at another node took over a conversation whose turn is in flight here. Its output is no longer shown.
   */
  readonly onTakenOver?: (turn: string) => void
  /** A turn whose answer our end cut off is offered again. */
  readonly onInterrupted?: (row: TurnRow) => void
  readonly pressure?: Pressure
  readonly crashPoint?: (name: string) => void
  /** Creates credentials for a turn, for connectors that order them. Absent: connectors create their own. */
  readonly prepareToken?: PrepareToken
  /** Notes to agents about messages that failed later. */
  readonly failures: FailureNotes
}

export interface Dispatcher {
  start(): void
  /** The flight of a turn that is in flight here; null otherwise. */
  flight(turn: string): { readonly hold: LaneHold; readonly flight: Flight } | null
  /**
   * Whether the turn was in flight here until another node took its lane. Output of its agent here comes too late.
   */
  wasLost(turn: string): boolean
  readonly settle: Settling['settle']
  readonly acknowledge: Settling['acknowledge']
  readonly heard: Settling['heard']
  readonly rest: Settling['rest']
  readonly giveUpRemoved: Settling['giveUpRemoved']
  /** The agent already has this offered turn. The attempt is given back, and a turn that was seen stays `seen`. */
  kept(turn: string, seen: boolean): Promise<void>
  readonly giveBack: PutBack['giveBack']
  /** The agent answered, with any result. */
  readonly reached: Reachability['reached']
  /** The agent may have free capacity. Lanes that wait for it are checked. */
  roomy(agent: string): void
  /**
   * Before a stop: waits for hand-overs that last as long as their answer, and starts no new ones for those agents.
   * Everything else continues.
   */
  finish(): Promise<void>
  /**
   * Before an agent restarts: the same for that agent alone. Null: none of its turns is under way, or their time is
   * over. The agent takes no turns until it is back, or until `reopen` cancels the restart.
   */
  finishAgent(agent: string): Promise<void> | null
  /** Cancels the planned restart of every agent except these. The others take turns again. */
  reopen(but: ReadonlySet<string>): void
  /** Stops the work on these turns. The store has already cancelled them. */
  abandon(agent: string, turns: readonly string[]): void
  stop(): Promise<void>
}

export function createDispatcher(deps: DispatcherDeps): Dispatcher {
  const { store, clock, log, roster } = deps
  const storeRetry = createStoreRetry(clock, log, store)
  const livesOn = (agent: string) => roster.get(agent)?.connector.redelivery.handed === 'wait'
  const holds = createLaneHolds({ store, clock, log, leaseMs: LEASE_MS, signal: deps.signal, livesOn })
  const reachability = createReachability({ clock, roster, roomy: (agent) => roomy(agent) })
  const pastOutages = createPastOutages({ store, clock, log, reachability })
  const finishMs = (agent: string) => roster.get(agent)?.connector.finishMs ?? 0
  /** Agents that are about to restart. True: the time for turns under way is over. */
  const ending = new Map<string, boolean>()
  const isClosed = (agent: string) =>
    (finishing && finishMs(agent) > 0) || ending.has(agent) || reachability.isClosed(agent)
  const rooms = createAgentCapacity({ roster, holds, isClosed, tried: reachability.tried })
  const takeLanes = createTakeLanes({ ...deps, holds, rooms, roomy: (agent) => roomy(agent) })
  const offline = createOfflineNotices({ ...deps, stopped: () => stopped })
  const unreached = ({ lane, agent }: LaneHold, detail: string, retryAfterMs?: number) => {
    reachability.failed(agent, detail, retryAfterMs)
    pastOutages.unreached(agent)
    offline.tell(lane, agent)
  }
  const refused = ({ lane, agent }: LaneHold, state: AgentTrouble['state'], detail: string) => {
    reachability.refused(agent, state, detail)
    pastOutages.unreached(agent)
    offline.tell(lane, agent)
  }
  let stopped = false
  let finishing = false
  const expiry = createTurnExpiry(deps)
  const settling = createSettling({
    ...deps,
    holds,
    storeRetry,
    wake: (work) => drain.wake(work),
    onSilent: (agent, forMs) => reachability.silent(agent, silentFor(forMs)),
    onAnswered: reachability.answered,
  })
  const { putBack, putBackBehind, giveBack } = createPutBack({
    ...deps,
    holds,
    storeRetry,
    settling,
    unreached,
    wake: (work) => drain.wake(work),
  })
  const recoverSends = createRecovery({
    ...deps,
    holds,
    storeRetry,
    settling,
    interrupted: (row) => deps.onInterrupted?.(row),
  })
  const handOverNext = createHandOver({
    ...deps,
    holds,
    storeRetry,
    settling,
    putBack,
    unreached,
    refused,
    wakeAfter: (work, ms) => drain.wakeAfter(work, ms),
    tellOffline: (lane, agent) => offline.tell(lane, agent),
  })

  const drain: Drain = createDrain<TakenLane>(
    {
      kind: 'turns',
      share: 1 / 8,
      reachable: () => roster.reachable(),
      isMine: (work, from) => holds.knows(work.lane) || deps.cluster.isMine(work.lane, work.scope, from),
      take: takeLanes,
      handle: (taken) =>
        handle(taken).catch((thrown) => log.error({ error: String(thrown) }, 'dispatch failed')),
    },
    { store, clock, log, ...defined({ pressure: deps.pressure }) },
  )

  /** Wakes as many waiting lanes of this agent as may get a place. The others keep waiting. */
  const roomy = (agent: string) => {
    for (const work of rooms.next(agent)) drain.wake(work)
  }

  const widthOf = ({ agent, lane }: LaneHold) => {
    const connector = roster.get(agent)?.connector
    return connector?.windowOf?.(lane) ?? connector?.window ?? 1
  }
  /** The agent can take no turn now. A lane with nothing in flight is released for other nodes. */
  const waitForRoom = (work: Work) => {
    if (!rooms.waits(work)) return drain.wake(work)
    if (reachability.isClosed(work.scope)) offline.tell(work.lane, work.scope)
    const hold = holds.get(work.lane)
    if (!hold) return
    hold.more = true
    if (hold.flights.size === 0) holds.rest(hold)
  }

  const handle = async (taken: TakenLane): Promise<void> => {
    const work = { lane: taken.lane, scope: taken.scope }
    if (taken.outcome === 'full') return waitForRoom(work)
    if (taken.outcome !== 'taken') {
      // `later` takes nothing away: turns in flight in a lane that we hold continue.
      if (taken.outcome !== 'later') holds.drop(holds.get(taken.lane))
      drain.wakeAfter(work, taken.outcome === 'lost' ? 0 : taken.retryAt - clock.now())
      return
    }
    // The lane was released meanwhile. Its next owner finds the taken turns as left in flight.
    if (taken.before.held && holds.get(taken.lane) !== taken.before.held) return drain.wake(work)
    const post = roster.get(taken.scope)
    const hold = holds.take(taken.lane, taken.scope, taken.token, taken.before.askedAt)
    hold.doubtful = false
    if (!post?.attached) return notNow(hold, taken.handed)
    // Older turns were put back while these were taken. The older ones go first.
    if ((hold.puttingBack || hold.putBacks !== taken.before.putBacks) && taken.handed.length > 0) {
      await putBackBehind(hold, taken.handed)
      return drain.wake(work)
    }
    if (taken.unsettled.length > 0) {
      await recoverSends(hold, taken.unsettled, post.connector)
      return drain.wake(work)
    }
    hold.more = taken.more
    for (const row of taken.handed) holds.board(hold, row)
    for (const row of taken.handed) handOverNext(hold, row, post.connector, taken)
    // Not awaited: more turns may be taken during these hand-overs.
    hold.handingOver = hold.handingOver.then(() => {
      if (taken.empty && hold.flights.size === 0) holds.rest(hold)
      if (hold.more) wakeIfRoom(hold)
    })
    if (taken.next) await makeReady(hold, taken.next, post.connector)
  }

  /** Under pressure, or with little capacity, only a few turns are taken at a time. */
  const wakeIfRoom = (hold: LaneHold) => {
    if (hold.flights.size < widthOf(hold)) drain.wake({ lane: hold.lane, scope: hold.agent })
  }

  /**
   * Access is checked and files are fetched while the turn is queued. `handed` means that the turn is being written.
   */
  const makeReady = async (hold: LaneHold, row: TurnRow, connector: AgentConnector) => {
    const work = { lane: hold.lane, scope: hold.agent }
    const judgement = await deps.admission.ofTurn(row)
    if (holds.get(hold.lane) !== hold) return drain.wake(work)
    if (judgement === 'unsure') {
      if (hold.flights.size === 0) await holds.release(hold)
      return drain.wakeAfter(work, retryDelayMs(row.attempts, NOT_KNOWN_YET))
    }
    if (judgement === 'revoked') await settling.revoke(hold, row)
    else hold.judged.add(row.id)
    if (judgement === 'admitted' && mustPrepare(connector, hold, row)) {
      await connector.prepare?.(toDelivery(row, hold.agent, hold.lane))
      hold.ready.add(row.id)
    }
    drain.wake(work)
  }

  /** The agent left while its turns were taken. No turn was handed over. */
  const notNow = async (hold: LaneHold, rows: readonly TurnRow[]) => {
    if (rows.length > 0) await putBack(hold, rows, { uncounted: true })
    await holds.release(hold)
  }

  const abandon = (agent: string, turns: readonly string[]) => {
    for (const turn of turns) {
      const flying = holds.flight(turn)
      if (!flying) continue
      tellTurnState(deps.signal, flying.flight.row, 'failed', 'cancelled')
      holds.land(flying.hold, turn)
      if (flying.hold.flights.size === 0) holds.drop(flying.hold)
      drain.wake({ lane: flying.hold.lane, scope: agent })
      stopWork(agent, flying.hold.lane, turn)
    }
  }

  const stopWork = (agent: string, lane: string, turn: string) =>
    roster
      .get(agent)
      ?.connector.cancel?.(lane, turn)
      .catch((thrown) => log.warn({ agent, error: String(thrown) }, 'a turn could not be stopped'))

  const movedElsewhere = createMovedElsewhere({
    store,
    holds,
    storeRetry,
    log,
    wake: (work) => drain.wake(work),
    ended(hold, row) {
      if (row.takeover !== undefined) deps.onTakenOver?.(row.id)
      if (row.reason === 'cancelled') abandon(hold.agent, [row.id])
      else settling.settledElsewhere(hold, row)
    },
  })

  recallTrouble({ ...deps, reachability, offline, stopped: () => stopped })
  listenForLanes({
    ...deps,
    holds,
    drain,
    offline,
    movedElsewhere,
    livesOn,
    stopWork,
    stopped: () => stopped,
  })

  return {
    start() {
      drain.sweep()
      expiry.start()
    },
    flight: (turn) => holds.flight(turn),
    wasLost: (turn) => holds.wasLost(turn),
    heard: settling.heard,
    rest: settling.rest,
    giveUpRemoved: settling.giveUpRemoved,
    async kept(turn, seen) {
      const { hold, flight } = holds.flight(turn) ?? {}
      if (!hold || !flight) return
      const to = seen ? 'seen' : 'handed'
      const back: TurnMove = { lane: hold.lane, token: hold.token, turn, to, uncounted: true }
      const [outcome] = await storeRetry.persist('give an attempt back', () => store.moveTurns([back]))
      if (outcome === 'stale') return holds.drop(hold)
      if (outcome === 'moved') flight.row = { ...flight.row, attempts: flight.row.attempts - 1 }
      if (seen) tellTurnState(deps.signal, flight.row, 'seen')
    },
    settle: settling.settle,
    acknowledge: settling.acknowledge,
    giveBack,
    reached: reachability.reached,
    roomy,
    abandon,
    async finish() {
      finishing = true
      const open = holds.all().filter(({ agent, flights }) => finishMs(agent) > 0 && flights.size > 0)
      await holds.handedOver(open, Math.max(0, ...open.map(({ agent }) => finishMs(agent))))
    },
    finishAgent(agent) {
      const open = holds.all().filter((hold) => hold.agent === agent && hold.flights.size > 0)
      if (finishMs(agent) === 0 || open.length === 0 || ending.get(agent)) {
        ending.delete(agent)
        return null
      }
      ending.set(agent, false)
      return holds.handedOver(open, finishMs(agent)).then(() => {
        if (ending.has(agent)) ending.set(agent, true)
      })
    },
    reopen(but) {
      for (const agent of [...ending.keys()]) {
        if (but.has(agent)) continue
        ending.delete(agent)
        roomy(agent)
      }
    },
    async stop() {
      stopped = true
      storeRetry.hurry()
      expiry.stop()
      reachability.stop()
      pastOutages.stop()
      await drain.stop()
      await holds.stop()
      storeRetry.stop()
    },
  }
}

function silentFor(ms: number): string {
  const seconds = Math.round(ms / 1_000)
  const long = seconds < 120 ? `${seconds} s` : `${Math.round(seconds / 60)} min`
  return `it took a message and did not answer within ${long}`
}
