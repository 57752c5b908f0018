// Reading turns: by id, by filter. Positions grow with time, so a time filter becomes a position found by halving.
import { parseAddress, rowSeq, type TurnFilter, type TurnRow } from '../../contract/index.ts'
import { TURN_COLUMNS, turnRow } from '../codec.ts'
import { firstRow, type Param, rows, type Steps, text } from '../statement.ts'
import { createConditions, IN_ORDER, positionAt, wayTo } from './conditions.ts'

export function* readTurn(tag: string, id: string): Steps<TurnRow | null> {
  const seq = rowSeq('t', tag, id)
  if (seq === null) return null
  const row = yield* firstRow(`SELECT ${TURN_COLUMNS} FROM turns WHERE seq = $1`, [seq])
  return row ? turnRow(tag, row) : null
}

const OPEN = ['queued', 'handed', 'seen']

export function* readTurns(tag: string, filter: TurnFilter): Steps<readonly TurnRow[]> {
  const where = createConditions()
  let order = 'seq'
  if (filter.states) {
    where.add('state @any(?)', filter.states)
    // Said in the words of the partial index, so that it can serve.
    if (filter.states.every((state) => OPEN.includes(state)))
      where.plain("state IN ('queued','handed','seen')")
  }
  if (filter.agent !== undefined) where.add('agent = ?', filter.agent)
  if (filter.source !== undefined) where.add('source = ?', filter.source)
  if (filter.session !== undefined) {
    where.add('session = ?', filter.session)
    const home = yield* firstRow('SELECT agent, address FROM sessions WHERE id = $1', [filter.session])
    if (!home) return []
    const open = filter.states?.every((state) => OPEN.includes(state)) ?? false
    if (open) where.add('agent = ?', text(home, 'agent'))
    else if (!(yield* wasClaimed(filter.session))) {
      // Without a claim a session lives in one conversation.
      const at = parseAddress(text(home, 'address'))
      const way = yield* wayTo('turns', at.integration, at.conversation)
      where.add(way.integration, at.integration)
      where.add(way.conversation, at.conversation)
      order = way.order
    }
    if (filter.integration !== undefined) where.add(IN_ORDER.integration, filter.integration)
  } else if (filter.integration !== undefined) where.add(IN_ORDER.integration, filter.integration)
  if (filter.sinceMs !== undefined) {
    where.add('received_at >= ?', filter.sinceMs)
    where.add('seq >= ?', yield* positionAt('turns', 'received_at', filter.sinceMs))
  }
  if (filter.untilMs !== undefined) where.add('received_at < ?', filter.untilMs)
  if (filter.beforeSeq !== undefined) where.add('seq < ?', filter.beforeSeq)
  if (filter.afterSeq !== undefined) where.add('seq > ?', filter.afterSeq)
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
