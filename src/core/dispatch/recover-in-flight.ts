// Recovers turns that a former owner of a lane left in flight. A turn continues if an attached host still has it.
// Otherwise it is offered again, resumed, waited for or given up, as its connector declares.
import type { AgentConnector, Clock, Settings, Store, TurnMove, TurnRow } from '../../contract/index.ts'
import type { Admission } from '../people/admission.ts'
import { type SignalSink, tellTurnState } from '../signals.ts'
import type { StoreRetry } from '../store-retry.ts'
import { takesNoAnswer, toDelivery } from './delivery.ts'
import type { LaneHold, LaneHolds } from './lanes/lane-holds.ts'
import type { Settling } from './settling.ts'

export interface RecoverDeps {
  readonly clock: Clock
  readonly store: Pick<Store, 'moveTurns'>
  readonly settings: () => Settings
  readonly signal: SignalSink
  readonly holds: LaneHolds
  readonly storeRetry: StoreRetry
  readonly settling: Settling
  readonly admission: Pick<Admission, 'ofTurn'>
  readonly isOneWay: (integration: string) => boolean
  /** The turn is offered again. People who see the beginning of its answer are informed. */
  readonly interrupted: (row: TurnRow) => void
}

export type RecoverInFlight = (
  hold: LaneHold,
  rows: readonly TurnRow[],
  connector: AgentConnector,
) => Promise<void>

export function createRecovery(deps: RecoverDeps): RecoverInFlight {
  const { store, holds, storeRetry, settling } = deps

  /** The agent has the turn and outlives the daemon. The turn stays in flight for the rest of its time. */
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
      // No agent confirmed this turn. If its sender has lost access, it is not offered again, and the sender gets no
      // confirmation.
      else if (row.state === 'handed' && (await deps.admission.ofTurn(row)) === 'revoked')
        await settling.revoke(hold, row)
      // It was offered again once, without a sign of being read. It expires with the queue.
      else if (oneWay && row.repeat && row.state === 'handed' && connector.windowOf)
        moves.push({ lane, token, turn: row.id, to: 'handed', reason: 'one_way' })
      else if (policy === 'give-up') await settling.giveUp(hold, row, 'agent_silent')
      else if (row.attempts >= maxAttempts) await settling.giveUp(hold, row, 'max_attempts')
      else {
        again.push(row)
        moves.push({ lane, token, turn: row.id, to: 'queued', repeat: true, resume: policy === 'resume' })
      }
    }
    // One commit: if some were queued earlier, a newer turn could be handed over before an older one.
    const outcomes = await storeRetry.persist('offer turns again', () => store.moveTurns(moves))
    if (outcomes.includes('stale')) return holds.drop(hold)
    for (const row of again) {
      tellTurnState(deps.signal, row, 'queued')
      if (connector.redelivery.cut === 'again') deps.interrupted(row)
    }
  }
}

/** The agent has the turn and will answer by itself. */
function isAnsweredLater({ state, reason }: TurnRow, { redelivery }: AgentConnector): boolean {
  if (redelivery.cut === 'again') return reason === 'working'
  return state === 'seen' || reason === 'taken'
}
