// What a former owner of a lane left in flight goes on where an attached host still has it; else it is offered again,
// resumed, waited for or given up, as its connector declared.
import type { AgentConnector, Clock, Settings, Store, TurnMove, TurnRow } from '../../contract/index.ts'
import type { Admission } from '../people/admission.ts'
import { type SignalSink, tellTurnState } from '../signals.ts'
import type { StoreRetry } from '../store-retry.ts'
import { takesNoAnswer, toDelivery } from './delivery.ts'
import type { LaneHold, LaneHolds } from './lanes/lane-holds.ts'
import type { Settling } from './settling.ts'

export interface LeftoversDeps {
  readonly clock: Clock
  readonly store: Pick<Store, 'moveTurns'>
  readonly settings: () => Settings
  readonly signal: SignalSink
  readonly holds: LaneHolds
  readonly storeRetry: StoreRetry
  readonly settling: Settling
  readonly admission: Pick<Admission, 'ofTurn'>
  readonly isOneWay: (integration: string) => boolean
  /** It is asked for again: whoever reads the beginning of its answer is told. */
  readonly interrupted: (row: TurnRow) => void
}

export type SettleLeftovers = (
  hold: LaneHold,
  rows: readonly TurnRow[],
  connector: AgentConnector,
) => Promise<void>

export function createLeftovers(deps: LeftoversDeps): SettleLeftovers {
  const { store, holds, storeRetry, settling } = deps

  /** The agent has it and lives on without us: it stays in flight, for what is left of its time. */
  const waitOn = (hold: LaneHold, row: TurnRow) => {
    holds.board(hold, row)
    const flight = hold.flights.get(row.id)
    if (flight) flight.offered = flight.written = true
    settling.watchSilence(hold, row, Math.min(row.updatedAt, deps.clock.now()))
  }

  return async (hold, rows, connector) => {
    const { lane, token } = hold
    const { maxAttempts } = deps.settings().tunables
    const again: TurnRow[] = []
    const moves: TurnMove[] = []
    for (const row of rows) {
      const policy = row.state === 'seen' ? connector.redelivery.seen : connector.redelivery.handed
      const oneWay = takesNoAnswer(row, deps)
      const delivery = { ...toDelivery(row, hold.agent, lane), ...(oneWay ? { oneWay: true as const } : {}) }
      const kept = connector.takeUp?.(delivery, row.state === 'seen') ?? false
      if (kept) waitOn(hold, row)
      else if (policy === 'wait' && isAnsweredLater(row, connector)) waitOn(hold, row)
      // No agent confirmed it: to one whose sender may not speak any more it is not said again, nor that it was taken.
      else if (row.state === 'handed' && (await deps.admission.ofTurn(row)) === 'revoked')
        await settling.revoke(hold, row)
      // Offered again once, without a sign of having been read: it expires with the queue.
      else if (oneWay && row.repeat && row.state === 'handed' && connector.windowOf)
        moves.push({ lane, token, turn: row.id, to: 'handed', reason: 'one_way' })
      else if (policy === 'give-up') await settling.giveUp(hold, row, 'agent_silent')
      else if (row.attempts >= maxAttempts) await settling.giveUp(hold, row, 'max_attempts')
      else {
        again.push(row)
        moves.push({ lane, token, turn: row.id, to: 'queued', repeat: true, resume: policy === 'resume' })
      }
    }
    // In one commit: were some queued before the others, a newer turn could be handed over ahead of an older one.
    const outcomes = await storeRetry.persist('offer turns again', () => store.moveTurns(moves))
    if (outcomes.includes('stale')) return holds.drop(hold)
    for (const row of again) {
      tellTurnState(deps.signal, row, 'queued')
      if (connector.redelivery.cut === 'again') deps.interrupted(row)
    }
  }
}

/** The agent has it and will say its answer by itself. */
function isAnsweredLater({ state, reason }: TurnRow, { redelivery }: AgentConnector): boolean {
  if (redelivery.cut === 'again') return reason === 'working'
  return state === 'seen' || reason === 'taken'
}
