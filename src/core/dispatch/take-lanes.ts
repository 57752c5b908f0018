// How lanes are taken for the drain: each asks for as much as can be written to its agent now, and one without room is
// given back as `full`, so that its turns stay queued. What may not be handed over as it
// stands (access to it was taken back, its files are not there yet) stays queued, too.
import {
  type AgentConnector,
  type Clock,
  LEASE_MS,
  type Store,
  type TakenTurns,
  type TurnRow,
  type Work,
} from '../../contract/index.ts'
import type { Admission } from '../people/admission.ts'
import type { Before, LaneHold, LaneHolds } from './lane-holds.ts'
import { laneRequest } from './lane-request.ts'
import type { Rooms } from './rooms.ts'
import type { Roster } from './roster.ts'

export type TakenLane = (TakenTurns | { readonly lane: string; readonly outcome: 'full' }) & {
  readonly scope: string
  readonly before: Before
}

export interface TakeLanesDeps {
  readonly store: Pick<Store, 'takeTurns'>
  readonly clock: Clock
  readonly roster: Pick<Roster, 'get'>
  readonly holds: LaneHolds
  readonly rooms: Rooms
  readonly admission: Pick<Admission, 'atOnce'>
  /** Somebody who waited for this agent may find a place. */
  readonly roomy: (agent: string) => void
}

/** Its connector makes files ready first, and has not yet. */
export function mustPrepare(
  connector: AgentConnector | undefined,
  hold: LaneHold | undefined,
  { id, body }: TurnRow,
): boolean {
  return connector?.prepare !== undefined && (body?.attachments ?? []).length > 0 && !hold?.ready.has(id)
}

export function createTakeLanes(deps: TakeLanesDeps) {
  const { store, roster, holds, rooms } = deps

  const toRequest = ({ lane, scope }: Work, pressed: boolean, room: number) => {
    const hold = holds.get(lane)
    if (hold) hold.restingSince = null // or it might be let go before the answer comes
    const connector = roster.get(scope)?.connector
    const mayHand = (turn: TurnRow) =>
      (hold?.judged.has(turn.id) || deps.admission.atOnce(turn)) && !mustPrepare(connector, hold, turn)
    const how = { wide: connector?.window ?? 1, pressed, room, mayHand }
    return laneRequest(lane, hold, how)
  }

  /** By the next turn of the loop what could be written is written: what is left over is for whoever waits. */
  const used = (lanes: readonly Work[]) =>
    deps.clock.after(0, () => {
      for (const work of lanes) rooms.over(work)
      for (const scope of new Set(lanes.map((work) => work.scope))) deps.roomy(scope)
    })

  return async (lanes: readonly Work[], pressed: boolean): Promise<readonly TakenLane[]> => {
    const dealt = rooms.deal(lanes)
    const asked = lanes.map((work, at) => ({ work, room: dealt[at] ?? 0, before: holds.before(work.lane) }))
    const open = asked.filter(({ room }) => room > 0)
    const requests = open.map(({ work, room }) => toRequest(work, pressed, room))
    const taken = new Map<string, TakenTurns>()
    if (requests.length > 0) {
      const found = await store
        .takeTurns(requests, LEASE_MS)
        .catch((thrown) => {
          for (const { work } of open) holds.doubt(work.lane)
          throw thrown
        })
        .finally(() => used(open.map(({ work }) => work)))
      for (const one of found) taken.set(one.lane, one)
    }
    return asked.map(({ work: { lane, scope }, before }) => ({
      ...(taken.get(lane) ?? { lane, outcome: 'full' as const }),
      ...{ scope, before },
    }))
  }
}
