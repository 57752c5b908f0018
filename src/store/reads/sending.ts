// Reads claims, the notification log, and fired schedules.
import type { ClaimRow, ClaimState, FiringRow, NotificationRow, Urgency } from '../../contract/index.ts'
import { formatAddress, rowId } from '../../contract/index.ts'
import { type Row, rows, type Steps, text, textOrNull, whole, wholeOrNull } from '../statement.ts'
import { createConditions } from './conditions.ts'

export interface ClaimFilter {
  readonly integration?: string
  readonly conversation?: string
  readonly session?: string
  readonly states?: readonly ClaimState[]
  readonly limit: number
}

export function* readClaims(tag: string, filter: ClaimFilter): Steps<readonly ClaimRow[]> {
  const where = createConditions()
  if (filter.integration !== undefined) where.add('integration = ?', filter.integration)
  if (filter.conversation !== undefined) where.add('conversation = ?', filter.conversation)
  if (filter.session !== undefined) where.add('session = ?', filter.session)
  if (filter.states) where.add('state @any(?)', filter.states)
  const { sql, params } = where.build()
  const found = yield* rows(
    `SELECT * FROM claims ${sql} ORDER BY created_at DESC, send DESC LIMIT $${params.length + 1}`,
    [...params, filter.limit],
  )
  return found.map((row) => ({
    integration: text(row, 'integration'),
    conversation: text(row, 'conversation'),
    thread: text(row, 'thread') === '' ? null : text(row, 'thread'),
    messageId: text(row, 'message_id'),
    session: text(row, 'session'),
    agent: text(row, 'agent'),
    label: text(row, 'label'),
    state: text(row, 'state') as ClaimState,
    send: rowId('o', tag, whole(row, 'send')),
    createdAt: whole(row, 'created_at'),
    expiresAt: whole(row, 'expires_at'),
    decidedBy: textOrNull(row, 'decided_by'),
    decidedAt: wholeOrNull(row, 'decided_at'),
  }))
}

export interface NotificationFilter {
  readonly agent?: string
  readonly user?: string
  /** Entries before this one, by its id. */
  readonly before?: string
  readonly limit: number
}

/** Returns log entries. An entry with a row in the outbox shows that row's present state. */
export function* readNotifications(
  tag: string,
  filter: NotificationFilter,
): Steps<readonly NotificationRow[]> {
  const where = createConditions()
  if (filter.agent !== undefined) where.add('n.agent = ?', filter.agent)
  if (filter.user !== undefined) where.add('n.user_id = ?', filter.user)
  if (filter.before !== undefined)
    where.add('(n.at, n.id) < (SELECT b.at, b.id FROM notification_log b WHERE b.id = ?)', filter.before)
  const { sql, params } = where.build()
  const found = yield* rows(
    `SELECT n.*, o.state AS send_state, o.reason AS send_reason, o.detail AS send_detail,
            o.integration, o.conversation, o.thread
     FROM notification_log n LEFT JOIN outbox o ON o.seq = n.send ${sql}
     ORDER BY n.at DESC, n.id DESC LIMIT $${params.length + 1}`,
    [...params, filter.limit],
  )
  return found.map((row) => {
    const send = wholeOrNull(row, 'send')
    const state = textOrNull(row, 'send_state')
    const status = state === 'sending' ? 'queued' : (state ?? text(row, 'status'))
    const troubled = status === 'failed' || status === 'unknown'
    const trouble = troubled ? (textOrNull(row, 'send_detail') ?? textOrNull(row, 'send_reason')) : null
    return {
      id: text(row, 'id'),
      user: text(row, 'user_id'),
      agent: textOrNull(row, 'agent'),
      session: textOrNull(row, 'session'),
      channel: text(row, 'channel'),
      message: textOrNull(row, 'message'),
      digest: text(row, 'digest'),
      urgency: text(row, 'urgency') as Urgency,
      source: text(row, 'source') as NotificationRow['source'],
      status: status as NotificationRow['status'],
      error: textOrNull(row, 'error') ?? trouble,
      to: state === null ? null : sentTo(row),
      send: send === null ? null : rowId('o', tag, send),
      at: whole(row, 'at'),
    }
  })
}

export interface FiringFilter {
  readonly agent?: string
  readonly schedule?: string
  readonly limit: number
}

export function* readFirings(filter: FiringFilter): Steps<readonly FiringRow[]> {
  const where = createConditions()
  if (filter.agent !== undefined) where.add('agent = ?', filter.agent)
  if (filter.schedule !== undefined) where.add('schedule = ?', filter.schedule)
  const { sql, params } = where.build()
  const found = yield* rows(
    `SELECT * FROM schedules_fired ${sql} ORDER BY fire_at DESC, agent, schedule LIMIT $${params.length + 1}`,
    [...params, filter.limit],
  )
  return found.map((row) => ({
    agent: text(row, 'agent'),
    schedule: text(row, 'schedule'),
    fireAt: whole(row, 'fire_at'),
    outcome: text(row, 'outcome') as FiringRow['outcome'],
    times: textOrNull(row, 'times'),
    node: text(row, 'node'),
    turn: textOrNull(row, 'turn'),
    at: whole(row, 'at'),
  }))
}

function sentTo(row: Row): string {
  const thread = textOrNull(row, 'thread')
  const chat = { integration: text(row, 'integration'), conversation: text(row, 'conversation') }
  return formatAddress(thread === null ? chat : { ...chat, thread })
}
