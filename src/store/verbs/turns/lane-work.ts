// Finds lanes with work that no node holds, by walking from lane to lane in the indexes of open rows. A walk is cut
// into slices by the lanes it passes, not by those it finds. Otherwise thousands of lanes that are held, not due, or of
// other scopes would make one long statement.
import type { Work } from '../../../contract/index.ts'
import { IN_FLIGHT } from '../../in-flight.ts'
import { type Row, rows, type Steps, text, textOrNull, whole } from '../../statement.ts'
import type { LaneKind } from './lanes.ts'

/** Lanes that a node may take at once: those of its former boots begin with `former` and are not owned by `owner`. */
export interface Own {
  readonly owner: string
  readonly former: string
}

export interface WorkSlice {
  readonly work: readonly Work[]
  /** How far the walk came; null: to its end. */
  readonly to: string | null
}

export interface WalkOptions {
  readonly now: number
  readonly after: string
  readonly limit: number
  readonly own: Own
}

/** A few milliseconds of work. */
export const LANES_A_SLICE = 250

/** Returns lanes of these scopes after `after` with open, due work that no node holds: one slice of the walk. */
export function* laneWork(kind: LaneKind, scopes: readonly string[], options: WalkOptions): Steps<WorkSlice> {
  return kind === 'turns' ? yield* turnsWork(scopes, options) : yield* sendsWork(scopes, options)
}

/** In the order in which the sessions were created. */
function* turnsWork(scopes: readonly string[], options: WalkOptions): Steps<WorkSlice> {
  const { after, now, limit, own } = options
  const passed = yield* rows(TURNS_WORK, [scopes, after, now, LANES_A_SLICE, own.former, own.owner])
  const found = passed.filter(isFree)
  const work = found.slice(0, limit).map((row) => ({ lane: text(row, 'lane'), scope: text(row, 'scope') }))
  // Lanes beyond the limit belong to the next slice.
  const last =
    found.length > limit ? found[limit - 1] : passed.findLast((row) => textOrNull(row, 'lane') !== null)
  const ended = passed.length < LANES_A_SLICE && found.length <= limit
  return { work, to: ended || !last ? null : text(last, 'lane') }
}

function* sendsWork(scopes: readonly string[], options: WalkOptions): Steps<WorkSlice> {
  const { after, now, limit, own } = options
  const found: Work[] = []
  /** The point where an integration's walk was cut. Beyond it, the result is incomplete. */
  let cut: string | null = null
  const open = new Set((yield* rows(OPEN_INTEGRATIONS)).map((row) => text(row, 'integration')))
  for (const scope of new Set(scopes)) {
    if (!open.has(scope)) continue
    const passed = yield* rows(SENDS_WORK, [scope, after, now, LANES_A_SLICE, own.former, own.owner])
    for (const row of passed) if (isFree(row)) found.push({ lane: text(row, 'lane'), scope })
    const last = passed.at(-1)
    if (last === undefined || passed.length < LANES_A_SLICE) continue
    const to = text(last, 'lane')
    if (cut === null || to < cut) cut = to
  }
  // No two lanes are equal, because a lane has one integration.
  found.sort((one, other) => (one.lane < other.lane ? -1 : 1))
  const known = found.filter(({ lane }) => cut === null || lane <= cut)
  const work = known.slice(0, limit)
  return { work, to: known.length > limit ? (work.at(-1)?.lane ?? null) : cut }
}

const isFree = (row: Row): boolean => whole(row, 'free') === 1

const FREE = (
  kind: LaneKind,
) => `NOT EXISTS (SELECT 1 FROM lanes l WHERE l.kind = '${kind}' AND l.lane = found.lane
  AND ((l.owner IS NOT NULL AND l.until > $3 AND (l.owner = $6 OR substr(l.owner, 1, length($5)) <> $5))
    OR l.not_before > $3))`

const TURNS_WORK = `WITH RECURSIVE at(seq, n) AS (
      SELECT COALESCE((SELECT seq FROM sessions WHERE id = $2), 0), 0
      UNION ALL
      SELECT (SELECT min(next) FROM (
        SELECT min(lane) AS next FROM turns WHERE lane > at.seq AND state = 'queued'
        UNION ALL SELECT min(lane) FROM turns WHERE lane > at.seq AND ${IN_FLIGHT}) t), at.n + 1
      FROM at WHERE at.seq IS NOT NULL AND at.n < $4),
    found(n, lane, scope) AS (SELECT at.n, (SELECT id FROM sessions s WHERE s.seq = at.seq),
      (SELECT agent FROM sessions s WHERE s.seq = at.seq) FROM at WHERE at.n > 0 AND at.seq IS NOT NULL)
    SELECT lane, scope, CASE WHEN scope @any($1) AND ${FREE('turns')} THEN 1 ELSE 0 END AS free
    FROM found ORDER BY n`

// Walks from one integration to the next in the index of open rows, because most integrations have none.
const OPEN_INTEGRATIONS = `WITH RECURSIVE found(integration) AS (
      SELECT min(integration) FROM outbox WHERE state IN ('queued','sending')
      UNION ALL
      SELECT (SELECT min(integration) FROM outbox WHERE integration > found.integration
        AND state IN ('queued','sending')) FROM found WHERE found.integration IS NOT NULL)
    SELECT integration FROM found WHERE integration IS NOT NULL`

const SENDS_WORK = `WITH RECURSIVE found(lane, n) AS (
      SELECT min(lane), 1 FROM outbox WHERE integration = $1 AND lane > $2 AND state IN ('queued','sending')
      UNION ALL
      SELECT (SELECT min(lane) FROM outbox WHERE integration = $1 AND lane > found.lane
        AND state IN ('queued','sending')), found.n + 1 FROM found WHERE found.lane IS NOT NULL AND found.n < $4)
    SELECT lane, CASE WHEN EXISTS (
      SELECT 1 FROM outbox o WHERE o.integration = $1 AND o.lane = found.lane
        AND o.state IN ('queued','sending') AND (CASE WHEN o.state = 'queued' THEN o.due_at WHEN o.reason = 'outcome_open' THEN o.look_at ELSE 0 END) <= $3)
      AND ${FREE('sends')} THEN 1 ELSE 0 END AS free
    FROM found WHERE lane IS NOT NULL ORDER BY n`
