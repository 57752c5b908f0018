// settleClock: handles a wall clock that was set back. Stored times show how late it was before. All stored waiting
// times move back with the clock, so they last as long as intended and do not wait for the clock to catch up. A process
// timer does not suffice, because the process may have been down.
import { firstRow, rows, run, type Steps, text, textOrNull, whole } from '../../statement.ts'
import { hint, oneByOne, recordFact, type VerbContext } from '../../verb-context.ts'
import { noteLane } from './lanes.ts'

/** A smaller difference does not count: clocks of nodes differ, and entries are written a moment after their time. */
const LEEWAY_MS = 5_000
/** Longer than any lease. A lease that ends later began before the clock was set back. */
const LONGEST_LEASE_MS = 30_000
/** The check runs at least this often. */
const NOTICED_WITHIN_MS = 10_000

/** Returns by how much the clock was set back; 0: it was not. */
export const settleClock = oneByOne(function* (context: VerbContext): Steps<number> {
  const { now } = context
  if ((yield* latestEntry()) - now <= LEEWAY_MS) return 0
  // One node does this. A node that waited here finds the other node's entry.
  yield* run(`INSERT INTO meta (name, value) VALUES ('clock', '0') ON CONFLICT (name) DO NOTHING`, [])
  yield* rows(`SELECT value FROM meta WHERE name = 'clock' @lock`, [])
  const delta = (yield* latestEntry()) - now
  if (delta <= LEEWAY_MS) return 0
  yield* turnBackLanes(context, delta)
  const begunBefore = now + LONGEST_LEASE_MS
  yield* run(`UPDATE leases SET until = ${earlier('until')} WHERE until > $3`, [now, delta, begunBefore])
  const noticed = now - NOTICED_WITHIN_MS
  // A row that is being sent may wait again.
  yield* run(
    `UPDATE outbox SET due_at = ${earlier('due_at')}
     WHERE state IN ('queued','sending') AND due_at > $1 AND ${BEFORE}`,
    [now, delta, noticed],
  )
  yield* run(
    `UPDATE outbox SET look_at = ${earlier('look_at')}, yields_at = ${earlier('yields_at')}
     WHERE state = 'sending' AND state IN ('queued','sending') AND reason = 'outcome_open'`,
    [now, delta],
  )
  yield* run(
    `UPDATE approvals SET expires_at = ${earlier('expires_at')}
     WHERE state = 'pending' AND expires_at > $1 AND ${BEFORE}`,
    [now, delta, noticed],
  )
  yield* run(
    `UPDATE takeovers SET last_word_at = ${earlier('last_word_at')} WHERE state = 'held' AND last_word_at > $1`,
    [now, delta],
  )
  // A history is never read further back than its first connect. Its last comparison may be younger than any entry.
  yield* run(
    `UPDATE history_links SET began_at = began_at - CASE WHEN compared_at - $1 > $2 THEN compared_at - $1 ELSE $2 END
     WHERE began_at > $1`,
    [now, delta],
  )
  // Every node checks at once for work that is due now.
  hint(context, { kind: 'missed' })
  recordFact(context, { kind: 'audit', ref: 'clock', to: 'set_back' }, { by_ms: String(delta) })
  return delta
})

/** $1: now; $2: the difference. */
const earlier = (column: string) => `CASE WHEN ${column} - $2 > $1 THEN ${column} - $2 ELSE $1 END`
/** $3: later rows may have been written by the new clock. */
const BEFORE = '(created_at > $1 OR created_at < $3)'

function* latestEntry(): Steps<number> {
  const row = yield* firstRow('SELECT at FROM ledger ORDER BY seq DESC LIMIT 1', [])
  return row ? whole(row, 'at') : 0
}

function* turnBackLanes(context: VerbContext, delta: number): Steps<void> {
  const { now } = context
  const found = yield* rows(
    `SELECT kind, lane, owner, token, until, not_before FROM lanes
     WHERE until > $1 OR not_before > $2 ORDER BY kind, lane @lock`,
    [now + LONGEST_LEASE_MS, now],
  )
  for (const row of found) {
    const [until, notBefore] = [whole(row, 'until'), whole(row, 'not_before')]
    const state = {
      owner: textOrNull(row, 'owner'),
      token: whole(row, 'token'),
      until: until > now + LONGEST_LEASE_MS ? Math.max(now, until - delta) : until,
      notBefore: notBefore > now ? Math.max(now, notBefore - delta) : notBefore,
    }
    const [kind, lane] = [text(row, 'kind') as 'turns' | 'sends', text(row, 'lane')]
    yield* run('UPDATE lanes SET until = $3, not_before = $4 WHERE kind = $1 AND lane = $2', [
      kind,
      lane,
      state.until,
      state.notBefore,
    ])
    noteLane(context, kind, lane, state)
  }
}
