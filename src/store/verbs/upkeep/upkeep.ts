// note, pruneBodies and pruneTokens: ledger facts that no other verb records, and the deletion of message contents.
import type { Ask, LedgerNote } from '../../../contract/index.ts'
import { IN_FLIGHT } from '../../in-flight.ts'
import { toRanges } from '../../ranges.ts'
import { LEEWAY_MS, positionAt } from '../../reads/conditions.ts'
import { firstRow, type Row, rows, run, type Steps, text, whole } from '../../statement.ts'
import { oneByOne, recordFact, type Verb, type VerbContext } from '../../verb-context.ts'

export interface OlderThan {
  readonly olderThanMs: number
  readonly limit: number
}

// biome-ignore lint/correctness/useYield: the entries are written with all others at the end of the commit
export const note: Verb<readonly LedgerNote[], void> = oneByOne(function* (context, notes) {
  for (const { kind, ref, detail } of notes) recordFact(context, { kind, ref }, detail)
})

const BUCKETS_KEPT_MS = 24 * 3_600_000

const PRUNED = [
  { table: 'turns', body: 'body', time: 'received_at', open: `(state = 'queued' OR (${IN_FLIGHT}))` },
  { table: 'outbox', body: 'op', time: 'created_at', open: `(state IN ('queued','sending'))` },
] as const

/** The search text of conversations and the reasons for takeovers are deleted with the messages. */
function* forgetNames(before: number): Steps<void> {
  yield* run(`UPDATE conversations SET words = '' WHERE last_at < $1 AND words <> ''`, [before])
  yield* run(
    `UPDATE takeovers SET asked_reason = NULL, asked_summary = NULL WHERE state = 'ended' AND ended_at < $1
     AND (asked_reason IS NOT NULL OR asked_summary IS NOT NULL)`,
    [before],
  )
}

/** Deletes bodies of settled rows older than this. Rows, digests and ledger stay. */
export const pruneBodies = oneByOne(function* (
  context: VerbContext,
  { olderThanMs, limit }: OlderThan,
): Steps<number> {
  let pruned = 0
  const before = context.now - olderThanMs
  const emptied: Record<string, string> = {}
  for (const of of PRUNED) {
    const positions = yield* pruneTable(of, before, limit - pruned)
    if (positions.length > 0) emptied[of.table] = toRanges(positions)
    pruned += positions.length
  }
  const inputs = yield* pruneInputs(before, limit - pruned)
  if (inputs.length > 0) emptied.approvals = toRanges(inputs)
  pruned += inputs.length
  pruned += yield* pruneNotifications(before, limit - pruned)
  pruned += yield* pruneEvents(before, limit - pruned)
  yield* forgetNames(before)
  if (pruned > 0)
    recordFact(
      context,
      { kind: 'audit', ref: 'bodies', to: 'pruned' },
      // Names the rows: a missing body without an entry was removed by hand.
      { rows: String(pruned), before: String(before), ...emptied },
    )
  return pruned
})

/** Returns the emptied positions. */
function* pruneTable(of: (typeof PRUNED)[number], before: number, limit: number): Steps<readonly number[]> {
  if (limit <= 0) return []
  const mark = `pruned:${of.table}`
  // Everything up to the mark is pruned already. Without it, each round would read the whole history.
  const known = yield* firstRow('SELECT value FROM meta WHERE name = $1', [mark])
  const from = known ? Number(text(known, 'value')) : 0
  // Rows are ordered by time. Rows beyond this position are too young.
  const end = yield* positionAt(of.table, of.time, before + 2 * LEEWAY_MS)
  const settled = yield* rows(
    `SELECT seq FROM ${of.table} WHERE seq > $1 AND seq < $4 AND ${of.time} < $2 AND ${of.body} IS NOT NULL
     AND updated_at < $2 AND NOT ${of.open} ORDER BY seq LIMIT $3`,
    [from, before, limit, end],
  )
  const positions = settled.map((row) => whole(row, 'seq'))
  if (positions.length === 0) return []
  yield* run(`UPDATE ${of.table} SET ${of.body} = NULL WHERE seq @any($1)`, [positions])
  if (of.table === 'turns') yield* run('DELETE FROM turn_steps WHERE turn @any($1)', [positions])
  const left = yield* firstRow(
    `SELECT seq FROM ${of.table} WHERE seq > $1 AND ${of.body} IS NOT NULL ORDER BY seq LIMIT 1`,
    [from],
  )
  const upTo = left ? whole(left, 'seq') - 1 : whole(settled.at(-1) ?? {}, 'seq')
  if (upTo > from) {
    yield* run(
      `INSERT INTO meta (name, value) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET value = excluded.value`,
      [mark, String(upTo)],
    )
  }
  return positions
}

/** Deletes overheard group messages, which are kept only for the next turn. */
export const forgetOverheard = oneByOne(function* (
  context: VerbContext,
  { olderThanMs, limit }: OlderThan,
): Steps<number> {
  const before = context.now - olderThanMs
  const known = yield* firstRow("SELECT value FROM meta WHERE name = 'pruned:overheard'")
  const from = known ? Number(text(known, 'value')) : 0
  const end = yield* positionAt('turns', 'received_at', before + 2 * LEEWAY_MS)
  const old = yield* rows(
    `SELECT seq FROM turns WHERE seq > $1 AND seq < $2 AND received_at < $3 AND reason = 'not_mentioned'
     AND body IS NOT NULL ORDER BY seq LIMIT $4`,
    [from, end, before, limit],
  )
  const positions = old.map((row) => whole(row, 'seq'))
  if (positions.length > 0) {
    yield* run('UPDATE turns SET body = NULL WHERE seq @any($1)', [positions])
    recordFact(
      context,
      { kind: 'audit', ref: 'bodies', to: 'pruned' },
      { rows: String(positions.length), turns: toRanges(positions) },
    )
  }
  // All rows before this position are old enough and were checked.
  const upTo =
    positions.length === limit
      ? (positions.at(-1) as number)
      : (yield* positionAt('turns', 'received_at', before)) - 1
  if (upTo > from)
    yield* run(
      `INSERT INTO meta (name, value) VALUES ('pruned:overheard', $1) ON CONFLICT (name) DO UPDATE SET value = excluded.value`,
      [String(upTo)],
    )
  return positions.length
})

/** Empties the inputs of approvals. Hash, decision and decider stay. Returns the emptied positions. */
function* pruneInputs(before: number, limit: number): Steps<readonly number[]> {
  if (limit <= 0) return []
  const old = yield* rows(
    `SELECT seq, ask FROM approvals WHERE created_at < $1 AND state NOT IN ('pending','decided','passing')
     AND ask NOT LIKE '%"pruned":true}' ORDER BY seq LIMIT $2`,
    [before, limit],
  )
  yield* emptyInputs(old)
  return old.map((row) => whole(row, 'seq'))
}

/** Expects rows with `seq` and `ask`. */
export function* emptyInputs(asked: readonly Row[]): Steps<void> {
  for (const row of asked) {
    const { toolName } = JSON.parse(text(row, 'ask')) as Ask
    const left: Ask = { toolName, description: '', input: '', pruned: true }
    yield* run('UPDATE approvals SET ask = $2 WHERE seq = $1', [whole(row, 'seq'), JSON.stringify(left)])
  }
}

function* pruneNotifications(before: number, limit: number): Steps<number> {
  if (limit <= 0) return 0
  const old = yield* rows(
    'SELECT id FROM notification_log WHERE message IS NOT NULL AND at < $1 ORDER BY at LIMIT $2',
    [before, limit],
  )
  if (old.length === 0) return 0
  return yield* run('UPDATE notification_log SET message = NULL WHERE id @any($1)', [
    old.map((row) => text(row, 'id')),
  ])
}

function* pruneEvents(before: number, limit: number): Steps<number> {
  if (limit <= 0) return 0
  const old = yield* rows(
    'SELECT turn, n FROM turn_events WHERE body IS NOT NULL AND at < $1 ORDER BY at LIMIT $2',
    [before, limit],
  )
  const turns = [...new Set(old.map((row) => whole(row, 'turn')))]
  if (turns.length === 0) return 0
  return yield* run(
    'UPDATE turn_events SET body = NULL WHERE body IS NOT NULL AND at < $1 AND turn @any($2)',
    [before, turns],
  )
}

/** Deletes expired tokens. Every delivery to a Chorus agent creates a callback or a bearer token. */
export const pruneTokens = oneByOne(function* (
  context: VerbContext,
  { olderThanMs, limit }: OlderThan,
): Steps<number> {
  // A bucket that was unused for so long is full again, whatever its limit.
  yield* run('DELETE FROM buckets WHERE at < $1', [context.now - BUCKETS_KEPT_MS])
  const old = yield* rows('SELECT id FROM tokens WHERE expires_at < $1 ORDER BY expires_at LIMIT $2', [
    context.now - olderThanMs,
    limit,
  ])
  if (old.length === 0) return 0
  const pruned = yield* run('DELETE FROM tokens WHERE id @any($1)', [old.map((row) => text(row, 'id'))])
  recordFact(context, { kind: 'audit', ref: 'tokens', to: 'pruned' }, { rows: String(pruned) })
  return pruned
})
