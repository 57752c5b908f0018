// Room at the agents: how many turns of a lane may be taken now, and which lanes wait for a place. A turn is `handed` when
// it is about to be written, so no more are taken than can be: what waits for a window or a slot stays `queued`.
import { type BoundedMap, createBoundedMap, type Work } from '../../../contract/index.ts'
import type { Roster } from '../agent/roster.ts'
import type { LaneHolds } from './lane-holds.ts'

export interface Rooms {
  /**
   * What each lane of a round may be given. What one is promised another is not; where many ask for one agent they share, so
   * that one commit hands over to all of them. Until `over` is said somebody holds a promise.
   */
  deal(lanes: readonly Work[]): readonly number[]
  /** What a lane was promised is in use by now, or was not needed. */
  over(work: Work): void
  /** Nothing was taken of this lane, for there was no place. False: there is one now, and nobody holds a promise of it. */
  waits(work: Work): boolean
  /** Some of the lanes that waited for this agent and have room now, each once, those that waited longest first. */
  next(agent: string): readonly Work[]
}

/** More are found by the next sweep. */
const LANES_REMEMBERED = 10_000
/** Whoever has room for more of them says so when these were taken. */
const LANES_AT_A_TIME = 32

export function createRooms(deps: {
  readonly roster: Pick<Roster, 'get'>
  readonly holds: Pick<LaneHolds, 'get'>
  /** Nothing is taken for this agent now. */
  readonly isClosed: (agent: string) => boolean
  /** A lane of this agent may be taken. */
  readonly tried: (agent: string) => void
}): Rooms {
  const wanted = new Map<string, BoundedMap<string, true>>()
  const promises = new Map<string, number>()

  const roomOf = ({ lane, scope }: Work): number => {
    if (deps.isClosed(scope)) return 0
    const connector = deps.roster.get(scope)?.connector
    if (connector?.room) return connector.room(lane)
    const flights = [...(deps.holds.get(lane)?.flights.values() ?? [])]
    if (connector?.overlaps) return connector.window - flights.length
    return flights.every((flight) => flight.written) ? 1 : 0
  }

  const promise = (scope: string, more: number) => promises.set(scope, (promises.get(scope) ?? 0) + more)

  return {
    deal(lanes) {
      const promised = new Map<string, number>()
      const asking = new Map<string, number>()
      for (const { scope } of lanes) asking.set(scope, (asking.get(scope) ?? 0) + 1)
      return lanes.map((work) => {
        const { scope } = work
        const room = roomOf(work)
        const shared = deps.roster.get(scope)?.connector.room !== undefined
        const before = promised.get(scope) ?? 0
        const share = shared ? Math.min(room - before, Math.ceil(room / (asking.get(scope) ?? 1))) : room
        if (share <= 0) return 0
        deps.tried(scope)
        promised.set(scope, before + share)
        promise(scope, 1)
        return share
      })
    },
    over: ({ scope }) => void promise(scope, -1),
    waits(work) {
      const { lane, scope } = work
      const lanes = wanted.get(scope) ?? createBoundedMap<string, true>(LANES_REMEMBERED)
      wanted.set(scope, lanes)
      if (!lanes.has(lane)) lanes.set(lane, true)
      const free = (promises.get(scope) ?? 0) === 0 && roomOf(work) > 0
      if (free) lanes.delete(lane)
      return !free
    },
    next(agent) {
      const found: Work[] = []
      for (const [lane] of wanted.get(agent) ?? []) {
        const work = { lane, scope: agent }
        if (roomOf(work) > 0) found.push(work)
        if (found.length >= LANES_AT_A_TIME) break
      }
      for (const { lane } of found) wanted.get(agent)?.delete(lane)
      return found
    },
  }
}
