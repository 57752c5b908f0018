// DISPATCH: inbox → agent. It holds the lanes of sessions whose agent is attached here, hands turns over in order,
// and settles them by the evidence that comes back. `handed` is committed before the hand-over, so whatever a crash
// leaves behind is offered again as a marked repeat, in the way the connector declared.
import {
  type AgentConnector,
  asSwitchboardError,
  type Cancel,
  type Clock,
  type Logger,
  type NewSend,
  type ReasonCode,
  type Settings,
  type Store,
  type TakenTurns,
  type TurnMove,
  type TurnRow,
  type Work,
} from '../../contract/index.ts'
import { givenUpText, notice, offlineText } from '../notices.ts'
import { createPatience } from '../patience.ts'
import { rowAddress, type SignalSink, tellTurnState } from '../signals.ts'
import { toDelivery } from './delivery.ts'
import { createDrain } from './drain.ts'
import { createLaneHolds, type Flight, type LaneHold } from './lane-holds.ts'
import type { Roster } from './roster.ts'

export interface DispatcherDeps {
  readonly store: Store
  readonly clock: Clock
  readonly log: Logger
  readonly settings: () => Settings
  readonly roster: Roster
  readonly signal: SignalSink
  /** False for a place that nothing can be said to. */
  readonly canSpeak: (integration: string) => boolean
  /** The reaction that tells a sender that the agent has it; null where there is none to give. */
  readonly ackReaction: (row: TurnRow) => NewSend | null
  readonly crashPoint?: (name: string) => void
}

export interface Dispatcher {
  start(): void
  /** The flight of a turn that is in work here. */
  flight(turn: string): { readonly hold: LaneHold; readonly flight: Flight } | null
  /** Commits sends and the turn's move as one; forgets the flight when the turn is done. False: the lane is lost. */
  settle(turn: string, to: 'seen' | 'answered' | 'failed', options?: SettleOptions): Promise<SettleOutcome>
  /** Stops what runs for these turns (they are already cancelled in the store). */
  abandon(agent: string, turns: readonly string[]): void
  stop(): Promise<void>
}

export interface SettleOptions {
  readonly sends?: readonly NewSend[]
  readonly reason?: ReasonCode
  readonly detail?: string
}

export type SettleOutcome = { readonly ok: true; readonly ids: readonly string[] } | { readonly ok: false }

const LEASE_MS = 15_000
const OFFLINE_GRACE_MS = 5_000
const FIRST_RETRY_MS = 1_000
const LONGEST_RETRY_MS = 60_000
const EXPIRY_SWEEP_MS = 60_000

export function createDispatcher(deps: DispatcherDeps): Dispatcher {
  const { store, clock, log, roster } = deps
  const patience = createPatience(clock, log)
  const holds = createLaneHolds({ store, clock, log, leaseMs: LEASE_MS, signal: deps.signal })
  let stopped = false
  let cancelExpiry: Cancel = () => undefined

  const drain = createDrain<TakenTurns & { scope: string }>(
    {
      kind: 'turns',
      reachable: () => roster.reachable(),
      take: async (lanes) => {
        const taken = await store.takeTurns(lanes.map(toRequest), LEASE_MS)
        return taken.map((one, index) => ({ ...one, scope: lanes[index]?.scope ?? '' }))
      },
      handle: (taken) =>
        void handle(taken).catch((thrown) => log.error({ error: String(thrown) }, 'dispatch failed')),
    },
    { store, clock, log },
  )

  const toRequest = (work: Work) => {
    const window = roster.get(work.scope)?.connector.window ?? 1
    const hold = holds.get(work.lane)
    return hold ? { lane: work.lane, token: hold.token, window } : { lane: work.lane, window }
  }

  const handle = async (taken: TakenTurns & { scope: string }) => {
    const work = { lane: taken.lane, scope: taken.scope }
    if (taken.outcome !== 'taken') {
      holds.drop(taken.lane)
      drain.wakeAfter(work, taken.outcome === 'lost' ? 0 : taken.retryAt - clock.now())
      return
    }
    const post = roster.get(taken.scope)
    const hold = holds.take(taken.lane, taken.scope, taken.token)
    if (!post?.attached) return holds.release(hold)
    if (taken.leftover.length > 0) {
      await settleLeftovers(hold, taken.leftover, post.connector)
      return drain.wake(work)
    }
    for (const row of taken.handed) holds.board(hold, row)
    for (const row of taken.handed) {
      hold.handingOver = hold.handingOver.then(() => handOver(hold, row, post.connector))
    }
    await hold.handingOver
    if (taken.empty && hold.flights.size === 0) holds.rest(hold)
  }

  const handOver = async (hold: LaneHold, row: TurnRow, connector: AgentConnector) => {
    if (!hold.flights.has(row.id)) return // cancelled while the one before it was being handed over
    tellTurnState(deps.signal, row, 'handed')
    try {
      deps.crashPoint?.('dispatch.before-hand-over')
      await connector.deliver(toDelivery(row, hold.agent, hold.lane))
      deps.crashPoint?.('dispatch.after-hand-over')
      if (connector.redelivery.afterTimeout) watchSilence(hold, row)
    } catch (thrown) {
      await notTaken(hold, row, thrown)
    }
  }

  /** The connector knows that the turn was not taken. */
  const notTaken = async (hold: LaneHold, row: TurnRow, thrown: unknown) => {
    const error = asSwitchboardError(thrown, 'agent_failed')
    const { maxAttempts } = deps.settings().tunables
    if (!error.nature.retryable) return giveUp(hold, row, 'agent_rejected', error.message)
    if (row.attempts >= maxAttempts && error.code !== 'agent_absent') {
      return giveUp(hold, row, 'max_attempts', error.message)
    }
    const notBeforeMs = error.retryAfterMs ?? retryDelayMs(row.attempts)
    await move(hold, row, { to: 'queued', notBeforeMs, detail: error.message })
    await holds.release(hold)
    if (roster.get(hold.agent)?.attached) drain.wakeAfter({ lane: hold.lane, scope: hold.agent }, notBeforeMs)
  }

  /** What a former owner left in flight is offered again, resumed or given up, as the connector declared. */
  const settleLeftovers = async (hold: LaneHold, rows: readonly TurnRow[], connector: AgentConnector) => {
    const { maxAttempts } = deps.settings().tunables
    for (const row of rows) {
      const policy = row.state === 'seen' ? connector.redelivery.seen : connector.redelivery.handed
      if (policy === 'give-up') await giveUp(hold, row, 'agent_silent')
      else if (row.attempts >= maxAttempts) await giveUp(hold, row, 'max_attempts')
      else await move(hold, row, { to: 'queued', repeat: true, resume: policy === 'resume' })
    }
  }

  const watchSilence = (hold: LaneHold, row: TurnRow) => {
    const flight = hold.flights.get(row.id)
    if (!flight) return
    flight.cancelTimeout = clock.after(deps.settings().tunables.redeliverAfterMs, () => {
      const { maxAttempts } = deps.settings().tunables
      const again = row.attempts < maxAttempts
      const done = again ? move(hold, row, { to: 'queued', repeat: true }) : giveUp(hold, row, 'max_attempts')
      done
        .then(() => drain.wake({ lane: hold.lane, scope: hold.agent }))
        .catch((thrown) => log.error({ error: String(thrown) }, 'a silent turn could not be offered again'))
    })
  }

  const move = async (hold: LaneHold, row: TurnRow, to: Omit<TurnMove, 'lane' | 'token' | 'turn'>) => {
    const full = { lane: hold.lane, token: hold.token, turn: row.id, ...to }
    const [outcome] = await patience.persist('move a turn', () => store.moveTurns([full]))
    if (outcome === 'stale') return holds.drop(hold.lane)
    if (to.to !== 'seen') holds.land(hold, row.id)
    tellTurnState(deps.signal, row, to.to, to.reason)
  }

  const giveUp = async (hold: LaneHold, row: TurnRow, reason: ReasonCode, detail?: string) => {
    const sends = deps.canSpeak(row.integration) ? [notice(targetOf(row), givenUpText(reason, detail))] : []
    await commit(hold, row, 'failed', { sends, reason, ...(detail === undefined ? {} : { detail }) })
  }

  const commit = async (
    hold: LaneHold,
    row: TurnRow,
    to: 'seen' | 'answered' | 'failed',
    { sends = [], reason, detail }: SettleOptions,
  ): Promise<SettleOutcome> => {
    deps.crashPoint?.('dispatch.before-settle')
    const full: TurnMove = {
      lane: hold.lane,
      token: hold.token,
      turn: row.id,
      to,
      ...(reason ? { reason } : {}),
      ...(detail ? { detail } : {}),
    }
    const all = to === 'failed' ? sends : [...acknowledged(hold, row), ...sends]
    const result = await patience.persist('settle a turn', () => store.accept(all, [full]))
    deps.crashPoint?.('dispatch.after-settle')
    if (result.outcome === 'stale') {
      holds.drop(hold.lane)
      return { ok: false }
    }
    if (to !== 'seen') {
      holds.land(hold, row.id)
      drain.wake({ lane: hold.lane, scope: hold.agent })
    }
    tellTurnState(deps.signal, row, to, reason)
    return { ok: true, ids: result.sends.slice(all.length - sends.length).map((sent) => sent.id) }
  }

  /** Only once the agent has it, and once. */
  const acknowledged = (hold: LaneHold, row: TurnRow): readonly NewSend[] => {
    const flight = hold.flights.get(row.id)
    if (!flight || flight.acknowledged) return []
    flight.acknowledged = true
    const reaction = deps.ackReaction(row)
    return reaction ? [reaction] : []
  }

  const tellOffline = (lane: string, agent: string) => {
    const post = roster.get(agent)
    if (!post || post.attached || post.outageSince === null) return
    const outage = post.outageSince
    clock.after(OFFLINE_GRACE_MS, () => {
      if (stopped || post.attached || post.outageSince !== outage) return
      offlineNotice(lane, agent, outage).catch((thrown) =>
        log.warn({ error: String(thrown) }, 'no offline notice'),
      )
    })
  }

  const offlineNotice = async (lane: string, agent: string, outage: number) => {
    const [row] = await store.turns({ session: lane, states: ['queued'], oldestFirst: true, limit: 1 })
    if (!row || !deps.canSpeak(row.integration)) return
    await store.enqueue([notice(targetOf(row), offlineText(agent), `offline:${agent}:${outage}:${lane}`)])
  }

  const expireOld = async () => {
    const rows = await store.expireTurns(deps.settings().tunables.queueExpiryMs, 100)
    const told = rows.filter((row) => deps.canSpeak(row.integration))
    if (told.length > 0)
      await store.enqueue(told.map((row) => notice(targetOf(row), givenUpText('queue_expired'))))
    for (const row of rows) tellTurnState(deps.signal, row, 'expired', 'queue_expired')
  }

  const keepExpiring = () => {
    cancelExpiry = clock.after(EXPIRY_SWEEP_MS, () => {
      expireOld().catch((thrown) => log.warn({ error: String(thrown) }, 'expiry sweep failed'))
      if (!stopped) keepExpiring()
    })
  }

  store.onHint((hint) => {
    if (hint.kind === 'turns' && !stopped && !roster.reachable().includes(hint.scope))
      tellOffline(hint.lane, hint.scope)
  })
  roster.onAttached(() => drain.sweep())
  holds.onLost((lane, agent) => drain.wake({ lane, scope: agent }))

  return {
    start() {
      drain.sweep()
      keepExpiring()
    },
    flight: (turn) => holds.flight(turn),
    async settle(turn, to, options = {}) {
      const found = holds.flight(turn)
      return found ? commit(found.hold, found.flight.row, to, options) : { ok: false }
    },
    abandon(agent, turns) {
      const { connector } = roster.get(agent) ?? {}
      for (const turn of turns) {
        const found = holds.flight(turn)
        if (!found) continue
        tellTurnState(deps.signal, found.flight.row, 'failed', 'cancelled')
        holds.drop(found.hold.lane)
        connector
          ?.cancel?.(found.hold.lane, turn)
          .catch((thrown) => log.warn({ agent, error: String(thrown) }, 'a turn could not be stopped'))
      }
    },
    async stop() {
      stopped = true
      patience.stop()
      cancelExpiry()
      drain.stop()
      await holds.stop()
    },
  }
}

function targetOf(row: TurnRow) {
  return { to: rowAddress(row), platform: row.platform, agent: row.agent, session: row.session, turn: row.id }
}

function retryDelayMs(attempts: number): number {
  return Math.min(FIRST_RETRY_MS * 2 ** Math.max(0, attempts - 1), LONGEST_RETRY_MS)
}
