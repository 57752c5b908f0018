// What other nodes do to turns in flight here: an agent speaks there, or a person cancels. They send hints. Changes
// without a hint are found by looking.
import type { Logger, Store, TurnRow, Work } from '../../../contract/index.ts'
import type { StoreRetry } from '../../store-retry.ts'
import type { LaneHold, LaneHolds } from './lane-holds.ts'

export interface MovedElsewhere {
  /** Checks one turn, if it is in flight here. */
  lookAt(turn: string): Promise<void>
  /** Checks all held lanes. No other node looks after them, so this node must find changes it missed. */
  lookAtAll(): Promise<void>
}

export function createMovedElsewhere(deps: {
  readonly store: Pick<Store, 'turn'>
  readonly holds: LaneHolds
  readonly wake: (work: Work) => void
  readonly storeRetry: StoreRetry
  readonly log: Logger
  /** The turn is in flight here, but its row may say otherwise. */
  readonly ended: (hold: LaneHold, row: TurnRow) => void
}): MovedElsewhere {
  const { store, holds } = deps

  const lookAt = async (turn: string) => {
    if (!holds.flight(turn)) return
    const row = await deps.storeRetry.persist('look at a turn', () => store.turn(turn))
    const flying = holds.flight(turn)
    if (flying && row) deps.ended(flying.hold, row)
  }

  return {
    lookAt,
    async lookAtAll() {
      const held = holds.all()
      for (const { lane, agent } of held) deps.wake({ lane, scope: agent })
      // One failed lookup must not prevent the others.
      for (const { flights } of held)
        for (const turn of [...flights.keys()])
          await lookAt(turn).catch((thrown) =>
            deps.log.warn({ turn, error: String(thrown) }, 'a turn could not be looked at'),
          )
    },
  }
}
