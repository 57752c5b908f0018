// Who wrote to an agent that gives no sign of having seen it is told so, once: nothing else would tell that the message lies
// there. Only where the connector cannot know by itself whether the agent took it; nothing is moved by it.
import type { Clock, Logger, NewSend, Settings, Store, TurnRow } from '../../contract/index.ts'
import { notice, unseenText } from '../notices.ts'
import type { LaneHold } from './lanes/lane-holds.ts'
import { noticeTarget } from './notice-target.ts'

export interface UnseenNoticesDeps {
  readonly store: Pick<Store, 'turn'>
  readonly clock: Clock
  readonly log: Logger
  readonly settings: () => Settings
  readonly canSpeak: (integration: string) => boolean
  /** Into the outbox. */
  readonly say: (sends: readonly NewSend[]) => Promise<unknown>
}

/** A store that is away is asked again. */
const AGAIN_MS = 15_000

export function createUnseenNotices(deps: UnseenNoticesDeps) {
  const { store, clock } = deps

  /** Its flight's timer: evidence ends it, like every other wait for one. */
  const watch = (hold: LaneHold, row: TurnRow, since: number): void => {
    const flight = hold.flights.get(row.id)
    if (!flight) return
    flight.cancelTimeout()
    const dueMs = Math.max(0, since + deps.settings().tunables.unseenNoticeMs - clock.now())
    flight.cancelTimeout = clock.after(dueMs, () => {
      tell(hold, row).catch((thrown) => {
        deps.log.warn({ turn: row.id, error: String(thrown) }, 'nobody was told that a message lies unseen')
        watch(hold, row, clock.now() + AGAIN_MS - deps.settings().tunables.unseenNoticeMs)
      })
    })
  }

  const tell = async (hold: LaneHold, row: TurnRow): Promise<void> => {
    const flight = hold.flights.get(row.id)
    if (!flight || !deps.canSpeak(row.integration)) return
    // Of several that wait behind one another the first is told of.
    const told = [...hold.flights.values()].some((one) => one.unseenTold && !one.acknowledged)
    flight.unseenTold = true
    // Evidence may have come by another node.
    if (told || (await store.turn(row.id))?.state !== 'handed') return
    // The key is the turn's: told once, also by the next life of this node.
    await deps.say([notice(noticeTarget(row), unseenText(hold.agent), `unseen:${row.id}`)])
  }

  return { watch }
}
