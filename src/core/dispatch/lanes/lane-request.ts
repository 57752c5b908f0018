// How much of a lane is asked for: as much as the connector has room for, less while intake wants it.
import { defined, type LaneRequest } from '../../../contract/index.ts'
import type { LaneHold } from './lane-holds.ts'

/** How many turns of a lane are taken at a time under pressure. */
const PRESSED_WINDOW = 2

export interface Circumstances {
  /** The connector's window. */
  readonly wide: number
  readonly pressed: boolean
  /** So many can be written now. */
  readonly room: number
  /** What may be handed over as it stands. */
  readonly mayHand: NonNullable<LaneRequest['mayHand']>
  readonly tokens?: LaneRequest['tokens']
}

export function laneRequest(lane: string, hold: LaneHold | undefined, how: Circumstances): LaneRequest {
  const few = Math.min(how.room, how.pressed ? PRESSED_WINDOW : how.wide)
  const window = Math.min(how.wide, (hold?.flights.size ?? 0) + few)
  const asked = { lane, window, mayHand: how.mayHand, ...defined({ tokens: how.tokens }) }
  if (!hold) return asked
  const known = hold.doubtful ? { known: [...hold.flights.keys()] } : {}
  return { ...asked, token: hold.token, ...known }
}
