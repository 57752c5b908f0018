// The session lanes that this node holds, and the turns in flight in each.
//
// A turn boards when it is taken. It is in flight until it lands: answered, failed, acknowledged, put back, or lost
// with its lane. It is offered when its hand-over begins; from then on it cannot return unseen. It is written when its
// hand-over is over.
//
// Further flags describe its output. `said`: a message was sent for it, so an empty answer needs no notice. `replied`:
// the agent replied by the tool, and later text is held back. `asked`: a person was asked for it. `acknowledged`: it
// rests at its agent and is no longer waited for. `unseenTold`: its sender has heard once that nothing was seen of it
// for long.
//
// Hand-overs of one lane run one after another, or start in order if the agent lets them overlap. Turns that are put
// back go before turns taken meanwhile; `putBacks` tells earlier takes from later ones. A take whose answer was lost
// makes the lane doubtful. The next take then names the turns in flight here, and the store returns the other turns it
// holds as handed.
import {
  type Cancel,
  type Clock,
  createBoundedMap,
  type Logger,
  type Store,
  type TurnMove,
  type TurnRow,
} from '../../../contract/index.ts'
import { createLaneKeeper, type KeptLane } from '../../lanes/lane-keeper.ts'
import { rowAddress, type SignalSink } from '../../signals.ts'

export interface Flight {
  row: TurnRow
  /** Its hand-over has begun. Until then it can return unseen. */
  offered: boolean
  /** Its hand-over is over. */
  written: boolean
  /** A message was sent for it, so an empty answer gets no notice. */
  said: boolean
  /** Its agent replied by the tool. Later text is not sent. */
  replied: boolean
  /** A person was asked for it. */
  asked: boolean
  acknowledged: boolean
  /** It had no evidence for long, and its sender was informed of it or of an earlier turn. */
  unseenTold: boolean
  /** Running commits of its agent's output. While there are any, the agent is not silent. */
  speaking: number
  cancelTimeout: Cancel
  cancelTyping: Cancel
}

export interface LaneHold extends KeptLane {
  readonly agent: string
  readonly flights: Map<string, Flight>
  /**
   * Resolves when the next turn may be offered. Hand-overs of one lane begin in order, even when two takes overlap.
   */
  offering: Promise<void>
  /** Resolves when all hand-overs are over. */
  handingOver: Promise<void>
  /** Counts put-backs. A take requested before a put-back may have skipped the older turns. */
  putBacks: number
  /** Resolves when running put-backs are written; null: none runs. */
  puttingBack: Promise<unknown> | null
  /** More turns waited in the lane at its last take than were taken. */
  more: boolean
  /** Waiting turns whose attachments are ready. */
  readonly ready: Set<string>
  /** Waiting turns that passed a full access check. */
  readonly judged: Set<string>
  /** The result of the last take is unknown. The store may hold turns as handed that are not in flight here. */
  doubtful: boolean
}

/** The lane's state here at the time of the request. */
export interface Before {
  readonly held: LaneHold | undefined
  readonly putBacks: number
  readonly askedAt: number
}

export interface LaneHolds {
  get(lane: string): LaneHold | undefined
  all(): readonly LaneHold[]
  /** Whether the lane is held, or was released a moment ago. Hints about it concern this node. */
  knows(lane: string): boolean
  before(lane: string): Before
  take(lane: string, agent: string, token: number, askedAt: number): LaneHold
  /**
   * Whether the lease ran out unnoticed because this process slept. Another node may have the lane, and no more may be
   * sent for it.
   */
  isOver(hold: LaneHold): boolean
  /** A take of this lane failed, and its commit is uncertain. */
  doubt(lane: string): void
  board(hold: LaneHold, row: TurnRow): void
  land(hold: LaneHold, turn: string): void
  flight(turn: string): { readonly hold: LaneHold; readonly flight: Flight } | null
  /** The lane has no open turn. It is released soon, unless work arrives. */
  rest(hold: LaneHold): void
  /** Releases the lane at once. */
  release(hold: LaneHold): Promise<void>
  /** Releases every lane of an agent that left. The next owner finds the turns in flight as left behind. */
  releaseAgent(agent: string): Promise<void>
  /** Forgets the lane without a write, because another node owns it. */
  drop(hold: LaneHold | undefined): void
  onLost(listen: (lane: string, agent: string, turns: readonly string[]) => void): void
  /** Whether the turn was in flight here when another node took its lane, and has not returned. */
  wasLost(turn: string): boolean
  /** Resolves when the hand-overs of these lanes are over, or after `mostMs`. */
  handedOver(lanes: readonly LaneHold[], mostMs: number): Promise<void>
  stop(): Promise<void>
}

const HAND_OVER_MS = 1_000
/** A hand-over that still runs then is left behind, and offered again as a marked repeat. */
const STOP_GRACE_MS = 10_000
const TYPING_EVERY_MS = 4_000
const LOST_REMEMBERED = 10_000

export interface LaneHoldsDeps {
  readonly store: Pick<Store, 'renewLanes' | 'releaseLanes' | 'moveTurns' | 'shared'>
  readonly clock: Clock
  readonly log: Logger
  readonly leaseMs: number
  readonly signal: SignalSink
  /** The agent is not asked again when a lane moves, so its output at the node that lost the lane still counts. */
  readonly livesOn: (agent: string) => boolean
}

export function createLaneHolds(deps: LaneHoldsDeps): LaneHolds {
  const { store, clock } = deps
  const keeper = createLaneKeeper<LaneHold>({
    kind: 'turns',
    store,
    clock,
    log: deps.log,
    leaseMs: deps.leaseMs,
    lost: (hold) => lose(hold),
    left(hold) {
      for (const turn of hold.flights.keys()) land(hold, turn)
    },
  })
  const byTurn = new Map<string, { readonly hold: LaneHold; readonly flight: Flight }>()
  const lostListeners: ((lane: string, agent: string, turns: readonly string[]) => void)[] = []
  const lost = createBoundedMap<string, true>(LOST_REMEMBERED)

  /** Another node has the lane. The turns in flight here are no longer ours. */
  const lose = (hold: LaneHold) => {
    const turns = [...hold.flights.keys()]
    if (!deps.livesOn(hold.agent)) for (const turn of turns) lost.set(turn, true)
    keeper.forget(hold)
    for (const listen of lostListeners) listen(hold.lane, hold.agent, turns)
  }

  const land = (hold: LaneHold, turn: string) => {
    const flight = hold.flights.get(turn)
    if (!flight) return
    flight.cancelTimeout()
    flight.cancelTyping()
    hold.flights.delete(turn)
    if (byTurn.get(turn)?.hold === hold) byTurn.delete(turn)
    if (hold.flights.size === 0) deps.signal(rowAddress(flight.row), { kind: 'typing', on: false })
  }

  const putBackUnoffered = async (from: readonly LaneHold[]) => {
    const moves: TurnMove[] = from.flatMap((hold) =>
      [...hold.flights.values()]
        .filter((flight) => !flight.offered)
        .map(({ row }) => ({
          lane: hold.lane,
          token: hold.token,
          turn: row.id,
          to: 'queued',
          uncounted: true,
        })),
    )
    if (moves.length === 0) return
    for (const hold of from)
      for (const flight of [...hold.flights.values()]) if (!flight.offered) land(hold, flight.row.id)
    await store.moveTurns(moves)
  }

  /** Resolves when these hand-overs are over, or after `mostMs`. */
  const handedOver = (lanes: readonly LaneHold[], mostMs: number): Promise<void> =>
    new Promise((resolve) => {
      const cancel = clock.after(mostMs, resolve)
      void Promise.allSettled(lanes.map((hold) => hold.handingOver)).then(() => {
        cancel()
        resolve()
      })
    })

  const keepTyping = (flight: Flight) => {
    deps.signal(rowAddress(flight.row), { kind: 'typing', on: true })
    flight.cancelTyping = clock.after(TYPING_EVERY_MS, () => keepTyping(flight))
  }

  return {
    get: keeper.get,
    all: keeper.all,
    knows: keeper.knows,
    before(lane) {
      const held = keeper.get(lane)
      return { held, putBacks: held?.putBacks ?? 0, askedAt: clock.now() }
    },
    take(lane, agent, token, askedAt) {
      const known = keeper.get(lane)
      const hold: LaneHold = known?.token === token ? known : newHold(lane, agent, token)
      keeper.keep(hold, askedAt)
      return hold
    },
    doubt(lane) {
      const hold = keeper.get(lane)
      if (!hold) return
      hold.doubtful = true
      hold.restingSince = null
    },
    board(hold, row) {
      const flight: Flight = {
        row,
        offered: false,
        written: false,
        said: false,
        replied: false,
        asked: false,
        acknowledged: false,
        unseenTold: false,
        speaking: 0,
        cancelTimeout: () => undefined,
        cancelTyping: () => undefined,
      }
      lost.delete(row.id)
      hold.ready.delete(row.id)
      hold.judged.delete(row.id)
      hold.flights.set(row.id, flight)
      byTurn.set(row.id, { hold, flight })
      keepTyping(flight)
    },
    land,
    flight: (turn) => byTurn.get(turn) ?? null,
    rest: keeper.rest,
    release: (hold) => keeper.release([hold]),
    async releaseAgent(agent) {
      const leaving = keeper.all().filter((hold) => hold.agent === agent)
      // If this write fails, the lane's next owner finds the turns as left behind. Keeping the lane would renew it for
      // ever.
      await putBackUnoffered(leaving).catch((thrown) =>
        deps.log.warn({ agent, error: String(thrown) }, 'turns could not be put back'),
      )
      // A running hand-over ends normally. A turn that was not taken returns to the queue, and the attempt does not
      // count.
      await handedOver(leaving, HAND_OVER_MS)
      await keeper.release(leaving)
    },
    isOver: keeper.isOver,
    drop(hold) {
      if (hold) lose(hold)
    },
    handedOver,
    wasLost: (turn) => lost.has(turn),
    onLost(listen) {
      lostListeners.push(listen)
    },
    async stop() {
      const all = keeper.all()
      // No hand-over begins, and running ones are recorded. Otherwise the next owner would offer them again.
      await putBackUnoffered(all).catch(() => undefined)
      await handedOver(all, STOP_GRACE_MS)
      await keeper.stop()
    },
  }
}

function newHold(lane: string, agent: string, token: number): LaneHold {
  return {
    lane,
    agent,
    token,
    until: 0,
    restingSince: null,
    flights: new Map(),
    offering: Promise.resolve(),
    handingOver: Promise.resolve(),
    putBacks: 0,
    puttingBack: null,
    more: false,
    ready: new Set(),
    judged: new Set(),
    doubtful: false,
  }
}
