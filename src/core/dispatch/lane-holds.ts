// The session lanes that this node holds, and the turns in flight in each. Renews the leases, and lets go of lanes
// that rest: an idle lane may be wanted by another node.
import {
  type Cancel,
  type Clock,
  createBoundedMap,
  type Logger,
  type Store,
  type TurnMove,
  type TurnRow,
} from '../../contract/index.ts'
import { rowAddress, type SignalSink } from '../signals.ts'

export interface Flight {
  row: TurnRow
  /** Its hand-over has begun; until then it can go back unseen. */
  offered: boolean
  /** Its hand-over is over. */
  written: boolean
  /** Something was said for it: an answer without a word gets a notice. */
  said: boolean
  acknowledged: boolean
  /** It lay without evidence for long, and its sender was told, or told of one before it. */
  unseenTold: boolean
  /** Commits under way of what its agent said: as long as there are any it is not silent. */
  speaking: number
  cancelTimeout: Cancel
  cancelTyping: Cancel
}

export interface LaneHold {
  readonly lane: string
  readonly agent: string
  token: number
  readonly flights: Map<string, Flight>
  /** Hand-overs of one lane follow one another, also when two takes overlap. */
  handingOver: Promise<void>
  /** Counts what was put back into it: a take that was asked for before may have passed over the older ones. */
  putBacks: number
  /** The one that is being written; null: none is. */
  puttingBack: Promise<unknown> | null
  /** More waited in it when it was last taken than was let through. */
  more: boolean
  /** Turns that wait in it, and whose attachments were made ready. */
  readonly ready: Set<string>
  /** What came of the last take was never heard: the store may hold turns for handed that are not in flight here. */
  doubtful: boolean
  /** Set while nothing is in flight. */
  restingSince: number | null
  /** By this node's clock: until then nobody else can have it. */
  until: number
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
  stop(): Promise<void>
}

const REST_MS = 1_000
const HAND_OVER_MS = 1_000
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
  const holds = new Map<string, LaneHold>()
  const byTurn = new Map<string, LaneHold>()
  /** Lanes that were let go since the last but one look. */
  let left = new Set<string>()
  let justLeft = new Set<string>()
  const lostListeners: ((lane: string, agent: string, turns: readonly string[]) => void)[] = []
  const lost = createBoundedMap<string, true>(LOST_REMEMBERED)
  let cancelTick: Cancel = () => undefined
  let stopped = false
  let renewedAt = clock.now()

  const tick = () => {
    cancelTick = clock.after(REST_MS, () => {
      upkeep()
        .catch((thrown) =>
          deps.log.warn({ error: String(thrown) }, 'lanes could not be renewed; will try again'),
        )
        .finally(() => {
          if (!stopped) tick()
        })
    })
  }

  const upkeep = async () => {
    const now = clock.now()
    const rested = [...holds.values()].filter(
      (one) => one.restingSince !== null && elapsedMs(now, one.restingSince) >= REST_MS,
    )
    for (const hold of rested) forget(hold)
    if (rested.length > 0) await store.releaseLanes('turns', rested)
    if (elapsedMs(now, renewedAt) < deps.leaseMs / 4) return
    left = justLeft
    justLeft = new Set()
    const held = [...holds.values()]
    renewedAt = now
    if (held.length === 0) return
    const kept = await store.renewLanes('turns', held, deps.leaseMs)
    for (const [index, hold] of held.entries()) {
      if (kept[index]) hold.until = Math.max(hold.until, now + deps.leaseMs)
      else lose(hold)
    }
  }

  /** Another node has it: what is in flight here is no longer ours. */
  const lose = (hold: LaneHold) => {
    const turns = [...hold.flights.keys()]
    if (!deps.livesOn(hold.agent)) for (const turn of turns) lost.set(turn, true)
    forget(hold)
    for (const listen of lostListeners) listen(hold.lane, hold.agent, turns)
  }

  const forget = (hold: LaneHold) => {
    for (const turn of hold.flights.keys()) land(hold, turn)
    if (holds.get(hold.lane) === hold) holds.delete(hold.lane)
    left.add(hold.lane)
    justLeft.add(hold.lane)
  }

  const land = (hold: LaneHold, turn: string) => {
    const flight = hold.flights.get(turn)
    if (!flight) return
    flight.cancelTimeout()
    flight.cancelTyping()
    hold.flights.delete(turn)
    if (byTurn.get(turn) === hold) byTurn.delete(turn)
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

  const keepTyping = (flight: Flight) => {
    deps.signal(rowAddress(flight.row), { kind: 'typing', on: true })
    flight.cancelTyping = clock.after(TYPING_EVERY_MS, () => keepTyping(flight))
  }

  tick()

  return {
    get: (lane) => holds.get(lane),
    all: () => [...holds.values()],
    knows: (lane) => holds.has(lane) || left.has(lane),
    before(lane) {
      const held = holds.get(lane)
      return { held, putBacks: held?.putBacks ?? 0, askedAt: clock.now() }
    },
    take(lane, agent, token, askedAt) {
      const until = askedAt + deps.leaseMs
      const known = holds.get(lane)
      if (known && known.token === token) {
        known.restingSince = null
        known.until = Math.max(known.until, until)
        return known
      }
      if (known) forget(known)
      const hold: LaneHold = {
        lane,
        agent,
        token,
        flights: new Map(),
        handingOver: Promise.resolve(),
        putBacks: 0,
        puttingBack: null,
        more: false,
        ready: new Set(),
        doubtful: false,
        restingSince: null,
        until,
      }
      holds.set(lane, hold)
      return hold
    },
    doubt(lane) {
      const hold = holds.get(lane)
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
        acknowledged: false,
        unseenTold: false,
        speaking: 0,
        cancelTimeout: () => undefined,
        cancelTyping: () => undefined,
      }
      lost.delete(row.id)
      hold.ready.delete(row.id)
      hold.flights.set(row.id, flight)
      byTurn.set(row.id, hold)
      keepTyping(flight)
    },
    land,
    flight(turn) {
      const hold = byTurn.get(turn)
      const flight = hold?.flights.get(turn)
      return hold && flight ? { hold, flight } : null
    },
    rest(hold) {
      hold.restingSince = clock.now()
    },
    async release(hold) {
      forget(hold)
      await store.releaseLanes('turns', [hold])
    },
    async releaseAgent(agent) {
      const leaving = [...holds.values()].filter((hold) => hold.agent === agent)
      // What cannot be written now is found as left behind by whoever has the lane next; kept, it would be renewed for ever.
      await putBackUnoffered(leaving).catch((thrown) =>
        deps.log.warn({ agent, error: String(thrown) }, 'turns could not be put back'),
      )
      // A hand-over that is under way ends as it ends: what was not taken goes back to the queue, and counts for nothing.
      await Promise.race([
        Promise.all(leaving.map((hold) => hold.handingOver)),
        new Promise<void>((resolve) => clock.after(HAND_OVER_MS, resolve)),
      ])
      for (const hold of leaving) if (holds.get(hold.lane) === hold) forget(hold)
      if (leaving.length > 0) await store.releaseLanes('turns', leaving)
    },
    isOver: (hold) => store.shared && clock.now() >= hold.until,
    drop(hold) {
      if (hold) lose(hold)
    },
    wasLost: (turn) => lost.has(turn),
    onLost(listen) {
      lostListeners.push(listen)
    },
    async stop() {
      stopped = true
      cancelTick()
      const all = [...holds.values()]
      await putBackUnoffered(all).catch(() => undefined)
      for (const hold of all) forget(hold)
      // Best effort: a lane that is not given back is free when its lease ends.
      if (all.length > 0) await store.releaseLanes('turns', all).catch(() => undefined)
    },
  }
}

/** In either direction: a wall clock that was set back must not keep a lease from being renewed until it has caught up. */
function elapsedMs(now: number, then: number): number {
  return Math.abs(now - then)
}
