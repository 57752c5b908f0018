// Capacity of agents: how many turns of a lane may be taken now, and which lanes wait for a place. A turn becomes
// `handed` just before it is written, so no more are taken than can be written. Turns that wait for a window or a slot
// stay `queued`.
import { type BoundedMap, createBoundedMap, type Work } from '../../../contract/index.ts'
import type { Roster } from '../../roster.ts'
import type { LaneHolds } from './lane-holds.ts'

export interface Rooms {
  /**
   * Returns the number of turns each lane of a round may take. Places are promised once, and lanes of one agent share
   * them, so one commit hands over to all of them. A promise lasts until `over`.
   */
  deal(lanes: readonly Work[]): readonly number[]
  /** The lane's promise was used or not needed. */
  over(work: Work): void
  /** Records that this lane got no place. False: there is a place now, and no lane holds a promise for it. */
  waits(work: Work): boolean
  /** Returns some lanes that waited for this agent and have room now, each once, longest wait first. */
  next(agent: string): readonly Work[]
}

/** The next sweep finds further lanes. */
const LANES_REMEMBERED = 10_000
/** Further lanes are woken when these have been taken. */
const LANES_AT_A_TIME = 32

export function createAgentCapacity(deps: {
  readonly roster: Pick<Roster, 'get'>
  readonly holds: Pick<LaneHolds, 'get'>
  /** Whether no turn may be taken for this agent now. */
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
