// Lanes: the lock of the house. A lane row has an owner, a fencing token that grows by one with every fresh
// acquisition and is never reset, and a time until which it is held.
import type { LaneRequest, Work } from '../../contract/index.ts'
import {
  type InsertShape,
  insert,
  rows,
  run,
  type Steps,
  text,
  textOrNull,
  type Value,
  whole,
} from '../statement.ts'
import { oneByOne, type Verb, type VerbContext } from '../verb-context.ts'

export type LaneKind = 'turns' | 'sends'

export interface LaneState {
  readonly owner: string | null
  readonly token: number
  readonly until: number
  readonly notBefore: number
}

export type Held =
  | { readonly outcome: 'taken'; readonly token: number; readonly fresh: boolean }
  | { readonly outcome: 'busy' | 'later' | 'lost'; readonly retryAt: number }

// A lane seen as absent or free may have been taken meanwhile by another node: then its token has moved on.
const LANE_ACQUIRE: InsertShape = {
  table: 'lanes',
  columns: ['kind', 'lane', 'owner', 'token', 'until', 'not_before'],
  conflict:
    'ON CONFLICT (kind, lane) DO UPDATE SET owner = excluded.owner, token = excluded.token, ' +
    'until = excluded.until, not_before = excluded.not_before WHERE lanes.token = excluded.token - 1',
  identity: 'lane',
}

/** The rows of these lanes, locked for the rest of the commit. */
export function* lockLanes(kind: LaneKind, lanes: readonly string[]): Steps<ReadonlyMap<string, LaneState>> {
  const found = new Map<string, LaneState>()
  const stored = yield* rows(
    `SELECT lane, owner, token, until, not_before FROM lanes WHERE kind = $1 AND lane @any($2)
     ORDER BY lane @lock`,
    [kind, [...new Set(lanes)]],
  )
  for (const row of stored) {
    found.set(text(row, 'lane'), {
      owner: textOrNull(row, 'owner'),
      token: whole(row, 'token'),
      until: whole(row, 'until'),
      notBefore: whole(row, 'not_before'),
    })
  }
  return found
}

/** True when we still own the lane under this token. A lease that ran out unnoticed is still ours until taken. */
export function holds(context: VerbContext, state: LaneState | undefined, token: number): boolean {
  return state !== undefined && state.owner === context.owner && state.token === token
}

/** Acquires or renews each lane; one outcome per request. The same lane twice in one call is the caller's mistake. */
export function* holdLanes(
  context: VerbContext,
  kind: LaneKind,
  requests: readonly LaneRequest[],
  leaseMs: number,
): Steps<readonly Held[]> {
  const states = yield* lockLanes(
    kind,
    requests.map((request) => request.lane),
  )
  const until = context.now + leaseMs
  const outcomes = requests.map((request) => judge(context, request, states.get(request.lane)))
  const renew: string[] = []
  const acquire: Value[][] = []
  const acquiring: number[] = []
  for (const [at, outcome] of outcomes.entries()) {
    const lane = requests[at]?.lane ?? ''
    if (outcome.outcome !== 'taken') continue
    if (!outcome.fresh) renew.push(lane)
    else {
      acquiring.push(at)
      acquire.push([kind, lane, context.owner, outcome.token, until, 0])
    }
  }
  if (renew.length > 0) {
    yield* run('UPDATE lanes SET until = $3 WHERE kind = $1 AND lane @any($2)', [kind, renew, until])
  }
  const acquired = yield* insert(LANE_ACQUIRE, acquire)
  for (const [nth, at] of acquiring.entries()) {
    if (!acquired[nth]) outcomes[at] = { outcome: 'busy', retryAt: until }
  }
  return outcomes
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
  const free = state.owner === null || state.owner === context.owner || state.until <= context.now
  if (!free) return { outcome: 'busy', retryAt: state.until }
  if (state.notBefore > context.now) return { outcome: 'later', retryAt: state.notBefore }
  return { outcome: 'taken', token: state.token + 1, fresh: true }
}

/** The lane is not taken before this time. */
export function* delayLane(kind: LaneKind, lane: string, notBefore: number): Steps<void> {
  yield* run('UPDATE lanes SET not_before = $3 WHERE kind = $1 AND lane = $2', [kind, lane, notBefore])
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
    kind,
    lanes.map((held) => held.lane),
  )
  const ours = lanes.map(({ lane, token }) => holds(context, states.get(lane), token))
  const renew = lanes.filter((_, at) => ours[at]).map((held) => held.lane)
  if (renew.length > 0) {
    yield* run('UPDATE lanes SET until = $3 WHERE kind = $1 AND lane @any($2)', [
      kind,
      renew,
      context.now + leaseMs,
    ])
  }
  return ours
})

/** Gives lanes back; `not_before` stays as it is. */
export const releaseLanes: Verb<Omit<LanesCall, 'leaseMs'>, void> = oneByOne(function* (context, call) {
  const states = yield* lockLanes(
    call.kind,
    call.lanes.map((held) => held.lane),
  )
  const ours = call.lanes.filter(({ lane, token }) => holds(context, states.get(lane), token))
  if (ours.length === 0) return
  yield* run('UPDATE lanes SET owner = NULL, until = 0 WHERE kind = $1 AND lane @any($2)', [
    call.kind,
    ours.map((held) => held.lane),
  ])
})

/** Lanes of these scopes with open, due work that nobody holds, by skipping from lane to lane in the indexes. */
export function* laneWork(
  kind: LaneKind,
  scopes: readonly string[],
  options: { readonly now: number; readonly after: string; readonly limit: number },
): Steps<readonly Work[]> {
  const { after, now, limit } = options
  if (kind === 'turns') {
    // In the order in which the sessions were born.
    const found = yield* rows(TURNS_WORK, [scopes, after, now, limit])
    return found.map((row) => ({ lane: text(row, 'lane'), scope: text(row, 'scope') }))
  }
  const work: Work[] = []
  for (const scope of new Set(scopes)) {
    const found = yield* rows(SENDS_WORK, [scope, after, now, limit])
    for (const row of found) work.push({ lane: text(row, 'lane'), scope })
  }
  work.sort((one, other) => (one.lane < other.lane ? -1 : one.lane > other.lane ? 1 : 0))
  return work.slice(0, limit)
}

const FREE = (
  kind: LaneKind,
) => `NOT EXISTS (SELECT 1 FROM lanes l WHERE l.kind = '${kind}' AND l.lane = found.lane
  AND ((l.owner IS NOT NULL AND l.until > $3) OR l.not_before > $3))`

const TURNS_WORK = `WITH RECURSIVE at(seq) AS (
      SELECT COALESCE((SELECT seq FROM sessions WHERE id = $2), 0)
      UNION ALL
      SELECT (SELECT min(next) FROM (
        SELECT min(lane) AS next FROM turns WHERE lane > at.seq AND state = 'queued'
        UNION ALL SELECT min(lane) FROM turns WHERE lane > at.seq AND state IN ('handed','seen')) t)
      FROM at WHERE at.seq IS NOT NULL),
    found(lane, scope) AS (SELECT (SELECT id FROM sessions s WHERE s.seq = at.seq),
      (SELECT agent FROM sessions s WHERE s.seq = at.seq) FROM at)
    SELECT lane, scope FROM found WHERE scope @any($1) AND lane <> $2 AND ${FREE('turns')} LIMIT $4`

const SENDS_WORK = `WITH RECURSIVE found(lane) AS (
      SELECT min(lane) FROM outbox WHERE integration = $1 AND lane > $2 AND state IN ('queued','sending')
      UNION ALL
      SELECT (SELECT min(lane) FROM outbox WHERE integration = $1 AND lane > found.lane
        AND state IN ('queued','sending')) FROM found WHERE found.lane IS NOT NULL)
    SELECT lane FROM found WHERE lane IS NOT NULL AND EXISTS (
      SELECT 1 FROM outbox o WHERE o.integration = $1 AND o.lane = found.lane
        AND o.state IN ('queued','sending') AND (o.state = 'sending' OR o.due_at <= $3))
      AND ${FREE('sends')} LIMIT $4`
