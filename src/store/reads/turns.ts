// Reading turns: by id, by filter. Positions grow with time, so a time filter becomes a position found by halving.
import { parseAddress, rowSeq, type TurnFilter, type TurnRow } from '../../contract/index.ts'
import { TURN_COLUMNS, turnRow } from '../codec.ts'
import { NOT_RESTING } from '../in-flight.ts'
import { firstRow, horizon, type Param, rows, type Steps, text, whole } from '../statement.ts'
import { createConditions, IN_ORDER, positionAt, wayTo } from './conditions.ts'

export function* readTurn(tag: string, id: string): Steps<TurnRow | null> {
  const seq = rowSeq('t', tag, id)
  if (seq === null) return null
  const row = yield* firstRow(`SELECT ${TURN_COLUMNS} FROM turns WHERE seq = $1`, [seq])
  return row ? turnRow(tag, row) : null
}

const OPEN = ['queued', 'handed', 'seen']

// Said in the words of the two partial indexes, so that they can serve.
const ALL_OPEN = `SELECT seq FROM turns WHERE state = 'queued'
  UNION ALL SELECT seq FROM turns WHERE state IN ('handed','seen')`
const OPEN_IN_LANE = `SELECT seq FROM turns WHERE lane = ? AND state = 'queued'
  UNION ALL SELECT seq FROM turns WHERE lane = ? AND state IN ('handed','seen')`

export function* readTurns(tag: string, filter: TurnFilter): Steps<readonly TurnRow[]> {
  const where = createConditions()
  let order = 'seq'
  if (filter.states) where.add('state @any(?)', filter.states)
  if (filter.resting === false) where.plain(NOT_RESTING)
  const open = filter.states?.every((state) => OPEN.includes(state)) ?? false
  if (typeof filter.agent === 'string') where.add('agent = ?', filter.agent)
  else if (filter.agent) where.add('NOT agent @any(?)', filter.agent.not)
  if (filter.source !== undefined) where.add('source = ?', filter.source)
  if (filter.sender !== undefined) where.add('sender = ?', filter.sender)
  if (filter.session !== undefined) {
    where.add('session = ?', filter.session)
    const home = yield* firstRow('SELECT seq, address FROM sessions WHERE id = $1', [filter.session])
    if (!home) return []
    if (open) where.add(`seq IN (${OPEN_IN_LANE})`, whole(home, 'seq'), whole(home, 'seq'))
    else if (!(yield* wasClaimed(filter.session))) {
      // Without a claim a session lives in one conversation.
      const at = parseAddress(text(home, 'address'))
      const way = yield* wayTo('turns', at.integration, at.conversation)
      where.add(way.sql, at.integration, at.conversation)
      order = way.order
    }
  } else if (open) where.plain(`seq IN (${ALL_OPEN})`)
  if (filter.integration !== undefined && filter.conversation !== undefined) {
    // One message is found by its key; a conversation by its place.
    const way =
      filter.messageId === undefined
        ? yield* wayTo('turns', filter.integration, filter.conversation)
        : { sql: 'integration = ? AND conversation = ?', order: 'seq + 0' }
    where.add(way.sql, filter.integration, filter.conversation)
    order = way.order
  } else if (filter.integration !== undefined) where.add(IN_ORDER.sql, filter.integration)
  if (filter.messageId !== undefined) where.add('message_id = ?', filter.messageId)
  if (filter.thread !== undefined) where.add('thread = ?', filter.thread)
  if (filter.sinceMs !== undefined) {
    where.add('received_at >= ?', filter.sinceMs)
    where.add('seq >= ?', yield* positionAt('turns', 'received_at', filter.sinceMs))
  }
  if (filter.untilMs !== undefined) where.add('received_at < ?', filter.untilMs)
  if (filter.beforeSeq !== undefined) where.add('seq < ?', filter.beforeSeq)
  if (filter.afterSeq !== undefined) {
    where.add('seq > ?', filter.afterSeq)
    where.add('seq <= ?', yield* horizon('turns'))
  }
  const { sql, params } = where.build()
  const found = yield* rows(
    `SELECT ${TURN_COLUMNS} FROM turns ${sql} ORDER BY ${order} ${filter.oldestFirst ? 'ASC' : 'DESC'} LIMIT $${params.length + 1}`,
    [...params, filter.limit] as Param[],
  )
  return found.map((row) => turnRow(tag, row))
}

/** Messages of other conversations may have been led to it. */
function* wasClaimed(session: string): Steps<boolean> {
  return (
    (yield* firstRow('SELECT 1 AS there FROM claims WHERE session = $1 LIMIT 1', [session])) !== undefined
  )
}
