// Determines which verbs of a commit are independent. On PostgreSQL they run side by side: their first queries go out
// together in one round trip, then their next ones. A verb that touches another one's lanes runs after it, and so does
// every verb that is not listed here.
import type { Pending } from './group.ts'
import type { Verb } from './verb-context.ts'
import { receive } from './verbs/receive/receive.ts'
import { enqueue } from './verbs/sends/enqueue.ts'
import { moveSends } from './verbs/sends/move-sends.ts'
import { takeSends } from './verbs/sends/take-sends.ts'
import { type LaneKind, type LanesCall, releaseLanes } from './verbs/turns/lanes.ts'
import { type AcceptCall, accept, moveTurns } from './verbs/turns/move-turns.ts'
import { takeTurns } from './verbs/turns/take-turns.ts'

/** The lanes whose rows a call reads and changes; null: any row. */
type Reach = readonly string[] | null
type AnyVerb = Verb<unknown, unknown>

const laneKeys = (kind: LaneKind, of: readonly { readonly lane: string }[]): Reach =>
  of.map(({ lane }) => `${kind}\n${lane}`)

/** A send that finishes a shown answer changes a row that its sender may be settling. */
const finishes = (sends: readonly { readonly finishes?: unknown }[]) =>
  sends.some((send) => send.finishes !== undefined)

/** They run in this order: rows are created before rows are moved. */
const REACHES: readonly (readonly [AnyVerb, (args: never) => Reach])[] = [
  reachOf(receive, ({ items }) => (items.some(({ effects }) => effects.length > 0) ? null : [])),
  reachOf(moveTurns, (moves) => laneKeys('turns', moves)),
  reachOf(accept, ({ sends, moves }: AcceptCall) => (finishes(sends) ? null : laneKeys('turns', moves))),
  reachOf(enqueue, (sends) => (finishes(sends) ? null : [])),
  reachOf(moveSends, (moves) => laneKeys('sends', moves)),
  reachOf(takeTurns, ({ lanes }) => laneKeys('turns', lanes)),
  reachOf(takeSends, ({ lanes }) => laneKeys('sends', lanes)),
  reachOf(releaseLanes, ({ kind, lanes }: Omit<LanesCall, 'leaseMs'>) => laneKeys(kind, lanes)),
]

function reachOf<Args, Result>(
  verb: Verb<Args, Result>,
  reach: (args: Args) => Reach,
): readonly [AnyVerb, (args: never) => Reach] {
  return [verb as AnyVerb, reach as (args: never) => Reach]
}

const PLACES = new Map(REACHES.map(([verb, reach], at) => [verb, { at, reach }]))

/** A lane is settled first and released then. Both verbs find it held by this node. */
const RELEASED_AFTER: ReadonlySet<AnyVerb> = new Set([
  moveTurns as AnyVerb,
  accept as AnyVerb,
  moveSends as AnyVerb,
])

/** Calls of one verb, by their positions in the commit. */
export interface VerbRun {
  readonly verb: AnyVerb
  readonly at: readonly number[]
}

interface Wave {
  readonly runs: Map<AnyVerb, number[]>
  /** Lane → the verb that touches it. */
  readonly touched: Map<string, AnyVerb>
  /** No other verb may join. */
  readonly alone: boolean
}

/** Returns the waves in order. The runs of a wave go side by side. */
export function planParallelVerbs(
  calls: readonly Pick<Pending, 'verb' | 'args'>[],
): readonly (readonly VerbRun[])[] {
  const waves: Wave[] = []
  for (const [at, { verb, args }] of calls.entries()) {
    const place = PLACES.get(verb)
    const reach = place ? place.reach(args as never) : null
    let wave = waves.at(-1)
    if (!wave || !joins(wave, verb, reach)) {
      wave = { runs: new Map(), touched: new Map(), alone: reach === null }
      waves.push(wave)
    }
    wave.runs.set(verb, [...(wave.runs.get(verb) ?? []), at])
    for (const lane of reach ?? []) wave.touched.set(lane, verb)
  }
  return waves.map(({ runs }) =>
    [...runs].map(([verb, at]) => ({ verb, at })).sort((one, other) => placeOf(one) - placeOf(other)),
  )
}

const TAKES: ReadonlySet<AnyVerb> = new Set([takeTurns as AnyVerb, takeSends as AnyVerb])

/** Whether the verb can use pending rows of this commit. Other verbs query the database. */
export function readsBorn({ verb }: VerbRun): boolean {
  return TAKES.has(verb)
}

function placeOf({ verb }: VerbRun): number {
  return PLACES.get(verb)?.at ?? 0
}

function joins({ alone, runs, touched }: Wave, verb: AnyVerb, reach: Reach): boolean {
  // Adjacent calls of one verb share their statements.
  if (alone || reach === null) return alone && reach === null && runs.has(verb)
  return reach.every((lane) => {
    const by = touched.get(lane)
    if (by === undefined || by === verb) return true
    return verb === (releaseLanes as AnyVerb) && RELEASED_AFTER.has(by)
  })
}
