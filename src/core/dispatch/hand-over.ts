// Hands one turn to its agent. Access is checked once more just before the turn is written, together with its context.
// A turn that the agent does not take returns to the queue or is given up.
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
import { notice, noticeTarget } from '../notices.ts'
import { type Admission, NOT_KNOWN_YET } from '../people/admission.ts'
import type { Roster } from '../roster.ts'
import { type SignalSink, tellTurnState } from '../signals.ts'
import type { StoreRetry } from '../store-retry.ts'
import { takesNoAnswer, toDelivery } from './delivery.ts'
import type { FailureNotes } from './failure-notes.ts'
import { createGroupContext } from './group-context.ts'
import { createHeldContext } from './held-context.ts'
import type { LaneHold, LaneHolds } from './lanes/lane-holds.ts'
import type { PutBack } from './lanes/put-back.ts'
import type { TakenLane } from './lanes/take-lanes.ts'
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
  /** Puts messages from Switchboard itself into the outbox. */
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
  /** Tells people who wait in this lane that its agent left. */
  readonly tellOffline: (lane: string, agent: string) => void
  readonly crashPoint?: (name: string) => void
}

/** What was taken along with the turns of a lane. */
type Along = Pick<TakenLane & { outcome: 'taken' }, 'afterTakeover' | 'tokens'>

/** Hands a turn over after the other hand-overs of its lane. */
type HandOverNext = (hold: LaneHold, row: TurnRow, connector: AgentConnector, taken: Along) => void

/** How long a message waits for a busy agent before its sender is informed. */
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
      // A write that the store refuses for good must stop neither the lane nor the process.
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
    if (!flight) return // Cancelled or put back during the previous hand-over.
    const ended = await endedMeanwhile(row, connector)
    if (ended) return settling.settledElsewhere(hold, ended)
    const judgement = await deps.admission.ofTurn(row)
    if (hold.flights.get(row.id) !== flight) return // Likewise.
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
    // An earlier turn was not taken. This one returns with it, and must not be offered meanwhile.
    while (hold.puttingBack) await hold.puttingBack
    if (hold.flights.get(row.id) !== flight) return // Likewise.
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
      // An agent that already answered needs no note.
      const { handed, cut } = connector.redelivery
      if (handed === 'wait' && cut === undefined && hold.flights.has(row.id)) await noteTaken(hold, row)
      settling.watchSilence(hold, row)
    } catch (thrown) {
      // The turn may have been put back with an earlier one and be on its way again. That is a different flight.
      if (hold.flights.get(row.id) === flight) await notTaken(hold, row, thrown)
    }
  }

  /** An agent that outlives the daemon had the turn, and ended it while it was taken from the queue again. */
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
    // No agent was present, so the attempt does not count.
    const uncounted = error.code === 'agent_absent'
    if (error.busy) tellBusy(row)
    const fails = error.code === 'platform_unavailable' || error.code === 'rate_limited'
    // The request went out, and the connection broke before an answer arrived.
    const broken = fails && error.written
    if (fails) deps.refused(hold, broken ? 'unreachable' : 'failing', error.message)
    const reason = error.busy ? 'agent_busy' : broken ? 'agent_unreachable' : 'agent_failed'
    const why = fails || error.busy ? ({ reason, ...(broken ? { repeat: true } : {}) } as const) : {}
    await deps.putBack(hold, [row], { notBeforeMs, detail: error.message, uncounted, ...why })
    if (hold.flights.size === 0) await holds.release(hold)
    if (roster.get(hold.agent)?.attached) deps.wakeAfter({ lane: hold.lane, scope: hold.agent }, notBeforeMs)
    // The agent left because of this turn, which was not yet waiting when the notices were sent.
    else deps.tellOffline(hold.lane, hold.agent)
  }

  /** Once per turn, and only if the turn still waits then. */
  const tellBusy = (row: TurnRow) => {
    if (toldBusy.has(row.id)) return
    toldBusy.set(row.id, true)
    deps.clock.after(BUSY_MS, () => {
      const tell = async () => {
        const now = await store.turn(row.id)
        if (now?.state !== 'queued' || !deps.canSpeak(now.integration)) return
        await deps.say([
          notice(
            noticeTarget(now),
            (words) => words.notices.busy({ agent: now.agent ?? '' }),
            `busy:${now.id}`,
          ),
        ])
      }
      tell().catch((thrown) => log.warn({ turn: row.id, error: String(thrown) }, 'nobody was told to wait'))
    })
  }

  /** The agent read no request, so the attempt does not count. The turn waits for as long as the queue keeps it. */
  const notReached = async (hold: LaneHold, row: TurnRow, error: SwitchboardError) => {
    const { message: detail, retryAfterMs, written } = error
    deps.unreached(hold, detail, retryAfterMs)
    // A proxy before the agent read the request, and may have passed it on.
    const repeat = written ? { repeat: true } : {}
    await deps.putBack(hold, [row], { reason: 'agent_unreachable', detail, uncounted: true, ...repeat })
    if (hold.flights.size === 0) await holds.release(hold)
  }

  /** The agent confirmed the turn, so it is not offered again, even after a restart of this node. */
  const noteTaken = async (hold: LaneHold, row: TurnRow) => {
    const note = { lane: hold.lane, token: hold.token, turn: row.id, to: 'handed', reason: 'taken' } as const
    const [outcome] = await storeRetry.persist('note a hand-over', () =>
      // If nothing waits behind it, the note is written together with the agent's next output.
      store.moveTurns([note], { unhurried: hold.flights.size === 1 && !hold.more }),
    )
    if (outcome === 'stale') holds.drop(hold)
  }

  return handOverNext
}
