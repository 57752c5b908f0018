// Returns turns to the queue: those the agent did not take, gave back, or was never offered. Later turns of the lane
// return with them, so the order holds. Earlier turns belong to the agent and stay.
import {
  defined,
  type Settings,
  type Store,
  type TurnMove,
  type TurnRow,
  type Work,
} from '../../../contract/index.ts'
import { type SignalSink, tellTurnState } from '../../signals.ts'
import type { StoreRetry } from '../../store-retry.ts'
import type { Settling } from '../settling.ts'
import type { LaneHold, LaneHolds } from './lane-holds.ts'

export interface PutBackDeps {
  readonly store: Pick<Store, 'moveTurns'>
  readonly settings: () => Settings
  readonly holds: LaneHolds
  readonly storeRetry: StoreRetry
  readonly settling: Pick<Settling, 'giveUp'>
  readonly signal: SignalSink
  readonly wake: (work: Work) => void
  /** The agent of this lane could not be reached. */
  readonly unreached: (hold: LaneHold, detail: string, retryAfterMs?: number) => void
}

export interface GiveBackOptions {
  /** False: no agent took the turns, so the attempt does not count. */
  readonly counted: boolean
  readonly detail: string
  /** The turns are not given up now, however often they were offered. */
  readonly kept?: true
  /** No request reached the agent. */
  readonly unreachable?: true
}

export interface PutBack {
  putBack(
    hold: LaneHold,
    rows: readonly TurnRow[],
    how: Pick<TurnMove, 'notBeforeMs' | 'detail' | 'uncounted' | 'reason' | 'repeat' | 'resume'>,
  ): Promise<void>
  /** Returns turns that were taken meanwhile and never offered, behind older ones that return. */
  putBackBehind(hold: LaneHold, rows: readonly TurnRow[]): Promise<void>
  /** Offers turns again, in order, that were handed over but that no agent works on any more. */
  giveBack(turns: readonly string[], options: GiveBackOptions): Promise<void>
}

export function createPutBack(deps: PutBackDeps): PutBack {
  const { store, holds, storeRetry } = deps

  const putBack: PutBack['putBack'] = async (hold, rows, how) => {
    const { lane, token } = hold
    const behind = [...hold.flights.values()]
      .filter((flight) => !flight.offered && !rows.includes(flight.row))
      .map((flight) => flight.row)
    const { notBeforeMs, reason } = how
    const moves: TurnMove[] = [
      ...rows.map((one) => ({ lane, token, turn: one.id, to: 'queued' as const, ...how })),
      // Never offered, so no attempt was made.
      ...behind.map((one) => ({
        lane,
        token,
        turn: one.id,
        to: 'queued' as const,
        uncounted: true,
        ...defined({ notBeforeMs, reason }),
      })),
    ]
    hold.putBacks++
    const writing = storeRetry.persist('put turns back', () => store.moveTurns(moves))
    const before = hold.puttingBack
    const written = writing.catch(() => undefined).then(() => before)
    hold.puttingBack = written
    void written.then(() => {
      if (hold.puttingBack === written) hold.puttingBack = null
    })
    const outcomes = await writing
    if (outcomes.includes('stale')) return holds.drop(hold)
    for (const one of [...rows, ...behind]) {
      holds.land(hold, one.id)
      tellTurnState(deps.signal, one, 'queued')
    }
  }

  const putBackBehind: PutBack['putBackBehind'] = async (hold, rows) => {
    const goBack = async () => {
      await hold.puttingBack
      await putBack(hold, rows, { uncounted: true })
    }
    // A release of the lane waits for this as for a hand-over. Otherwise the next owner would find the turns as handed.
    const gone = goBack()
    hold.handingOver = Promise.allSettled([hold.handingOver, gone]).then(() => undefined)
    await gone
  }

  const giveBack = async (hold: LaneHold, rows: readonly TurnRow[], options: GiveBackOptions) => {
    const { maxAttempts } = deps.settings().tunables
    const spent = options.counted && !options.kept ? rows.filter((row) => row.attempts >= maxAttempts) : []
    for (const row of spent) await deps.settling.giveUp(hold, row, 'max_attempts', options.detail)
    const again = rows.filter((row) => !spent.includes(row))
    const { detail } = options
    if (options.unreachable) deps.unreached(hold, detail)
    // A turn that the agent never saw is not marked as a repeat.
    const seen = again.some(({ state }) => state === 'seen')
    const how = options.unreachable
      ? ({ reason: 'agent_unreachable', ...(seen ? { repeat: true, resume: true } : {}) } as const)
      : ({ repeat: true } as const)
    if (again.length > 0) await putBack(hold, again, { detail, uncounted: !options.counted, ...how })
    deps.wake({ lane: hold.lane, scope: hold.agent })
  }

  return {
    putBack,
    putBackBehind,
    async giveBack(turns, options) {
      const byHold = new Map<LaneHold, TurnRow[]>()
      for (const turn of turns) {
        const flying = holds.flight(turn)
        if (flying) byHold.set(flying.hold, [...(byHold.get(flying.hold) ?? []), flying.flight.row])
      }
      for (const [hold, rows] of byHold) await giveBack(hold, rows, options)
    },
  }
}
