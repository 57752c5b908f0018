// The small reads: cursor, sessions, approvals, people, counters, ledger pages, and lanes with work.
import {
  type Address,
  type ApprovalRow,
  type ApprovalState,
  type Counter,
  type Grant,
  type LedgerEntry,
  OPEN_APPROVAL_STATES,
  type PairingRow,
  type RecentRefusals,
  rowId,
  type SessionRow,
  sessionKey,
  type TokenRow,
} from '../../contract/index.ts'
import { APPROVAL_COLUMNS, approvalRow, ledgerEntry, pairingRow, sessionRow, tokenRow } from '../codec.ts'
import { IN_FLIGHT } from '../in-flight.ts'
import { firstRow, horizon, rows, type Steps, text, textOrNull, whole } from '../statement.ts'
import { laneWork, type WalkOptions, type WorkSlice } from '../verbs/turns/lane-work.ts'
import type { LaneKind } from '../verbs/turns/lanes.ts'
import { createConditions } from './conditions.ts'

export function* readCursor(integration: string): Steps<string | null> {
  const row = yield* firstRow('SELECT value FROM cursors WHERE integration = $1', [integration])
  return row ? text(row, 'value') : null
}

/** How many of the last ledger entries are read, so the scan stays short on a ledger of millions. */
const REFUSALS_SOUGHT_IN = 20_000

export function* readRecentRefusals(sinceMs: number): Steps<readonly RecentRefusals[]> {
  const found = yield* rows(
    `SELECT recent.integration AS integration, recent.reason AS reason, recent.many AS many, newest.detail AS detail
     FROM (SELECT integration, reason, CAST(sum(CASE WHEN at >= $1 THEN count ELSE 0 END) AS BIGINT) AS many,
             max(CASE WHEN detail <> '' THEN seq END) AS last FROM ledger
           WHERE seq > (SELECT max(seq) FROM ledger) - ${REFUSALS_SOUGHT_IN} AND kind = 'turn' AND to_state = 'refused'
           GROUP BY integration, reason) recent
     LEFT JOIN ledger newest ON newest.seq = recent.last`,
    [sinceMs],
  )
  return found.map((row) => ({
    integration: text(row, 'integration'),
    reason: text(row, 'reason'),
    count: whole(row, 'many'),
    key: keyIn(textOrNull(row, 'detail')),
  }))
}

function keyIn(detail: string | null): string | null {
  const { key } = JSON.parse(detail || '{}') as { readonly key?: unknown }
  return typeof key === 'string' ? key : null
}

export function* readSession(id: string): Steps<SessionRow | null> {
  const row = yield* firstRow('SELECT * FROM sessions WHERE id = $1', [id])
  return row ? sessionRow(row) : null
}

export function* readSessionAt(agent: string, at: Address): Steps<SessionRow | null> {
  const row = yield* firstRow(
    'SELECT * FROM sessions WHERE session_key = $1 ORDER BY generation DESC LIMIT 1',
    [sessionKey(agent, at)],
  )
  return row ? sessionRow(row) : null
}

export interface ApprovalFilter {
  readonly states?: readonly ApprovalState[]
  readonly agent?: string
  readonly id?: string
  readonly hostId?: string
  readonly turn?: string
  readonly dueBefore?: number
  readonly beforeSeq?: number
  readonly limit: number
}

export function* readApprovals(filter: ApprovalFilter): Steps<readonly ApprovalRow[]> {
  const where = createConditions()
  if (filter.states) {
    where.add('state @any(?)', filter.states)
    if (filter.states.every((state) => OPEN_APPROVAL_STATES.some((open) => open === state))) {
      where.plain("state IN ('pending','decided','passing')")
    }
  }
  if (filter.agent !== undefined) where.add('agent = ?', filter.agent)
  if (filter.id !== undefined) where.add('id = ?', filter.id)
  if (filter.hostId !== undefined) where.add('host_id = ?', filter.hostId)
  if (filter.turn !== undefined) where.add('turn = ?', filter.turn)
  if (filter.beforeSeq !== undefined) where.add('seq < ?', filter.beforeSeq)
  if (filter.dueBefore !== undefined) where.add('expires_at <= ?', filter.dueBefore)
  const { sql, params } = where.build()
  const found = yield* rows(
    `SELECT ${APPROVAL_COLUMNS} FROM approvals ${sql} ORDER BY seq DESC LIMIT $${params.length + 1}`,
    [...params, filter.limit],
  )
  return found.map(approvalRow)
}

export function* countPendingApprovals(): Steps<readonly { agent: string; count: number }[]> {
  const found = yield* rows(
    `SELECT agent, count(*) AS many FROM approvals WHERE state IN ('pending','decided','passing') AND state = 'pending'
     GROUP BY agent ORDER BY agent`,
  )
  return found.map((row) => ({ agent: text(row, 'agent'), count: whole(row, 'many') }))
}

export function* readGrants(): Steps<readonly Grant[]> {
  const found = yield* rows('SELECT * FROM grants ORDER BY granted_at, integration, sender, access_right')
  return found.map((row) => ({
    integration: text(row, 'integration'),
    sender: text(row, 'sender'),
    right: text(row, 'access_right') as Grant['right'],
    by: text(row, 'granted_by'),
    at: whole(row, 'granted_at'),
  }))
}

/** Returns the pairings that are still valid. */
export function* readPairings(now: number): Steps<readonly PairingRow[]> {
  const found = yield* rows(
    'SELECT * FROM pairings WHERE listed_at IS NOT NULL AND expires_at > $1 ORDER BY created_at, sender',
    [now],
  )
  return found.map(pairingRow)
}

export function* readTokens(only: {
  readonly kind?: string
  readonly ofTurns?: false
}): Steps<readonly TokenRow[]> {
  // A scope is a flat JSON object of strings, so a quote inside a string has a backslash before it.
  const found = yield* rows(
    `SELECT * FROM tokens WHERE ($1 = '' OR kind = $1) AND ($2 = 1 OR scope NOT LIKE '%"turn":%')
     ORDER BY created_at, id`,
    [only.kind ?? '', only.ofTurns === false ? 0 : 1],
  )
  return found.map(tokenRow)
}

export function* readTokenByHash(hash: string): Steps<TokenRow | null> {
  const row = yield* firstRow('SELECT * FROM tokens WHERE hash = $1', [hash])
  return row ? tokenRow(row) : null
}

export function* readSecrets(): Steps<Readonly<Record<string, string>>> {
  const found = yield* rows('SELECT name, ciphertext FROM secrets ORDER BY name')
  return Object.fromEntries(found.map((row) => [text(row, 'name'), text(row, 'ciphertext')]))
}

export function* readCounters(): Steps<readonly Counter[]> {
  const found = yield* rows(
    `SELECT integration, name, reason, CAST(sum(count) AS BIGINT) AS count FROM counters
     GROUP BY integration, name, reason HAVING sum(count) <> 0 ORDER BY integration, name, reason`,
  )
  return found.map((row) => ({
    integration: text(row, 'integration'),
    name: text(row, 'name'),
    reason: text(row, 'reason'),
    count: whole(row, 'count'),
  }))
}

export function* readLedger(afterSeq: number, limit: number): Steps<readonly LedgerEntry[]> {
  const upTo = yield* horizon('ledger')
  const found = yield* rows(
    `SELECT l.*, c.name AS chain_name FROM ledger l JOIN ledger_chains c ON c.id = l.chain
     WHERE l.seq > $1 AND l.seq <= $3 ORDER BY l.seq LIMIT $2`,
    [afterSeq, limit, upTo],
  )
  return found.map((row) => ledgerEntry(row))
}

export function* readWork(kind: LaneKind, scopes: readonly string[], options: WalkOptions): Steps<WorkSlice> {
  return yield* laneWork(kind, scopes, options)
}

export interface QueuedTurns {
  readonly agent: string
  readonly count: number
}

/** Counts by the index of queued turns alone, lane by lane. */
export function* readQueuedTurns(): Steps<readonly QueuedTurns[]> {
  const found = yield* rows(
    `SELECT s.agent AS agent, CAST(sum(waiting.many) AS BIGINT) AS count
     FROM (SELECT lane, count(*) AS many FROM turns WHERE state = 'queued' GROUP BY lane) waiting
     JOIN sessions s ON s.seq = waiting.lane GROUP BY s.agent ORDER BY 1`,
  )
  return found.map((row) => ({ agent: text(row, 'agent'), count: whole(row, 'count') }))
}

export interface WaitingBehind {
  readonly agent: string
  readonly turn: string
  readonly since: number
  readonly behind: number
}

/** Uses the small indexes of queued turns and of turns in flight. Acknowledged turns delay no other turn. */
export function* readWaitingBehind(tag: string, before: number): Steps<readonly WaitingBehind[]> {
  const found = yield* rows(
    `SELECT flight.seq AS seq, t.agent AS agent, t.updated_at AS since, waiting.many AS behind
     FROM (SELECT lane, count(*) AS many FROM turns WHERE state = 'queued' GROUP BY lane) waiting
     JOIN (SELECT lane, min(seq) AS seq FROM turns
           WHERE ${IN_FLIGHT} GROUP BY lane) flight
       ON flight.lane = waiting.lane
     JOIN turns t ON t.seq = flight.seq
     WHERE t.updated_at < $1
     ORDER BY waiting.many DESC, flight.seq LIMIT 20`,
    [before],
  )
  return found.map((row) => ({
    agent: text(row, 'agent'),
    turn: rowId('t', tag, whole(row, 'seq')),
    since: whole(row, 'since'),
    behind: whole(row, 'behind'),
  }))
}

interface WaitingSends {
  readonly integration: string
  readonly waiting: number
  readonly open: number
  readonly since: number
}

/** Uses the small index of unsettled sends. An answer that is shown while it is written does not count as waiting. */
export function* readWaitingSends(before: number): Steps<readonly WaitingSends[]> {
  const found = yield* rows(
    `SELECT integration, count(*) AS waiting, min(created_at) AS since,
            sum(CASE WHEN reason = 'outcome_open' THEN 1 ELSE 0 END) AS open
     FROM outbox
     WHERE state IN ('queued','sending')
       AND (reason = 'outcome_open' OR (created_at < $1 AND NOT (state = 'sending' AND lane LIKE '%#stream:%')))
     GROUP BY integration ORDER BY integration`,
    [before],
  )
  return found.map((row) => ({
    integration: text(row, 'integration'),
    waiting: whole(row, 'waiting'),
    open: whole(row, 'open'),
    since: whole(row, 'since'),
  }))
}
