// What other nodes do to turns that are in flight here: an agent speaks there, or somebody says stop. They tell; what they
// told while nobody could listen is looked for.
import type { Logger, Store, TurnRow, Work } from '../../../contract/index.ts'
import type { StoreRetry } from '../../store-retry.ts'
import type { LaneHold, LaneHolds } from './lane-holds.ts'

export interface MovedElsewhere {
  /** Looks at one turn, if it is in flight here. */
  lookAt(turn: string): Promise<void>
  /** Nobody else looks after lanes that we hold: what came or ended in them unheard is ours to find. */
  lookAtAll(): Promise<void>
}

export function createMovedElsewhere(deps: {
  readonly store: Pick<Store, 'turn'>
  readonly holds: LaneHolds
  readonly wake: (work: Work) => void
  readonly storeRetry: StoreRetry
  readonly log: Logger
  /** The turn is in flight here; its row may say that it is not, or no longer. */
  readonly ended: (hold: LaneHold, row: TurnRow) => void
}): MovedElsewhere {
  const { store, holds } = deps

  const lookAt = async (turn: string) => {
    if (!holds.flight(turn)) return
    const row = await deps.storeRetry.persist('look at a turn', () => store.turn(turn))
    const found = holds.flight(turn)
    if (found && row) deps.ended(found.hold, row)
  }

  return {
    lookAt,
    async lookAtAll() {
      const held = holds.all()
      for (const { lane, agent } of held) deps.wake({ lane, scope: agent })
      // One that cannot be looked at must not keep the others from it.
      for (const { flights } of held)
        for (const turn of [...flights.keys()])
          await lookAt(turn).catch((thrown) =>
            deps.log.warn({ turn, error: String(thrown) }, 'a turn could not be looked at'),
          )
    },
  }
}
