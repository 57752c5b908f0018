// takeTurns: holds a lane and moves its oldest queued turns to `handed`, as many as the window admits. The move is
// written before the hand-over. A crash in between causes a marked repeat, never an unmarked one.
import { defined, type LaneRequest, rowSeq, type TakenTurns, type TurnRow } from '../../../contract/index.ts'
import { TURN_COLUMNS, turnRow } from '../../codec.ts'
import { rows, runUnheard, type Steps, sideBySide } from '../../statement.ts'
import { hint, recordMove, type SessionFacts, type Verb, type VerbContext } from '../../verb-context.ts'
import { keepTokens } from '../people/people.ts'
import type { HeldBy } from '../receive/takeover-guard.ts'
import { endTurns } from '../receive/takeovers.ts'
import { type Held, holdLanes, judgeLanes, lookAtLanes } from './lanes.ts'
import { type LaneOfTurns, type OpenTurns, openTurns } from './open-in-lanes.ts'
import { bornQueuedTurns, bornTurn, handBorn, writePendingInserts } from './pending-inserts.ts'
import { factsOfSessions } from './sessions.ts'
import { type TurnsUnderHold, turnsUnderHold } from './turns-under-hold.ts'

export interface TakeCall {
  readonly lanes: readonly LaneRequest[]
  readonly leaseMs: number
}

export const takeTurns: Verb<TakeCall, readonly TakenTurns[]> = function* (context, calls) {
  const results: (readonly TakenTurns[])[] = []
  for (const { lanes, leaseMs } of calls) {
    const facts = yield* factsOfSessions(
      context,
      lanes.map(({ lane }) => lane),
    )
    // The lanes come first: their open turns are read once they are locked, in the same round trip.
    const born = bornIn(context, lanes, facts)
    const [looked, open, ofBorn] = yield* sideBySide(
      lookAtLanes(context, 'turns', lanes),
      openTurns(context, askedOf(lanes, facts)),
      turnsUnderHold(context, born),
    )
    const judged = judgeLanes(context, lanes, looked)
    const seen = lookAtAll(context, { requests: lanes, held: judged, facts, open })
    const wanted = seen.flatMap((view) => view.handed)
    const unasked = wanted.filter((seq) => !born.includes(seq))
    // Loads the rows of all lanes at once, because a row costs less than a statement.
    const [held, turns, ofOthers] = yield* sideBySide(
      holdLanes(context, { kind: 'turns', requests: lanes, leaseMs, looked }, judged),
      loadTurns(context, [...wanted, ...seen.flatMap((view) => view.unsettled)]),
      turnsUnderHold(context, unasked),
    )
    const holders = ofBorn.ever.size === 0 ? ofOthers : bothOf(ofBorn, ofOthers)
    const ours = seen.map((view, at) => (held[at]?.outcome === 'taken' ? asLocked(view, turns) : NOTHING))
    const free = yield* withoutHeld(context, ours, turns, holders.now)
    const views = free.map((view, at) => untilDenied(view, lanes[at]?.mayHand, turns))
    results.push(
      lanes.map(({ lane }, at) => {
        const given = taken(context, lane, held[at] as Held, views[at] as View, turns)
        return given.outcome === 'taken' ? withEarlierHolds(given, holders.ever) : given
      }),
    )
    const handed = views.flatMap((view) => view.handed.flatMap((seq) => turns.get(seq) ?? []))
    if (handed.length > 0) yield* markHanded(context, handed)
    yield* keepTokens(
      context,
      views.flatMap((view, at) => tokensFor(view, lanes[at]?.tokens, turns)),
    )
  }
  return results
}

/** A turn's tokens are valid from the moment of its hand-over. */
function tokensFor(view: View, make: LaneRequest['tokens'], turns: ReadonlyMap<number, TurnRow>) {
  if (!make) return []
  const handed = view.handed.flatMap((seq) => turns.get(seq) ?? [])
  return handed.flatMap((turn) => make(turn).map((token) => ({ token, by: 'switchboard' })))
}

function bothOf(one: TurnsUnderHold, other: TurnsUnderHold): TurnsUnderHold {
  return { now: new Map([...one.now, ...other.now]), ever: new Set([...one.ever, ...other.ever]) }
}

/** What to take from a lane, by position. */
interface View {
  readonly handed: readonly number[]
  readonly unsettled: readonly number[]
  readonly more: boolean
  readonly empty: boolean
  readonly next?: number
}

const NOTHING: View = { handed: [], unsettled: [], more: false, empty: true }

type Facts = ReadonlyMap<string, SessionFacts>

/** One more than the window shows whether more turns wait. */
function askedOf(requests: readonly LaneRequest[], facts: Facts): readonly LaneOfTurns[] {
  return requests.flatMap(({ lane, window = 1 }) => {
    const seq = facts.get(lane)?.seq
    return seq === undefined ? [] : [{ seq, most: window + 1 }]
  })
}

/** Turns that this commit added to these lanes. The holders of their places are read at once. */
function bornIn(context: VerbContext, requests: readonly LaneRequest[], facts: Facts): readonly number[] {
  if (context.born.turns.size === 0) return []
  return requests.flatMap(({ lane }) => {
    const seq = facts.get(lane)?.seq
    return seq === undefined ? [] : bornQueuedTurns(context, seq)
  })
}

function lookAtAll(
  context: VerbContext,
  {
    requests,
    held,
    facts,
    open,
  }: {
    readonly requests: readonly LaneRequest[]
    readonly held: readonly Held[]
    readonly facts: Facts
    readonly open: ReadonlyMap<number, OpenTurns>
  },
): readonly View[] {
  return requests.map((request, at) => {
    const outcome = held[at]
    const found = open.get(facts.get(request.lane)?.seq ?? 0)
    return outcome?.outcome === 'taken' && found ? look(context, request, outcome.fresh, found) : NOTHING
  })
}

function look(
  context: VerbContext,
  request: LaneRequest,
  fresh: boolean,
  { flying, queued }: OpenTurns,
): View {
  const left = fresh ? flying : unheardOf(context, request, flying)
  const room = left.length > 0 ? 0 : Math.max(0, (request.window ?? 1) - flying.length)
  return {
    handed: queued.slice(0, room),
    unsettled: left,
    more: queued.length > room,
    empty: flying.length === 0 && queued.length === 0,
  }
}

/** A turn may be cancelled or expire between the read and the lock. Then it is skipped. */
function asLocked(view: View, turns: ReadonlyMap<number, TurnRow>): View {
  const stateOf = (seq: number) => turns.get(seq)?.state
  return {
    ...view,
    handed: view.handed.filter((seq) => stateOf(seq) === 'queued'),
    unsettled: view.unsettled.filter((seq) => stateOf(seq) === 'handed' || stateOf(seq) === 'seen'),
  }
}

/** Turns queued at another node while a person took the place over. They go to the person. */
function* withoutHeld(
  context: VerbContext,
  views: readonly View[],
  turns: ReadonlyMap<number, TurnRow>,
  held: ReadonlyMap<number, HeldBy>,
): Steps<readonly View[]> {
  if (held.size === 0) return views
  yield* writePendingInserts(context)
  const next = views.flatMap((view) => view.handed.flatMap((seq) => turns.get(seq) ?? []))
  for (const turn of next) {
    const by = held.get(turn.seq)
    const { seq, integration, state, reason } = turn
    const to = { state: 'consumed', reason: 'held' } as const
    if (by) yield* endTurns(context, [{ seq, integration, state, reason }], { ...to, takeover: by.id })
  }
  return views.map((view) => {
    const handed = view.handed.filter((seq) => !held.has(seq))
    return handed.length === view.handed.length ? view : { ...view, handed, more: true }
  })
}

/** A turn that may not be handed over now stays queued, with all turns behind it. */
function untilDenied(view: View, mayHand: LaneRequest['mayHand'], turns: ReadonlyMap<number, TurnRow>): View {
  if (!mayHand) return view
  const at = view.handed.findIndex((seq) => {
    const turn = turns.get(seq)
    return turn !== undefined && !mayHand(turn)
  })
  const next = view.handed[at]
  return next === undefined ? view : { ...view, handed: view.handed.slice(0, at), more: true, next }
}

function unheardOf(
  context: VerbContext,
  { known }: LaneRequest,
  flying: readonly number[],
): readonly number[] {
  if (!known) return []
  const heardOf = new Set(known.map((turn) => rowSeq('t', context.tag, turn)))
  return flying.filter((seq) => !heardOf.has(seq))
}

function* loadTurns(context: VerbContext, seqs: readonly number[]): Steps<ReadonlyMap<number, TurnRow>> {
  const turns = new Map<number, TurnRow>()
  const stored: number[] = []
  for (const seq of seqs) {
    const turn = bornTurn(context, seq)
    if (turn) turns.set(seq, turn)
    else stored.push(seq)
  }
  if (stored.length === 0) return turns
  const locked = `SELECT ${TURN_COLUMNS} FROM turns WHERE seq @any($1) ORDER BY seq @lock`
  for (const row of yield* rows(locked, [stored])) {
    const turn = turnRow(context.tag, row)
    turns.set(turn.seq, turn)
  }
  return turns
}

function taken(
  context: VerbContext,
  lane: string,
  held: Held,
  view: View,
  turns: ReadonlyMap<number, TurnRow>,
): TakenTurns {
  if (held.outcome !== 'taken') return { lane, outcome: held.outcome, retryAt: held.retryAt }
  const rowsOf = (seqs: readonly number[]) => seqs.flatMap((seq) => turns.get(seq) ?? [])
  const next = view.next === undefined ? undefined : turns.get(view.next)
  return {
    lane,
    outcome: 'taken',
    token: held.token,
    handed: rowsOf(view.handed).map((turn) => ({
      ...turn,
      state: 'handed' as const,
      reason: null,
      attempts: turn.attempts + 1,
      updatedAt: context.now,
    })),
    unsettled: rowsOf(view.unsettled),
    more: view.more,
    ...defined({ next }),
    empty: view.empty,
  }
}

/** An earlier holder wrote messages there that the agent has not seen. Only then is the lookup needed. */
function withEarlierHolds<Taken extends { readonly handed: readonly TurnRow[] }>(
  taken: Taken,
  ever: ReadonlySet<number>,
): Taken | (Taken & { readonly afterTakeover: readonly string[] }) {
  if (ever.size === 0) return taken
  return { ...taken, afterTakeover: taken.handed.filter(({ seq }) => ever.has(seq)).map(({ id }) => id) }
}

function* markHanded(context: VerbContext, handed: readonly TurnRow[]): Steps<void> {
  const stored = handBorn(context, handed)
  if (stored.length > 0)
    yield* runUnheard(
      `UPDATE turns SET state = 'handed', reason = NULL, attempts = attempts + 1, updated_at = $2
       WHERE seq @any($1)`,
      [stored.map((turn) => turn.seq), context.now],
    )
  for (const { id, integration } of handed) {
    recordMove(context, {
      kind: 'turn',
      id,
      integration,
      from: 'queued',
      fromReason: null,
      to: 'handed',
      reason: null,
    })
    hint(context, { kind: 'turn', id })
  }
}
