// Ends a turn that was handed over: by evidence, by silence, or by giving up. Each end and its messages are one commit.
// A turn that another node holds is settled here when its agent speaks here. The row decides, not the node.
import {
  type Clock,
  defined,
  type Enqueued,
  isResting,
  type Logger,
  type NewSend,
  RESTING_REASONS,
  type ReasonCode,
  type Settings,
  type Store,
  type TurnMove,
  type TurnRow,
  type Work,
} from '../../contract/index.ts'
import { askedMsOf } from '../approvals/asked-time.ts'
import { notice, noticeTarget } from '../notices.ts'
import type { TurnEnd } from '../outbound/notify-on.ts'
import type { Roster } from '../roster.ts'
import { type SignalSink, tellTurnState } from '../signals.ts'
import type { StoreRetry } from '../store-retry.ts'
import type { LaneHold, LaneHolds } from './lanes/lane-holds.ts'
import { createTurnLiveness } from './turn-liveness.ts'
import { createUnseenNotices } from './unseen-notices.ts'

export interface SettlingDeps {
  readonly store: Pick<
    Store,
    'accept' | 'approvals' | 'acceptFor' | 'heardOf' | 'moveTurns' | 'shared' | 'turn'
  >
  readonly clock: Clock
  readonly log: Logger
  readonly settings: () => Settings
  readonly roster: Roster
  readonly signal: SignalSink
  readonly canSpeak: (integration: string) => boolean
  readonly say: (sends: readonly NewSend[]) => Promise<unknown>
  readonly ackReaction: (row: TurnRow) => NewSend | null
  readonly ended: (row: TurnRow, end: TurnEnd) => readonly NewSend[]
  readonly onRejected: (row: TurnRow) => void
  readonly onRevoked: (row: TurnRow) => void
  /** A turn ended that may have asked a person. Its open questions need no answer any more. */
  readonly onAskerOver: (row: TurnRow) => void
  /** The agent took a turn and never answered. */
  readonly onSilent?: (agent: string, forMs: number) => void
  /** The agent gave an answer of its own. */
  readonly onAnswered?: (agent: string) => void
  readonly crashPoint?: (name: string) => void
  readonly holds: LaneHolds
  readonly storeRetry: StoreRetry
  readonly wake: (work: Work) => void
}

type End = 'seen' | 'answered' | 'failed'

export interface SettleOptions {
  readonly sends?: readonly NewSend[]
  readonly reason?: ReasonCode
  readonly detail?: string
  /** The messages are the agent's own words. */
  readonly said?: true
  /** This is the turn's only answer. It is refused if another one was given. */
  readonly sole?: true
  /** The agent's final text. */
  readonly text?: string
}

export type SettleOutcome = { readonly ok: true; readonly ids: readonly string[] } | { readonly ok: false }

export interface Settling {
  /**
   * Commits messages and the turn's move together, and forgets the flight when the turn ends. `ok: false`: the turn is
   * no longer this node's to settle.
   */
  settle(turn: string, to: End, options?: SettleOptions): Promise<SettleOutcome>
  /**
   * The agent saw the turn and will not answer at once, or at all. If the connector declares so, the turn rests from
   * now on.
   */
  acknowledge(row: TurnRow): Promise<void>
  /** One-way turns that their host has. They stay `handed`, are no longer waited for, and expire with the queue. */
  rest(turns: readonly string[]): Promise<void>
  /** Refuses a turn before hand-over because its sender has lost access. The sender gets no notice. */
  revoke(hold: LaneHold, row: TurnRow): Promise<void>
  giveUp(hold: LaneHold, row: TurnRow, reason: ReasonCode, detail?: string): Promise<void>
  /** Ends a turn of an agent that is no longer configured, even while it waits. False: it ended meanwhile. */
  giveUpRemoved(row: TurnRow): Promise<boolean>
  /** Records a sign of life that moves nothing, for a turn in flight here or at another node. */
  heard(turn: string, agent: string): Promise<void>
  /** Another node settled a turn that is in flight here. */
  settledElsewhere(hold: LaneHold, row: TurnRow): void
  /**
   * Starts the silence timer of a turn. Silence means that no work is running, so the turn is offered again. If the
   * agent must answer by itself, the turn is given up.
   */
  watchSilence(hold: LaneHold, row: TurnRow, since?: number): void
}

export function createSettling(deps: SettlingDeps): Settling {
  const { store, clock, log, roster, holds, storeRetry } = deps

  const unseen = createUnseenNotices(deps)

  /** `askedMs`: how long a person has been asked since then, as far as is known. */
  const watchSilence = (hold: LaneHold, row: TurnRow, since = clock.now(), askedMs = 0) => {
    const redelivery = roster.get(hold.agent)?.connector.redelivery
    const waits = redelivery?.handed === 'wait'
    const flight = hold.flights.get(row.id)
    if (redelivery?.unseenTold && row.state !== 'seen') unseen.watch(hold, row, since)
    if (!flight || !(waits || redelivery?.afterTimeout)) return
    flight.cancelTimeout()
    const { redeliverAfterMs } = deps.settings().tunables
    flight.cancelTimeout = clock.after(since + redeliverAfterMs + askedMs - clock.now(), () => {
      // The agent spoke while the store was unavailable, so it is not silent.
      if (flight.speaking > 0) return watchSilence(hold, row)
      endSilence(hold, row, since, askedMs)
        .then((ended) => ended && deps.wake({ lane: hold.lane, scope: hold.agent }))
        .catch((thrown) => log.error({ error: String(thrown) }, 'a silent turn could not be offered again'))
    })
  }

  /** False: a person was asked meanwhile, so the time is not over. */
  const endSilence = async (
    hold: LaneHold,
    row: TurnRow,
    since: number,
    knownMs: number,
  ): Promise<boolean> => {
    const flight = hold.flights.get(row.id)
    const waits = roster.get(hold.agent)?.connector.redelivery.handed === 'wait'
    const askedMs = flight?.asked || waits ? await askedMsOf(store, row.id, since, clock.now()) : 0
    if (hold.flights.get(row.id) !== flight) return false
    if (askedMs > knownMs) {
      watchSilence(hold, row, since, askedMs)
      return false
    }
    const { maxAttempts } = deps.settings().tunables
    if (waits) {
      await giveUp(hold, row, 'agent_silent')
      deps.onSilent?.(hold.agent, clock.now() - since - knownMs)
    } else if (row.attempts < maxAttempts) await offerAgain(hold, row)
    else await giveUp(hold, row, 'max_attempts')
    return true
  }

  const offerAgain = async (hold: LaneHold, row: TurnRow) => {
    const { lane, token } = hold
    const full: TurnMove = { lane, token, turn: row.id, to: 'queued', repeat: true }
    const [outcome] = await storeRetry.persist('move a turn', () => store.moveTurns([full]))
    if (outcome === 'stale') return holds.drop(hold)
    holds.land(hold, row.id)
    tellTurnState(deps.signal, row, 'queued')
  }

  const sorry = (row: TurnRow, reason: ReasonCode, detail?: string): readonly NewSend[] =>
    deps.canSpeak(row.integration)
      ? [notice(noticeTarget(row), (words) => words.notices.givenUp({ reason, detail }))]
      : []

  const giveUp = async (hold: LaneHold, row: TurnRow, reason: ReasonCode, detail?: string) => {
    const sends = sorry(row, reason, detail)
    const why = { reason, ...defined({ detail }) }
    const { ok } = await commit(hold, row, 'failed', { sends, ...why })
    if (ok && reason === 'agent_rejected') deps.onRejected(row)
  }

  const signs = createTurnLiveness(deps)

  /** The silence timer starts again. */
  const extend = (hold: LaneHold, row: TurnRow) => {
    if (roster.get(hold.agent)?.connector.redelivery.seen === 'wait') watchSilence(hold, row)
    else hold.flights.get(row.id)?.cancelTimeout()
  }

  /** The messages of an end, the agent's own words last. */
  const wordsOf = (row: TurnRow, to: End, options: SettleOptions, thanks: readonly NewSend[]) => {
    const { sends = [], reason, detail, text } = options
    const why = { ...defined({ reason }), ...(detail ? { detail } : {}) }
    const end = { ...defined({ text }), ...why }
    const notifications = to === 'seen' ? [] : deps.ended(row, { to, ...end })
    const all = [...thanks, ...notifications, ...sends]
    return { why, all, own: all.length - sends.length }
  }

  const commit = async (
    hold: LaneHold,
    row: TurnRow,
    to: End,
    options: SettleOptions,
  ): Promise<SettleOutcome> => {
    deps.crashPoint?.('dispatch.before-settle')
    const flight = hold.flights.get(row.id)
    if (flight && options.said) flight.said = true
    if (flight && options.reason === 'replied') flight.replied = true
    const { why, all, own } = wordsOf(row, to, options, to === 'failed' ? [] : acknowledged(hold, row))
    const { lane, token } = hold
    const full: TurnMove = { lane, token, turn: row.id, to, ...why, ...soleOf(options) }
    const result = await spoken(hold, row, () =>
      // A retried answer stays before the answers that follow it.
      storeRetry.persistInLine(lane, 'settle a turn', () => store.accept(all, [full])),
    )
    deps.crashPoint?.('dispatch.after-settle')
    if (result.outcome === 'stale') holds.drop(hold)
    // The turn ended at another node or by an operator, without a hint here.
    if (result.outcome === 'ended') landed(hold, row)
    if (result.outcome !== 'accepted') return given(result.sends)
    if (to === 'answered') deps.onAnswered?.(hold.agent)
    if (to === 'seen' && !RESTING_REASONS.includes(options.reason ?? null)) extend(hold, row)
    else landed(hold, row)
    // An interrupted turn may have asked in an earlier run.
    if (to !== 'seen' && (flight?.asked || row.attempts > 1)) deps.onAskerOver(row)
    tellTurnState(deps.signal, row, to, options.reason)
    return { ok: true, ids: result.sends.slice(own).map((sent) => sent.id) }
  }

  const spoken = async <T>(hold: LaneHold, row: TurnRow, write: () => Promise<T>): Promise<T> => {
    const flight = hold.flights.get(row.id)
    if (flight) flight.speaking += 1
    try {
      return await write()
    } finally {
      if (flight) flight.speaking -= 1
    }
  }

  const landed = (hold: LaneHold, row: TurnRow) => {
    holds.land(hold, row.id)
    // Only turns that were left waiting must be requested. Later ones come with a hint.
    if (hold.more) deps.wake({ lane: hold.lane, scope: hold.agent })
    else if (hold.flights.size === 0) holds.rest(hold)
  }

  /** Once, and only after the agent has the turn. */
  const acknowledged = (hold: LaneHold, row: TurnRow): readonly NewSend[] => {
    const flight = hold.flights.get(row.id)
    if (!flight || flight.acknowledged) return []
    flight.acknowledged = true
    return thanksFor(row)
  }

  const thanksFor = (row: TurnRow): readonly NewSend[] => {
    const reaction = deps.ackReaction(row)
    return reaction ? [reaction] : []
  }

  /** For a turn that is in flight at another node, or about to be taken over from one. */
  const elsewhere = async (row: TurnRow, to: End, options: SettleOptions): Promise<SettleOutcome> => {
    // The reaction's key prevents a second one, whichever node sends it.
    const thanks = to === 'failed' || row.state === 'seen' ? [] : thanksFor(row)
    const { why, all, own } = wordsOf(row, to, options, thanks)
    const result = await storeRetry.persist('settle a turn', () =>
      store.acceptFor(all, { turn: row.id, to, ...why, ...soleOf(options), ...waitingOf(row) }),
    )
    if (result.outcome === 'stale') return given(result.sends)
    if (to === 'answered' && row.agent !== null) deps.onAnswered?.(row.agent)
    // The turn was taken from the queue here meanwhile.
    const here = to === 'seen' ? null : holds.flight(row.id)
    if (here) landed(here.hold, row)
    tellTurnState(deps.signal, row, to, options.reason)
    return { ok: true, ids: result.sends.slice(own).map((sent) => sent.id) }
  }

  const settle: Settling['settle'] = async (turn, to, options = {}) => {
    const flying = holds.flight(turn)
    if (flying) return commit(flying.hold, flying.flight.row, to, options)
    const row = holds.wasLost(turn) ? null : await store.turn(turn)
    // The turn is in flight at another node, or rests and is in flight nowhere. The row decides.
    const ends = row?.state === 'queued' && to !== 'seen'
    const maySettle = store.shared || ends || (row && (isResting(row) || row.state === 'answered'))
    return row && maySettle ? elsewhere(row, to, options) : { ok: false }
  }

  return {
    settle,
    async acknowledge({ id, agent }) {
      const rests = roster.get(agent ?? '')?.connector.redelivery.acknowledged === 'rest'
      await settle(id, 'seen', rests ? { reason: 'acknowledged' } : {})
    },
    giveUp,
    async revoke(hold, row) {
      const { lane, token } = hold
      const uncounted = row.state === 'queued' ? {} : { uncounted: true }
      const away = { lane, token, turn: row.id, to: 'refused', reason: 'revoked', ...uncounted } as const
      const [outcome] = await storeRetry.persist('refuse a turn', () => store.moveTurns([away]))
      if (outcome === 'stale') return holds.drop(hold)
      landed(hold, row)
      tellTurnState(deps.signal, row, 'refused', 'revoked')
      deps.onRevoked(row)
    },
    async giveUpRemoved(row) {
      const reason = 'agent_removed'
      const move = { turn: row.id, to: 'failed', reason, waiting: true } as const
      const { outcome } = await store.acceptFor(sorry(row, reason), move)
      if (outcome === 'accepted') tellTurnState(deps.signal, row, 'failed', reason)
      return outcome === 'accepted'
    },
    async heard(turn, agent) {
      const flying = holds.flight(turn)
      if (flying) extend(flying.hold, flying.flight.row)
      // Other nodes wait only for an agent that outlives the daemon.
      if (roster.get(agent)?.connector.redelivery.seen === 'wait') await signs.note(turn, agent)
    },
    settledElsewhere(hold, row) {
      if (row.state === 'seen' && !isResting(row)) extend(hold, row)
      else if (row.state !== 'handed') landed(hold, row)
    },
    async rest(turns) {
      const flying = turns.flatMap((turn) => holds.flight(turn) ?? [])
      const moves = flying.map(({ hold: { lane, token }, flight: { row } }): TurnMove => {
        return { lane, token, turn: row.id, to: 'handed', reason: 'one_way' }
      })
      const outcomes = await storeRetry.persist('let turns rest', () => store.moveTurns(moves))
      for (const [at, { hold, flight }] of flying.entries())
        if (outcomes[at] === 'stale') holds.drop(hold)
        else landed(hold, flight.row)
    },
    watchSilence,
  }
}

const soleOf = ({ sole }: SettleOptions) => (sole ? ({ sole } as const) : {})

/** The agent had taken the turn without confirming it. */
const waitingOf = ({ state }: TurnRow) => (state === 'queued' ? ({ waiting: true } as const) : {})

/** The same answer was given before, so its rows are returned. */
function given(sends: readonly Enqueued[]): SettleOutcome {
  return sends.length === 0 ? { ok: false } : { ok: true, ids: sends.map((sent) => sent.id) }
}
