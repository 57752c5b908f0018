// Tells a sender, once, that the agent has given no sign of seeing the message. It applies only where the connector
// cannot know whether the agent took it. The notice moves no turn.
import type { Clock, Logger, NewSend, Settings, Store, TurnRow } from '../../contract/index.ts'
import { notice, noticeTarget } from '../notices.ts'
import type { LaneHold } from './lanes/lane-holds.ts'

export interface UnseenNoticesDeps {
  readonly store: Pick<Store, 'turn'>
  readonly clock: Clock
  readonly log: Logger
  readonly settings: () => Settings
  readonly canSpeak: (integration: string) => boolean
  /** Puts messages into the outbox. */
  readonly say: (sends: readonly NewSend[]) => Promise<unknown>
}

/** Delay before a store that failed is asked again. */
const AGAIN_MS = 15_000

export function createUnseenNotices(deps: UnseenNoticesDeps) {
  const { store, clock } = deps

  /** Uses the flight's timer, so evidence cancels it like any other wait. */
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
    // Of several waiting messages only the first gets a notice.
    const isNoticed = [...hold.flights.values()].some((one) => one.unseenTold && !one.acknowledged)
    flight.unseenTold = true
    // Evidence may have reached another node.
    if (isNoticed || (await store.turn(row.id))?.state !== 'handed') return
    // The key contains the turn, so a restart sends no second notice.
    await deps.say([
      notice(noticeTarget(row), (words) => words.notices.unseen({ agent: hold.agent }), `unseen:${row.id}`),
    ])
  }

  return { watch }
}
