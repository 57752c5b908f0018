// Reads the outbox, and the transcript of an integration: messages in both directions, oldest first.
import {
  defined,
  opText,
  rowSeq,
  type SendFilter,
  type SendRow,
  type TranscriptEntry,
  type TranscriptQuery,
  withoutNulls,
} from '../../contract/index.ts'
import { SEND_COLUMNS, sendRow, TURN_COLUMNS, turnRow } from '../codec.ts'
import { firstRow, horizon, rows, type Steps, whole } from '../statement.ts'
import { createConditions, IN_ORDER, positionAt, type Way, wayTo } from './conditions.ts'

export function* readSend(tag: string, id: string): Steps<SendRow | null> {
  const seq = rowSeq('o', tag, id)
  if (seq === null) return null
  const row = yield* firstRow(`SELECT ${SEND_COLUMNS} FROM outbox WHERE seq = $1`, [seq])
  return row ? sendRow(tag, row) : null
}

const OPEN = ['queued', 'sending']
const STUCK = ['failed', 'unknown']
// A deduplicated row was never sent. The first row represents it.
const SHOWN = "op IS NOT NULL AND state <> 'deduplicated'"
// Phrased like the partial index.
const ON_ITS_WAY = "op IS NOT NULL AND state IN ('queued','sending')"

export function* readSends(tag: string, filter: SendFilter): Steps<readonly SendRow[]> {
  const where = createConditions()
  if (filter.states) {
    where.add('state @any(?)', filter.states)
    if (filter.states.every((state) => OPEN.includes(state))) where.plain("state IN ('queued','sending')")
    // Phrased like its partial index as well.
    if (filter.states.every((state) => STUCK.includes(state))) where.plain("state IN ('failed','unknown')")
  }
  if (filter.agent !== undefined) where.add('agent = ?', filter.agent)
  if (filter.session !== undefined) where.add('session = ?', filter.session)
  if (filter.approval !== undefined) where.add('approval = ?', filter.approval)
  // Not by the conversation index, whose order within an integration is not the order of time.
  if (filter.integration !== undefined && filter.conversation !== undefined)
    where.add('integration = ? AND conversation = ?', filter.integration, filter.conversation)
  else if (filter.integration !== undefined) where.add(IN_ORDER.sql, filter.integration)
  if (filter.turn !== undefined) where.add('turn = ?', filter.turn)
  if (filter.sinceMs !== undefined) {
    where.add('created_at >= ?', filter.sinceMs)
    where.add('seq >= ?', yield* positionAt('outbox', 'created_at', filter.sinceMs))
  }
  if (filter.beforeSeq !== undefined) where.add('seq < ?', filter.beforeSeq)
  const { sql, params } = where.build()
  const order = filter.oldestFirst ? 'ASC' : 'DESC'
  const found = yield* rows(
    `SELECT ${SEND_COLUMNS} FROM outbox ${sql} ORDER BY seq ${order} LIMIT $${params.length + 1}`,
    [...params, filter.limit],
  )
  return found.map((row) => sendRow(tag, row))
}

/**
 * Returns the first entries after `afterSeq`, else the newest ones, always oldest first. Inbound and outbound have
 * separate positions, so paging by position needs one direction.
 */
export function* readTranscript(
  tag: string,
  integration: string,
  query: TranscriptQuery,
): Steps<readonly TranscriptEntry[]> {
  const entries: TranscriptEntry[] = []
  if (query.direction !== 'out' && !query.onItsWay) {
    const said = yield* page(
      'turns',
      TURN_COLUMNS,
      // A deletion and a platform's later report are rows, but not messages.
      "body IS NOT NULL AND state <> 'refused' AND edit_version >= 0 AND (reason IS NULL OR reason <> 'report')",
      integration,
      query,
    )
    for (const row of said) entries.push(inbound(turnRow(tag, row)))
  }
  if (query.direction !== 'in') {
    const said = yield* page('outbox', SEND_COLUMNS, query.onItsWay ? ON_ITS_WAY : SHOWN, integration, query)
    for (const row of said) entries.push(outbound(sendRow(tag, row)))
    for (const row of yield* placedPage(integration, query)) entries.push(outbound(sendRow(tag, row)))
  }
  entries.sort(inOrder)
  return query.afterSeq === undefined ? entries.slice(-query.limit) : entries.slice(0, query.limit)
}

/** Positions only: a caller that polls every few seconds needs no texts. */
export function* readOnItsWay(integration: string): Steps<readonly number[]> {
  const found = yield* rows(
    `SELECT COALESCE(place, seq) AS at FROM outbox WHERE integration = $1 AND state IN ('queued','sending')`,
    [integration],
  )
  return found.map((row) => whole(row, 'at'))
}

function* page(
  table: 'turns' | 'outbox',
  columns: string,
  only: string,
  integration: string,
  query: TranscriptQuery,
) {
  const where = createConditions()
  const { conversation } = query
  const way = query.onItsWay
    ? waitingAt(conversation)
    : conversation === undefined
      ? IN_ORDER
      : yield* wayTo(table, integration, conversation)
  if (conversation === undefined) where.add(way.sql, integration)
  else where.add(way.sql, integration, conversation)
  where.plain(only)
  if (table === 'outbox') where.plain('place IS NULL')
  if (query.sender !== undefined && table === 'turns') where.add('sender = ?', query.sender)
  if (query.afterSeq !== undefined) where.add('seq > ?', query.afterSeq)
  if (query.beforeSeq !== undefined) where.add('seq < ?', query.beforeSeq)
  // A caller without an end continues from the last row later.
  else where.add('seq <= ?', yield* horizon(table))
  const { sql, params } = where.build()
  const order = query.afterSeq === undefined ? 'DESC' : 'ASC'
  return yield* rows(
    `SELECT ${columns} FROM ${table} ${sql} ORDER BY ${way.order} ${order} LIMIT $${params.length + 1}`,
    [...params, query.limit],
  )
}

/** Sends that were tried again, by the places they got then. They are few and have their own index. */
function* placedPage(integration: string, query: TranscriptQuery) {
  const where = createConditions()
  where.plain(`place IS NOT NULL AND ${query.onItsWay ? ON_ITS_WAY : SHOWN}`)
  where.add(IN_ORDER.sql, integration)
  if (query.conversation !== undefined) where.add("conversation || '' = ?", query.conversation)
  if (query.afterSeq !== undefined) where.add('place > ?', query.afterSeq)
  if (query.beforeSeq !== undefined) where.add('place < ?', query.beforeSeq)
  else where.add('place <= ?', yield* horizon('outbox'))
  const { sql, params } = where.build()
  const order = query.afterSeq === undefined ? 'DESC' : 'ASC'
  return yield* rows(
    `SELECT ${SEND_COLUMNS} FROM outbox ${sql} ORDER BY place ${order} LIMIT $${params.length + 1}`,
    [...params, query.limit],
  )
}

/** Few rows, read by their own partial index and then sorted. */
function waitingAt(conversation: string | undefined): Way {
  const one = conversation === undefined ? '' : " AND conversation || '' = ?"
  return { sql: `integration = ?${one}`, order: 'seq + 0' }
}

function inOrder(one: TranscriptEntry, other: TranscriptEntry): number {
  if (one.direction === other.direction) return one.seq - other.seq
  return one.at - other.at || (one.direction === 'in' ? -1 : 1)
}

function inbound(turn: ReturnType<typeof turnRow>): TranscriptEntry {
  return {
    seq: turn.seq,
    direction: 'in',
    id: turn.id,
    conversation: turn.conversation,
    ...withoutNulls({ thread: turn.thread }),
    at: turn.receivedAt,
    text: turn.body?.text ?? '',
    state: turn.state,
    reason: turn.reason,
    sender: turn.sender,
    platformMessageId: turn.messageId,
    ...(turn.body?.attachments ? { attachments: turn.body.attachments } : {}),
    ...(turn.body?.replyTo?.messageId ? { replyTo: turn.body.replyTo.messageId } : {}),
    ...(turn.body?.meta ? { meta: turn.body.meta } : {}),
  }
}

function outbound(send: SendRow): TranscriptEntry {
  const [platformMessageId] = send.platformIds
  return {
    seq: send.place ?? send.seq,
    direction: 'out',
    id: send.id,
    conversation: send.conversation,
    ...withoutNulls({ thread: send.thread }),
    // A reminder counts from its due time, not from its planning.
    at: Math.max(send.createdAt, send.dueAt),
    text: send.op ? opText(send.op) : '',
    state: send.state,
    reason: send.reason,
    ...defined({ op: send.op ?? undefined, platformMessageId, receipt: send.receipt ?? undefined }),
  }
}
