// beat and leave: a node's row and the agents it reaches. A heartbeat that only updates the time sends no hint.
import { NODE_GONE_MS, type NodeAgent, type NodeReport } from '../../../contract/index.ts'
import { type InsertShape, insert, rows, run, type Steps, text, textOrNull, whole } from '../../statement.ts'
import { hint, oneByOne, type Verb, type VerbContext } from '../../verb-context.ts'

/** Nodes that are gone for longer are deleted with their attachments. */
const REMEMBERED_MS = 24 * 3_600_000

const ATTACH: InsertShape = {
  table: 'attachments',
  columns: ['agent', 'owner', 'detail', 'trouble', 'since', 'ended_at'],
  numbers: ['since', 'ended_at'],
  conflict:
    'ON CONFLICT (agent, owner) DO UPDATE SET detail = excluded.detail, trouble = excluded.trouble, since = excluded.since, ended_at = NULL',
  identity: '',
}

export const beat: Verb<NodeReport, void> = oneByOne(function* (context, report) {
  const { owner, now } = context
  const before = yield* rows(
    'SELECT digest, url, watched, links, seen_at, left_at FROM nodes WHERE owner = $1',
    [owner],
  )
  const links = JSON.stringify(report.links)
  yield* run(
    `INSERT INTO nodes (owner, node, version, url, digest, skew_ms, links, activity, started_at, seen_at, left_at,
       watched)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, NULL, $11)
     ON CONFLICT (owner) DO UPDATE SET url = excluded.url, digest = excluded.digest, skew_ms = excluded.skew_ms,
       watched = excluded.watched, links = excluded.links, activity = excluded.activity, seen_at = excluded.seen_at, left_at = NULL`,
    [
      owner,
      report.node,
      report.version,
      report.url,
      report.digest,
      Math.round(report.skewMs),
      links,
      JSON.stringify(report.activity),
      report.startedAt,
      now,
      report.watched ? 1 : 0,
    ],
  )
  const [known] = before
  // A node that slept is news for nodes that considered it gone.
  const back = known !== undefined && now - whole(known, 'seen_at') > NODE_GONE_MS
  const same =
    known !== undefined &&
    !back &&
    text(known, 'digest') === report.digest &&
    text(known, 'url') === report.url &&
    whole(known, 'watched') === (report.watched ? 1 : 0) &&
    text(known, 'links') === links
  const moved = yield* writeAttachments(context, report)
  if (!same || moved) hint(context, { kind: 'nodes' })
  if (known === undefined) yield* forgetOld(now - REMEMBERED_MS)
})

/** Returns true when an agent came or left, or its trouble changed. */
function* writeAttachments(context: VerbContext, report: NodeReport): Steps<boolean> {
  const { owner, now } = context
  const stored = yield* rows(
    'SELECT agent, detail, trouble FROM attachments WHERE owner = $1 AND ended_at IS NULL',
    [owner],
  )
  const before = new Map(
    stored.map((row) => [text(row, 'agent'), [textOrNull(row, 'detail'), textOrNull(row, 'trouble')]]),
  )
  const present = new Set(report.agents.map(({ agent }) => agent))
  const fresh = report.agents.filter(({ agent }) => !before.has(agent))
  const ended = [...before.keys()].filter((agent) => !present.has(agent))
  yield* insert(
    ATTACH,
    fresh.map((one) => [one.agent, owner, ...wordsOf(one), now, null]),
  )
  let isTroubled = false
  for (const one of report.agents) {
    const known = before.get(one.agent)
    const [detail, trouble] = wordsOf(one)
    if (!known || (known[0] === detail && known[1] === trouble)) continue
    isTroubled ||= known[1] !== trouble
    yield* run('UPDATE attachments SET detail = $3, trouble = $4 WHERE agent = $1 AND owner = $2', [
      ...[one.agent, owner],
      ...[detail, trouble],
    ])
  }
  if (ended.length > 0) {
    yield* run('UPDATE attachments SET ended_at = $3 WHERE owner = $1 AND agent @any($2)', [
      owner,
      ended,
      now,
    ])
  }
  return isTroubled || fresh.length + ended.length > 0
}

/** The values as the columns store them. */
function wordsOf({ detail, trouble }: NodeAgent): readonly [detail: string | null, trouble: string | null] {
  return [detail ?? null, trouble ? JSON.stringify(trouble) : null]
}

function* forgetOld(before: number): Steps<void> {
  const old = yield* rows('SELECT owner FROM nodes WHERE seen_at < $1', [before])
  if (old.length === 0) return
  const owners = old.map((row) => text(row, 'owner'))
  yield* run('DELETE FROM attachments WHERE owner @any($1)', [owners])
  yield* run('DELETE FROM nodes WHERE owner @any($1)', [owners])
}

export const leave: Verb<null, void> = oneByOne(function* (context) {
  const { owner, now } = context
  const left = yield* run('UPDATE nodes SET left_at = $2, seen_at = $2 WHERE owner = $1', [owner, now])
  yield* run('UPDATE attachments SET ended_at = $2 WHERE owner = $1 AND ended_at IS NULL', [owner, now])
  if (left > 0) hint(context, { kind: 'nodes' })
})
