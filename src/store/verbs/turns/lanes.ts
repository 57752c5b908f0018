// Lanes: the central lock. A lane row has an owner, a fencing token and an end time. The token grows by one with every
// fresh acquisition and is never reset.
import type { LaneRequest } from '../../../contract/index.ts'
import {
  type InsertShape,
  insert,
  type Row,
  rows,
  runUnheard,
  type Steps,
  sideBySide,
  text,
  textOrNull,
  type Value,
  whole,
  wholeOrNull,
} from '../../statement.ts'
import { type LaneState, oneByOne, type Verb, type VerbContext } from '../../verb-context.ts'

export type LaneKind = 'turns' | 'sends'

const RENEW = 'UPDATE lanes SET until = $3 WHERE kind = $1 AND lane @any($2)'
const LEEWAY_MS = 1_000
// Another commit has the row locked now, to take or to release it.
const IN_HAND_MS = 250

export type Held =
  | { readonly outcome: 'taken'; readonly token: number; readonly fresh: boolean }
  | { readonly outcome: 'busy' | 'later' | 'lost'; readonly retryAt: number }

// Another node may have taken a free or absent lane meanwhile. Then its token has moved on.
const LANE_ACQUIRE: InsertShape = {
  table: 'lanes',
  columns: ['kind', 'lane', 'owner', 'token', 'until', 'not_before'],
  numbers: ['token', 'until', 'not_before'],
  conflict:
    'ON CONFLICT (kind, lane) DO UPDATE SET owner = excluded.owner, token = excluded.token, ' +
    'until = excluded.until, not_before = excluded.not_before WHERE lanes.token = excluded.token - 1',
  identity: 'lane',
}

/**
 * Returns the rows of these lanes, locked for the rest of the commit. They are cached if only this node writes them.
 */
export function* lockLanes(
  context: VerbContext,
  kind: LaneKind,
  lanes: readonly string[],
): Steps<ReadonlyMap<string, LaneState>> {
  const found = new Map<string, LaneState>()
  const asked = new Set<string>()
  for (const lane of lanes) {
    const known = remembered(context, kind, lane)
    if (known) found.set(lane, known)
    else if (known === undefined) asked.add(lane)
  }
  if (asked.size === 0) return found
  const stored = yield* rows(
    `SELECT lane, owner, token, until, not_before FROM lanes WHERE kind = $1 AND lane @any($2)
     ORDER BY lane @lock`,
    [kind, [...asked]],
  )
  for (const row of stored) {
    const lane = text(row, 'lane')
    asked.delete(lane)
    found.set(lane, stateOf(row))
    noteLane(context, kind, lane, stateOf(row))
  }
  for (const lane of asked) noteLane(context, kind, lane, null)
  return found
}

/**
 * Locks a lane's row for the rest of the commit, whichever node holds the lane. False: another commit has the row.
 */
export function* lockAtOnce(kind: LaneKind, lane: string): Steps<boolean> {
  const locked = yield* rows('SELECT lane FROM lanes WHERE kind = $1 AND lane = $2 @skip', [kind, lane])
  if (locked.length > 0) return true
  return (yield* rows('SELECT lane FROM lanes WHERE kind = $1 AND lane = $2', [kind, lane])).length === 0
}

function stateOf(row: Row): LaneState {
  return {
    owner: textOrNull(row, 'owner'),
    token: whole(row, 'token'),
    until: whole(row, 'until'),
    notBefore: whole(row, 'not_before'),
  }
}

interface Free {
  /** Locked for the rest of the commit. */
  readonly states: ReadonlyMap<string, LaneState>
  /** Not available now, with the time to ask again. */
  readonly busy: ReadonlyMap<string, number>
}

const FREE_LANES = `SELECT lane, owner, token, until, not_before FROM lanes WHERE kind = $1 AND lane @any($2)
  AND (owner IS NULL OR until <= $4 OR substr(owner, 1, length($3)) = $3) ORDER BY lane @skip`

// For new lanes: the first node creates the row, and the others do not wait for its commit. Each lane is looked up
// separately. A join, planned while there are no lanes yet, would read all lanes of a kind each time.
const OTHER_LANES = `SELECT lane, until, CASE WHEN until IS NOT NULL THEN 0
      WHEN pg_try_advisory_xact_lock(hashtextextended($1 || lane, 0)) THEN 1 ELSE 0 END AS first
  FROM (SELECT asked.lane, (SELECT l.until FROM lanes l WHERE l.kind = $1 AND l.lane = asked.lane) AS until
    FROM unnest($2::text[]) AS asked(lane) OFFSET 0) AS found`

/**
 * Returns lanes that this node does not hold, as far as they may be taken. It waits for nothing and locks no foreign
 * lanes, because nodes that wait for each other's lanes would deadlock.
 */
function* lookForFree(context: VerbContext, kind: LaneKind, lanes: readonly string[]): Steps<Free> {
  const busy = new Map<string, number>()
  if (lanes.length === 0 || context.memory.lanes) {
    return { states: yield* lockLanes(context, kind, lanes), busy }
  }
  const [free, all] = yield* sideBySide(
    rows(FREE_LANES, [kind, lanes, `${context.node}/`, context.now]),
    rows(OTHER_LANES, [kind, lanes]),
  )
  const states = new Map(free.map((row) => [text(row, 'lane'), stateOf(row)]))
  for (const row of all) {
    const lane = text(row, 'lane')
    if (states.has(lane)) continue
    const until = wholeOrNull(row, 'until')
    if (until === null && whole(row, 'first') === 1) continue
    busy.set(lane, until !== null && until > context.now ? until : context.now + IN_HAND_MS)
  }
  return { states, busy }
}

/** Undefined: unknown. Null: there is no such row. */
function remembered(context: VerbContext, kind: LaneKind, lane: string): LaneState | null | undefined {
  const { lanes } = context.memory
  if (!lanes) return undefined
  const key = `${kind}\n${lane}`
  const fresh = context.freshLanes.get(key)
  return fresh === undefined ? lanes.get(key) : fresh
}

/** Records every change of a lane's row, so the cache matches the result of the commit. */
export function noteLane(context: VerbContext, kind: LaneKind, lane: string, state: LaneState | null): void {
  if (context.memory.lanes) context.freshLanes.set(`${kind}\n${lane}`, state)
}

function change(context: VerbContext, kind: LaneKind, lane: string, changed: Partial<LaneState>): void {
  const known = remembered(context, kind, lane)
  if (known) noteLane(context, kind, lane, { ...known, ...changed })
}

/**
 * Whether this node still owns the lane under this token. An expired lease stays ours until another node takes it.
 */
export function holds(context: VerbContext, state: LaneState | undefined, token: number): boolean {
  return state !== undefined && state.owner === context.owner && state.token === token
}

/** Lanes as they were read, locked as far as they may be taken. */
export type LooksAtLanes = Free

/** Reads wanted and held lanes. Queries after it find them locked. */
export function* lookAtLanes(
  context: VerbContext,
  kind: LaneKind,
  requests: readonly LaneRequest[],
): Steps<LooksAtLanes> {
  const wanted = (mine: boolean) =>
    requests.filter(({ token }) => (token !== undefined) === mine).map(({ lane }) => lane)
  const [{ states: free, busy }, own] = yield* sideBySide(
    lookForFree(context, kind, wanted(false)),
    lockLanes(context, kind, wanted(true)),
  )
  return { states: new Map([...free, ...own]), busy }
}

/** Returns the result for each request, unless another node is faster, which `holdLanes` reports. */
export function judgeLanes(
  context: VerbContext,
  requests: readonly LaneRequest[],
  { states, busy }: LooksAtLanes,
): readonly Held[] {
  return requests.map((request): Held => {
    const retryAt = busy.get(request.lane)
    return retryAt === undefined
      ? judge(context, request, states.get(request.lane))
      : { outcome: 'busy', retryAt }
  })
}

export interface Holding {
  readonly kind: LaneKind
  readonly requests: readonly LaneRequest[]
  readonly leaseMs: number
  readonly looked: LooksAtLanes
}

/** Acquires or renews the judged lanes, with one outcome per request. Callers must not pass the same lane twice. */
export function* holdLanes(
  context: VerbContext,
  { kind, requests, leaseMs, looked }: Holding,
  judged: readonly Held[],
): Steps<readonly Held[]> {
  const until = context.now + leaseMs
  const outcomes = [...judged]
  const renew: string[] = []
  const acquire: Value[][] = []
  const acquiring: number[] = []
  for (const [at, outcome] of outcomes.entries()) {
    const lane = requests[at]?.lane ?? ''
    if (outcome.outcome !== 'taken') continue
    if (!outcome.fresh) {
      // A recently renewed lease is not worth a write.
      if ((looked.states.get(lane)?.until ?? 0) < until - Math.min(LEEWAY_MS, leaseMs / 16)) renew.push(lane)
    } else {
      acquiring.push(at)
      acquire.push([kind, lane, context.owner, outcome.token, until, 0])
    }
  }
  if (renew.length > 0) {
    yield* runUnheard(RENEW, [kind, renew, until])
    for (const lane of renew) change(context, kind, lane, { until })
  }
  const acquired = yield* insert(LANE_ACQUIRE, acquire)
  for (const [nth, at] of acquiring.entries()) {
    const outcome = outcomes[at]
    if (!acquired[nth]) outcomes[at] = { outcome: 'busy', retryAt: until }
    else if (outcome?.outcome === 'taken') {
      noteLane(context, kind, requests[at]?.lane ?? '', {
        owner: context.owner,
        token: outcome.token,
        until,
        notBefore: 0,
      })
    }
  }
  return outcomes
}

/**
 * Whether another node holds the lane. A node's name belongs to one data folder and its lock to one process, so lanes
 * of its former boots are free.
 */
export function heldByOther(context: VerbContext, owner: string | null, until: number): boolean {
  if (owner === null || until <= context.now) return false
  return owner !== context.owner && !owner.startsWith(`${context.node}/`)
}

function judge(context: VerbContext, request: LaneRequest, state: LaneState | undefined): Held {
  if (request.token !== undefined) {
    if (!holds(context, state, request.token)) {
      return { outcome: 'lost', retryAt: state?.until ?? context.now }
    }
    if (state && state.notBefore > context.now) return { outcome: 'later', retryAt: state.notBefore }
    return { outcome: 'taken', token: request.token, fresh: false }
  }
  if (!state) return { outcome: 'taken', token: 1, fresh: true }
  if (heldByOther(context, state.owner, state.until)) return { outcome: 'busy', retryAt: state.until }
  if (state.notBefore > context.now) return { outcome: 'later', retryAt: state.notBefore }
  return { outcome: 'taken', token: state.token + 1, fresh: true }
}

/** Prevents the lane from being taken before this time. */
export function* delayLane(
  context: VerbContext,
  kind: LaneKind,
  lane: string,
  notBefore: number,
): Steps<void> {
  change(context, kind, lane, { notBefore })
  yield* runUnheard('UPDATE lanes SET not_before = $3 WHERE kind = $1 AND lane = $2', [kind, lane, notBefore])
}

/** Takes the lane from its holder: its token grows, and it may be taken at once. */
export function* breakLane(context: VerbContext, kind: LaneKind, lane: string): Steps<void> {
  const state = (yield* lockLanes(context, kind, [lane])).get(lane)
  if (!state) return
  change(context, kind, lane, { owner: null, token: state.token + 1, until: 0, notBefore: 0 })
  yield* runUnheard(
    `UPDATE lanes SET token = token + 1, owner = NULL, until = 0, not_before = 0 WHERE kind = $1 AND lane = $2`,
    [kind, lane],
  )
}

export interface LanesCall {
  readonly kind: LaneKind
  readonly lanes: readonly { readonly lane: string; readonly token: number }[]
  readonly leaseMs: number
}

export const renewLanes = oneByOne(function* (
  context: VerbContext,
  { kind, lanes, leaseMs }: LanesCall,
): Steps<readonly boolean[]> {
  const states = yield* lockLanes(
    context,
    kind,
    lanes.map((held) => held.lane),
  )
  const ours = lanes.map(({ lane, token }) => holds(context, states.get(lane), token))
  const renew = lanes.filter((_, at) => ours[at]).map((held) => held.lane)
  if (renew.length > 0) {
    const until = context.now + leaseMs
    yield* runUnheard(RENEW, [kind, renew, until])
    for (const lane of renew) change(context, kind, lane, { until })
  }
  return ours
})

/** Releases lanes; `not_before` stays as it is. */
export const releaseLanes: Verb<Omit<LanesCall, 'leaseMs'>, void> = oneByOne(function* (context, call) {
  const states = yield* lockLanes(
    context,
    call.kind,
    call.lanes.map((held) => held.lane),
  )
  const ours = call.lanes.filter(({ lane, token }) => holds(context, states.get(lane), token))
  if (ours.length === 0) return
  yield* runUnheard('UPDATE lanes SET owner = NULL, until = 0 WHERE kind = $1 AND lane @any($2)', [
    call.kind,
    ours.map((held) => held.lane),
  ])
  for (const { lane } of ours) change(context, call.kind, lane, { owner: null, until: 0 })
})
