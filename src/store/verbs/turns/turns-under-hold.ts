// Turns that are about to be handed over in a place that a person holds, or once held.
import { type Row, rows, type Steps, sideBySide, text, textOrNull, whole } from '../../statement.ts'
import type { VerbContext } from '../../verb-context.ts'
import { type HeldBy, isHeldless } from '../receive/takeover-guard.ts'
import { bornPlaces } from './pending-inserts.ts'

export interface TurnsUnderHold {
  /** Position → the holder of its place. These turns were queued at another node while the place was taken. */
  readonly now: ReadonlyMap<number, HeldBy>
  /** Turns whose place is held, or was held once. */
  readonly ever: ReadonlySet<number>
}

// Joined by place, so that it can run together with the query for the rows.
const holdersOf = (turns: string, which: string) =>
  `SELECT turns.seq, max(CASE WHEN takeovers.state = 'held' THEN takeovers.id END) AS id,
    max(CASE WHEN takeovers.state = 'held' THEN takeovers.holder_name END) AS holder_name
  FROM ${turns} JOIN takeovers ON takeovers.integration = turns.integration
    AND takeovers.conversation = turns.conversation AND COALESCE(takeovers.thread, '') = COALESCE(turns.thread, '')
  WHERE ${which} takeovers.since IS NOT NULL GROUP BY turns.seq`

const HOLDERS = holdersOf('turns', 'turns.seq @any($1) AND')
const HOLDERS_OF_BORN = holdersOf(
  'unnest($1::bigint[], $2::text[], $3::text[], $4::text[]) AS turns(seq, integration, conversation, thread)',
  '',
)

/** Returns the holders, by position of the turn. */
export function* turnsUnderHold(context: VerbContext, turns: readonly number[]): Steps<TurnsUnderHold> {
  const now = new Map<number, HeldBy>()
  const ever = new Set<number>()
  if (turns.length === 0 || (yield* isHeldless(context))) return { now, ever }
  const found = yield* sideBySide(holdersOfBorn(context, turns), holdersOfStored(context, turns))
  for (const row of found.flat()) {
    const seq = whole(row, 'seq')
    ever.add(seq)
    const id = textOrNull(row, 'id')
    if (id !== null) now.set(seq, { id, name: text(row, 'holder_name') })
  }
  return { now, ever }
}

function* holdersOfBorn(context: VerbContext, turns: readonly number[]): Steps<readonly Row[]> {
  const places = bornPlaces(context, turns)
  if (places.length === 0) return []
  return yield* rows(HOLDERS_OF_BORN, [
    places.map(({ seq }) => seq),
    places.map(({ integration }) => integration),
    places.map(({ conversation }) => conversation),
    places.map(({ thread }) => thread),
  ])
}

function* holdersOfStored({ born }: VerbContext, turns: readonly number[]): Steps<readonly Row[]> {
  const stored = turns.filter((seq) => !born.turns.has(seq))
  return stored.length === 0 ? [] : yield* rows(HOLDERS, [stored])
}
