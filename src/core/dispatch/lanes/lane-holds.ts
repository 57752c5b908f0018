// The session lanes that this node holds, and the turns in flight in each.
//
// A turn boards when it is taken and is in flight until it lands: answered, failed, acknowledged, put back, or lost with its
// lane. On its way it is offered (its hand-over began: it can no longer go back unseen), written (its hand-over is over), and
// maybe spoken for: `said` spares an answer without a word its notice; `replied`, by the tool, keeps back what its agent writes from
// then on; `asked` tells that a person was asked for it, `acknowledged` that it rests at its agent and is waited for no longer, and
// `unseenTold` that its sender heard, once, that nothing was seen of it for long. Hand-overs of one lane follow one another, or begin so where its agent lets them overlap. What is put back into a lane goes before what was taken
// meanwhile: `putBacks` tells a take that was asked for before from one after. A take whose answer was lost leaves the lane
// doubtful: the next one names what is in flight here, and the store tells what else it holds for handed.
import {
  type Cancel,
  type Clock,
  createBoundedMap,
  type Logger,
  type Store,
  type TurnMove,
  type TurnRow,
} from '../../../contract/index.ts'
import { createLaneKeeper, type KeptLane } from '../../lane-keeper.ts'
import { rowAddress, type SignalSink } from '../../signals.ts'

export interface Flight {
  row: TurnRow
  /** Its hand-over has begun; until then it can go back unseen. */
  offered: boolean
  /** Its hand-over is over. */
  written: boolean
  /** Something was said for it: an answer without a word gets a notice. */
  said: boolean
  /** Its agent replied by the tool: what it writes from then on is not said. */
  replied: boolean
  /** A person was asked for it. */
  asked: boolean
  acknowledged: boolean
  /** It lay without evidence for long, and its sender was told, or told of one before it. */
  unseenTold: boolean
  /** Commits under way of what its agent said: as long as there are any it is not silent. */
  speaking: number
  cancelTimeout: Cancel
  cancelTyping: Cancel
}

export interface LaneHold extends KeptLane {
  readonly agent: string
  readonly flights: Map<string, Flight>
  /** Until the next one may be offered: hand-overs of one lane begin one after the other, also when two takes overlap. */
  offering: Promise<void>
  /** Until all of them are over. */
  handingOver: Promise<void>
  /** Counts what was put back into it: a take that was asked for before may have passed over the older ones. */
  putBacks: number
  /** Until those that are being written are; null: none is. */
  puttingBack: Promise<unknown> | null
  /** More waited in it when it was last taken than was let through. */
  more: boolean
  /** Turns that wait in it, and whose attachments were made ready. */
  readonly ready: Set<string>
  /** Turns that wait in it, and that were admitted by a judgement that takes more than a look. */
  readonly judged: Set<string>
  /** What came of the last take was never heard: the store may hold turns for handed that are not in flight here. */
  doubtful: boolean
}

/** How a lane stood here when it was asked for. */
export interface Before {
  readonly held: LaneHold | undefined
  readonly putBacks: number
  readonly askedAt: number
}

export interface LaneHolds {
  get(lane: string): LaneHold | undefined
  all(): readonly LaneHold[]
  /** Held, or given back a moment ago: what is said about it meanwhile concerns this node. */
  knows(lane: string): boolean
  before(lane: string): Before
  take(lane: string, agent: string, token: number, askedAt: number): LaneHold
  /** The lease ran out unnoticed (this process slept): another node may have it, and nothing more may go out for it. */
  isOver(hold: LaneHold): boolean
  /** A take of this lane failed: whether it was committed is not known. */
  doubt(lane: string): void
  board(hold: LaneHold, row: TurnRow): void
  land(hold: LaneHold, turn: string): void
  flight(turn: string): { readonly hold: LaneHold; readonly flight: Flight } | null
  /** Nothing is open in it: released soon, unless work comes. */
  rest(hold: LaneHold): void
  /** Gives the lane back at once. */
  release(hold: LaneHold): Promise<void>
  /** Gives back every lane of an agent that went away; what was in flight is found there as left behind. */
  releaseAgent(agent: string): Promise<void>
  /** Forgets the lane without writing: it is no longer ours. */
  drop(hold: LaneHold | undefined): void
  onLost(listen: (lane: string, agent: string, turns: readonly string[]) => void): void
  /** It was in flight here when its lane was lost to another node, which offers it again, and did not come back. */
  wasLost(turn: string): boolean
  /** Resolves when the hand-overs of these lanes are over, or after a while. */
  handedOver(lanes: readonly LaneHold[], mostMs: number): Promise<void>
  stop(): Promise<void>
}

const HAND_OVER_MS = 1_000
/** What is in the middle of a hand-over by then is left behind, and offered again as a marked repeat. */
const STOP_GRACE_MS = 10_000
const TYPING_EVERY_MS = 4_000
const LOST_REMEMBERED = 10_000

export interface LaneHoldsDeps {
  readonly store: Pick<Store, 'renewLanes' | 'releaseLanes' | 'moveTurns' | 'shared'>
  readonly clock: Clock
  readonly log: Logger
  readonly leaseMs: number
  readonly signal: SignalSink
  /** Nobody asks this agent again when a lane moves, so what it says at the node that lost it still counts. */
  readonly livesOn: (agent: string) => boolean
}

export function createLaneHolds(deps: LaneHoldsDeps): LaneHolds {
  const { store, clock } = deps
  const keeper = createLaneKeeper<LaneHold>({
    ...{ kind: 'turns', store, clock, log: deps.log, leaseMs: deps.leaseMs },
    lost: (hold) => lose(hold),
    left(hold) {
      for (const turn of hold.flights.keys()) land(hold, turn)
    },
  })
  const byTurn = new Map<string, { readonly hold: LaneHold; readonly flight: Flight }>()
  const lostListeners: ((lane: string, agent: string, turns: readonly string[]) => void)[] = []
  const lost = createBoundedMap<string, true>(LOST_REMEMBERED)

  /** Another node has it: what is in flight here is no longer ours. */
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

  /** Resolves when what is being handed over has ended as it ends, or after a while. */
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
      // What cannot be written now is found as left behind by whoever has the lane next; kept, it would be renewed for ever.
      await putBackUnoffered(leaving).catch((thrown) =>
        deps.log.warn({ agent, error: String(thrown) }, 'turns could not be put back'),
      )
      // A hand-over that is under way ends as it ends: what was not taken goes back to the queue, and counts for nothing.
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
      // Nothing new begins, and what began is written down: the next owner would else offer it a second time.
      await putBackUnoffered(all).catch(() => undefined)
      await handedOver(all, STOP_GRACE_MS)
      await keeper.stop()
    },
  }
}

function newHold(lane: string, agent: string, token: number): LaneHold {
  return {
    ...{ lane, agent, token, until: 0, restingSince: null },
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
