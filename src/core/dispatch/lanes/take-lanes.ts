// Takes lanes for the drain. Each lane requests as many turns as can be written to its agent now. A lane without room
// is returned as `full`, and its turns stay queued. A turn that may not be handed over yet also stays queued: its
// access was revoked, or its files are not ready.
import {
  type AgentConnector,
  type Clock,
  defined,
  type LaneRequest,
  LEASE_MS,
  type NewToken,
  type Store,
  type TakenTurns,
  type TokenOrder,
  type TurnRow,
  type Work,
} from '../../../contract/index.ts'
import type { Admission } from '../../people/admission.ts'
import type { Roster } from '../../roster.ts'
import type { Rooms } from './agent-capacity.ts'
import type { Before, LaneHold, LaneHolds } from './lane-holds.ts'

export type TakenLane = (TakenTurns | { readonly lane: string; readonly outcome: 'full' }) & {
  readonly scope: string
  readonly before: Before
  /** The tokens that go out with each taken turn. */
  readonly tokens: ReadonlyMap<string, readonly string[]>
}

export interface TakeLanesDeps {
  readonly store: Pick<Store, 'takeTurns'>
  readonly clock: Clock
  readonly roster: Pick<Roster, 'get'>
  readonly holds: LaneHolds
  readonly rooms: Rooms
  readonly admission: Pick<Admission, 'atOnce'>
  /** A lane that waited for this agent may get a place. */
  readonly roomy: (agent: string) => void
  readonly prepareToken?: PrepareToken
}

/** Creates a credential and the row that identifies it. The credential is valid once the row is stored. */
export type PrepareToken = (order: TokenOrder & { readonly scope: Readonly<Record<string, string>> }) => {
  readonly token: string
  readonly row: NewToken
}

/** Whether the connector must still prepare the turn's files. */
export function mustPrepare(
  connector: AgentConnector | undefined,
  hold: LaneHold | undefined,
  { id, body }: TurnRow,
): boolean {
  return connector?.prepare !== undefined && (body?.attachments ?? []).length > 0 && !hold?.ready.has(id)
}

export function createTakeLanes(deps: TakeLanesDeps) {
  const { store, roster, holds, rooms } = deps

  /** Keyed by turn: the last attempt of the commit is the one that was stored. */
  const tokensInto = (into: Map<string, readonly string[]>, { lane, scope }: Work) => {
    const orders = roster.get(scope)?.connector.mints ?? []
    const prepare = deps.prepareToken
    if (!prepare || orders.length === 0) return undefined
    return ({ id }: TurnRow) => {
      const made = orders.map((order) =>
        prepare({ ...order, scope: { agent: scope, session: lane, turn: id } }),
      )
      into.set(
        id,
        made.map(({ token }) => token),
      )
      return made.map(({ row }) => row)
    }
  }

  const toRequest = (work: Work, pressed: boolean, room: number, tokens: Map<string, readonly string[]>) => {
    const { lane, scope } = work
    const hold = holds.get(lane)
    if (hold) hold.restingSince = null // otherwise it might be released before the answer arrives
    const connector = roster.get(scope)?.connector
    const mayHand = (turn: TurnRow) =>
      (hold?.judged.has(turn.id) || deps.admission.atOnce(turn)) && !mustPrepare(connector, hold, turn)
    const wide = connector?.windowOf?.(lane) ?? connector?.window ?? 1
    const how = { wide, pressed, room, mayHand, tokens: tokensInto(tokens, work) }
    return laneRequest(lane, hold, how)
  }

  /** By the next turn of the event loop, possible writes are done. Remaining places go to waiting lanes. */
  const used = (lanes: readonly Work[]) =>
    deps.clock.after(0, () => {
      for (const work of lanes) rooms.over(work)
      for (const scope of new Set(lanes.map((work) => work.scope))) deps.roomy(scope)
    })

  return async (lanes: readonly Work[], pressed: boolean): Promise<readonly TakenLane[]> => {
    const dealt = rooms.deal(lanes)
    const asked = lanes.map((work, at) => ({ work, room: dealt[at] ?? 0, before: holds.before(work.lane) }))
    const tokens = new Map<string, readonly string[]>()
    const open = asked.filter(({ room }) => room > 0)
    const requests = open.map(({ work, room }) => toRequest(work, pressed, room, tokens))
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
      scope,
      before,
      tokens,
    }))
  }
}

/**
 * How many turns of a lane are taken at a time under pressure. Otherwise it is as many as the connector has room for.
 */
const PRESSED_WINDOW = 2

interface Circumstances {
  /** The connector's window. */
  readonly wide: number
  readonly pressed: boolean
  /** How many turns can be written now. */
  readonly room: number
  /** Whether a turn may be handed over now. */
  readonly mayHand: NonNullable<LaneRequest['mayHand']>
  readonly tokens?: LaneRequest['tokens']
}

function laneRequest(lane: string, hold: LaneHold | undefined, how: Circumstances): LaneRequest {
  const few = Math.min(how.room, how.pressed ? PRESSED_WINDOW : how.wide)
  const window = Math.min(how.wide, (hold?.flights.size ?? 0) + few)
  const asked = { lane, window, mayHand: how.mayHand, ...defined({ tokens: how.tokens }) }
  if (!hold) return asked
  const known = hold.doubtful ? { known: [...hold.flights.keys()] } : {}
  return { ...asked, token: hold.token, ...known }
}
