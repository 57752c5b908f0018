// Which verbs of a commit need nothing of each other. On PostgreSQL they are asked side by side: what each of them asks
// first goes out together, in one round trip, then what each asks next. Whoever touches what another one does comes
// behind it, as does every verb that is not listed here.
import type { Pending } from './group.ts'
import type { Verb } from './verb-context.ts'
import { receive } from './verbs/receive/receive.ts'
import { enqueue } from './verbs/sends/enqueue.ts'
import { moveSends } from './verbs/sends/move-sends.ts'
import { takeSends } from './verbs/sends/take-sends.ts'
import { type LaneKind, type LanesCall, releaseLanes } from './verbs/turns/lanes.ts'
import { type AcceptCall, accept, moveTurns } from './verbs/turns/move-turns.ts'
import { takeTurns } from './verbs/turns/take-turns.ts'

/** The lanes whose rows a call reads and changes; null: it may touch anything. */
type Reach = readonly string[] | null
type AnyVerb = Verb<unknown, unknown>

const laneKeys = (kind: LaneKind, of: readonly { readonly lane: string }[]): Reach =>
  of.map(({ lane }) => `${kind}\n${lane}`)

/** What finishes an answer that is being shown changes a row that its sender may be settling. */
const finishes = (sends: readonly { readonly finishes?: unknown }[]) =>
  sends.some((send) => send.finishes !== undefined)

/** In this order they are asked: what is born in a commit is told before what is moved. */
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

/** Settled first, given back then: both find the lane in their hands. */
const RELEASED_AFTER: ReadonlySet<AnyVerb> = new Set([
  moveTurns as AnyVerb,
  accept as AnyVerb,
  moveSends as AnyVerb,
])

/** Calls of one verb, by their places in the commit. */
export interface VerbRun {
  readonly verb: AnyVerb
  readonly at: readonly number[]
}

interface Wave {
  readonly runs: Map<AnyVerb, number[]>
  /** Lane → who touches it. */
  readonly touched: Map<string, AnyVerb>
  /** Nobody may come along. */
  readonly alone: boolean
}

/** The waves come one after the other; the runs of a wave go side by side. */
export function planWaves(calls: readonly Pick<Pending, 'verb' | 'args'>[]): readonly (readonly VerbRun[])[] {
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

/** It finds rows of this commit that are not written yet: the others look for them in the database. */
export function readsBorn({ verb }: VerbRun): boolean {
  return TAKES.has(verb)
}

function placeOf({ verb }: VerbRun): number {
  return PLACES.get(verb)?.at ?? 0
}

function joins({ alone, runs, touched }: Wave, verb: AnyVerb, reach: Reach): boolean {
  // As neighbours: calls of one verb share their statements.
  if (alone || reach === null) return alone && reach === null && runs.has(verb)
  return reach.every((lane) => {
    const by = touched.get(lane)
    if (by === undefined || by === verb) return true
    return verb === (releaseLanes as AnyVerb) && RELEASED_AFTER.has(by)
  })
}
