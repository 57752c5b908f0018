// Room at the agents: how many turns of a lane may be taken now, and which lanes wait for a place. A turn is `handed` when
// it is about to be written, so no more are taken than can be: what waits for a window or a slot stays `queued`.
import type { Work } from '../../contract/index.ts'
import type { LaneHolds } from './lane-holds.ts'
import type { Roster } from './roster.ts'

export interface Rooms {
  now(work: Work): number
  /** What one lane is promised of it another is not: asked anew for every round. */
  share(): (work: Work) => number
  /** Nothing was taken of this lane, for there was no place. */
  wants(work: Work): void
  /** The lanes that waited for this agent, each once. */
  waiting(agent: string): readonly Work[]
}

/** More are found by the next sweep. */
const LANES_REMEMBERED = 10_000

export function createRooms(deps: {
  readonly roster: Pick<Roster, 'get'>
  readonly holds: Pick<LaneHolds, 'get'>
}): Rooms {
  const wanted = new Map<string, Set<string>>()

  const roomOf = ({ lane, scope }: Work): number => {
    const connector = deps.roster.get(scope)?.connector
    if (connector?.room) return connector.room(lane)
    const flights = [...(deps.holds.get(lane)?.flights.values() ?? [])]
    return flights.every((flight) => flight.written) ? 1 : 0
  }

  return {
    now: roomOf,
    share() {
      const promised = new Map<string, number>()
      return (work) => {
        const shared = deps.roster.get(work.scope)?.connector.room !== undefined
        const before = shared ? (promised.get(work.scope) ?? 0) : 0
        const room = Math.max(0, roomOf(work) - before)
        promised.set(work.scope, before + room)
        return room
      }
    },
    wants({ lane, scope }) {
      const lanes = wanted.get(scope) ?? new Set()
      wanted.set(scope, lanes)
      lanes.add(lane)
      const [oldest] = lanes.size > LANES_REMEMBERED ? lanes : []
      if (oldest !== undefined) lanes.delete(oldest)
    },
    waiting(agent) {
      const lanes = [...(wanted.get(agent) ?? [])]
      wanted.delete(agent)
      return lanes.map((lane) => ({ lane, scope: agent }))
    },
  }
}
