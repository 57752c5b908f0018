// One turn is handed to its agent: judged once more, with what goes along, just before it is written. What the agent does
// not take goes back to the queue, or is given up.
import {
  type AgentConnector,
  type AgentTrouble,
  asSwitchboardError,
  type Clock,
  type ContextLine,
  createBoundedMap,
  type Delivery,
  defined,
  type Logger,
  type NewSend,
  type Settings,
  type StoreBesideOutlet,
  type SwitchboardError,
  type TurnRow,
  type Work,
} from '../../contract/index.ts'
import { busyText, notice } from '../notices.ts'
import { type Admission, NOT_KNOWN_YET } from '../people/admission.ts'
import { type SignalSink, tellTurnState } from '../signals.ts'
import type { StoreRetry } from '../store-retry.ts'
import { createHeldContext } from '../takeover/held-context.ts'
import type { Roster } from './agent/roster.ts'
import { takesNoAnswer, toDelivery } from './delivery.ts'
import type { FailureNotes } from './failure-notes.ts'
import { createGroupContext } from './group-context.ts'
import type { LaneHold, LaneHolds } from './lanes/lane-holds.ts'
import type { PutBack } from './lanes/put-back.ts'
import type { TakenLane } from './lanes/take-lanes.ts'
import { noticeTarget } from './notice-target.ts'
import { retryDelayMs } from './retry-delay.ts'
import type { Settling } from './settling.ts'

export interface HandOverDeps {
  readonly store: StoreBesideOutlet
  readonly clock: Clock
  readonly log: Logger
  readonly settings: () => Settings
  readonly roster: Roster
  readonly signal: SignalSink
  readonly admission: Pick<Admission, 'ofTurn' | 'mayBeHeard'>
  readonly failures: FailureNotes
  readonly canSpeak: (integration: string) => boolean
  /** Puts what Switchboard says by itself into the outbox. */
  readonly say: (sends: readonly NewSend[]) => Promise<unknown>
  readonly isOneWay: (integration: string) => boolean
  readonly instructionsOf?: (integration: string) => Delivery['instructions']
  readonly holds: LaneHolds
  readonly storeRetry: StoreRetry
  readonly settling: Pick<Settling, 'giveUp' | 'revoke' | 'settledElsewhere' | 'watchSilence'>
  readonly putBack: PutBack['putBack']
  readonly wakeAfter: (work: Work, ms: number) => void
  /** The agent of this lane could not be reached. */
  readonly unreached: (hold: LaneHold, detail: string, retryAfterMs?: number) => void
  /** The agent of this lane was tried, and did not take the turn for now. */
  readonly refused: (hold: LaneHold, state: AgentTrouble['state'], detail: string) => void
  /** Tells whoever waits in this lane that its agent went away. */
  readonly tellOffline: (lane: string, agent: string) => void
  readonly crashPoint?: (name: string) => void
}

/** What was taken along with the turns of a lane. */
type Along = Pick<TakenLane & { outcome: 'taken' }, 'afterTakeover' | 'tokens'>

/** Hands a turn over behind those of its lane that are being handed over. */
type HandOverNext = (hold: LaneHold, row: TurnRow, connector: AgentConnector, taken: Along) => void

/** How long a message waits for room before its sender is told. */
const BUSY_MS = 20_000
const TOLD_REMEMBERED = 10_000
const NOBODY_HELD_IT: readonly ContextLine[] = []

export function createHandOver(deps: HandOverDeps): HandOverNext {
  const { store, log, roster, holds, storeRetry, settling } = deps
  const contextOf = createGroupContext(deps)
  const toldBusy = createBoundedMap<string, true>(TOLD_REMEMBERED)
  const heldContextOf = createHeldContext(deps)

  const handOverNext: HandOverNext = (hold, row, connector, taken) => {
    let begun: () => void = () => undefined
    const begins = new Promise<void>((resolve) => {
      begun = resolve
    })
    const over = hold.offering
      .then(() => handOver(hold, row, connector, { ...taken, begun }))
      // What could not be written down (the store refused it for good) must not stop the lane, nor the process.
      .catch((thrown) => log.error({ turn: row.id, error: String(thrown) }, 'dispatch failed'))
    hold.offering = connector.overlaps ? Promise.race([begins, over]) : over
    const before = hold.handingOver
    hold.handingOver = over.then(() => before)
  }

  const handOver = async (
    hold: LaneHold,
    row: TurnRow,
    connector: AgentConnector,
    { afterTakeover, tokens, begun }: Along & { readonly begun: () => void },
  ) => {
    const flight = hold.flights.get(row.id)
    if (!flight) return // cancelled or put back while the one before it was being handed over
    const ended = await endedMeanwhile(row, connector)
    if (ended) return settling.settledElsewhere(hold, ended)
    const judgement = await deps.admission.ofTurn(row)
    if (hold.flights.get(row.id) !== flight) return // likewise
    if (holds.isOver(hold)) return holds.drop(hold)
    if (judgement === 'revoked') return settling.revoke(hold, row)
    if (judgement === 'unsure') return notTaken(hold, row, NOT_KNOWN_YET)
    const [said, failed, held] = await Promise.all([
      contextOf(row),
      deps.failures.of(row.session),
      afterTakeover?.includes(row.id) ? heldContextOf(row) : NOBODY_HELD_IT,
    ])
    const lines = [...failed.lines, ...held, ...(said.context ?? [])]
    const along = {
      ...(lines.length === 0 ? {} : { context: lines }),
      ...(takesNoAnswer(row, deps) ? { oneWay: true as const } : {}),
      ...defined({ tokens: tokens.get(row.id), instructions: deps.instructionsOf?.(row.integration) }),
    }
    // One before it was not taken: this one goes back with it, and must not be offered meanwhile.
    while (hold.puttingBack) await hold.puttingBack
    if (hold.flights.get(row.id) !== flight) return // likewise
    if (holds.isOver(hold)) return holds.drop(hold)
    flight.offered = true
    tellTurnState(deps.signal, row, 'handed')
    try {
      deps.crashPoint?.('dispatch.before-hand-over')
      const delivering = connector.deliver({ ...toDelivery(row, hold.agent, hold.lane), ...along })
      begun()
      await delivering
      deps.crashPoint?.('dispatch.after-hand-over')
      flight.written = true
      await deps.failures.reported(failed.sends)
      // An agent that answered already needs no note.
      const { handed, cut } = connector.redelivery
      if (handed === 'wait' && cut === undefined && hold.flights.has(row.id)) await noteTaken(hold, row)
      settling.watchSilence(hold, row)
    } catch (thrown) {
      // Given back meanwhile with the one before it, and maybe on its way again: that flight is not this one.
      if (hold.flights.get(row.id) === flight) await notTaken(hold, row, thrown)
    }
  }

  /** An agent that had it from before, and lives on, ended it while it was taken from the queue again. */
  const endedMeanwhile = async ({ id, repeat, attempts }: TurnRow, { redelivery }: AgentConnector) => {
    if (redelivery.handed !== 'wait' || (!repeat && attempts <= 1)) return null
    const now = await store.turn(id)
    return now?.state === 'answered' || now?.state === 'failed' ? now : null
  }

  const notTaken = async (hold: LaneHold, row: TurnRow, thrown: unknown) => {
    const error = asSwitchboardError(thrown, 'agent_failed')
    const { maxAttempts } = deps.settings().tunables
    if (error.code === 'agent_unreachable') return notReached(hold, row, error)
    if (!error.nature.retryable) return settling.giveUp(hold, row, 'agent_rejected', error.message)
    if (row.attempts >= maxAttempts && error.code !== 'agent_absent') {
      return settling.giveUp(hold, row, 'max_attempts', error.message)
    }
    const notBeforeMs = retryDelayMs(row.attempts, error)
    // Nobody was there to take it: that is no attempt.
    const uncounted = error.code === 'agent_absent'
    if (error.busy) tellBusy(row)
    const fails = error.code === 'platform_unavailable' || error.code === 'rate_limited'
    // The request went out, and the connection broke before an answer came.
    const broken = fails && error.written
    if (fails) deps.refused(hold, broken ? 'unreachable' : 'failing', error.message)
    const reason = error.busy ? 'agent_busy' : broken ? 'agent_unreachable' : 'agent_failed'
    const why = fails || error.busy ? ({ reason, ...(broken ? { repeat: true } : {}) } as const) : {}
    await deps.putBack(hold, [row], { notBeforeMs, detail: error.message, uncounted, ...why })
    if (hold.flights.size === 0) await holds.release(hold)
    if (roster.get(hold.agent)?.attached) deps.wakeAfter({ lane: hold.lane, scope: hold.agent }, notBeforeMs)
    // It went away over this one, which did not wait yet when that was told.
    else deps.tellOffline(hold.lane, hold.agent)
  }

  /** Once a turn, and only where it still waits then. */
  const tellBusy = (row: TurnRow) => {
    if (toldBusy.has(row.id)) return
    toldBusy.set(row.id, true)
    deps.clock.after(BUSY_MS, () => {
      const tell = async () => {
        const now = await store.turn(row.id)
        if (now?.state !== 'queued' || !deps.canSpeak(now.integration)) return
        await deps.say([notice(noticeTarget(now), busyText(now.agent ?? ''), `busy:${now.id}`)])
      }
      tell().catch((thrown) => log.warn({ turn: row.id, error: String(thrown) }, 'nobody was told to wait'))
    })
  }

  /** No request was read by anybody: that is no attempt, and the turn waits for as long as the queue keeps it. */
  const notReached = async (hold: LaneHold, row: TurnRow, error: SwitchboardError) => {
    const { message: detail, retryAfterMs, written } = error
    deps.unreached(hold, detail, retryAfterMs)
    // What stood before the agent read it, and may have passed it on.
    const repeat = written ? { repeat: true } : {}
    await deps.putBack(hold, [row], { reason: 'agent_unreachable', detail, uncounted: true, ...repeat })
    if (hold.flights.size === 0) await holds.release(hold)
  }

  /** What the agent confirmed it has is not offered again, also by the next life of this node. */
  const noteTaken = async (hold: LaneHold, row: TurnRow) => {
    const note = { lane: hold.lane, token: hold.token, turn: row.id, to: 'handed', reason: 'taken' } as const
    const [outcome] = await storeRetry.persist('note a hand-over', () =>
      // Where nothing waits behind it, it is written with what the agent says next.
      store.moveTurns([note], { unhurried: hold.flights.size === 1 && !hold.more }),
    )
    if (outcome === 'stale') holds.drop(hold)
  }

  return handOverNext
}
