// Reads group messages without a mention before a turn: rows of exactly this place, since the agent last got a message
// from there.
import { rowSeq, type TurnRow } from '../../contract/index.ts'
import { TURN_COLUMNS, turnRow } from '../codec.ts'
import { firstRow, type Param, rows, type Steps, text, whole } from '../statement.ts'
import { createConditions, positionAt, wayTo } from './conditions.ts'
import { readTurn } from './turns.ts'

interface Query {
  readonly sinceMs: number
  readonly limit: number
}

export function* readOverheard(tag: string, id: string, query: Query): Steps<readonly TurnRow[]> {
  const turn = yield* readTurn(tag, id)
  const before = rowSeq('t', tag, id)
  if (!turn || before === null || turn.session === null || turn.agent === null) return []
  const { integration, conversation, thread, agent } = turn
  const way = yield* wayTo('turns', integration, conversation)
  const sinceMs = Math.max(query.sinceMs, yield* openedAnew(turn.session, turn.address))
  const from = yield* positionAt('turns', 'received_at', sinceMs)
  const here = () => {
    const where = createConditions()
    where.add(way.sql, integration, conversation)
    where.add('seq < ? AND seq >= ?', before, from)
    if (thread === null) where.plain('thread IS NULL')
    else where.add('thread = ?', thread)
    return where
  }
  const handed = here()
  // A failed hand-over gave the agent nothing.
  handed.plain('attempts > 0')
  const last = handed.build()
  const [heard] = yield* rows(`SELECT seq FROM turns ${last.sql} ORDER BY ${way.order} DESC LIMIT 1`, [
    ...last.params,
  ] as Param[])
  const said = here()
  said.add(`reason = 'not_mentioned' AND body IS NOT NULL AND received_at >= ? AND agent = ?`, sinceMs, agent)
  if (heard) said.add('seq > ?', whole(heard, 'seq'))
  const { sql, params } = said.build()
  const found = yield* rows(
    `SELECT ${TURN_COLUMNS} FROM turns ${sql} ORDER BY ${way.order} DESC LIMIT $${params.length + 1}`,
    [...params, query.limit] as Param[],
  )
  return found.map((row) => turnRow(tag, row)).reverse()
}

/**
 * Returns the time of the last /new in this place; earlier messages belong to another conversation. The first session
 * returns 0.
 */
export function* openedAnew(session: string, address: string): Steps<number> {
  const row = yield* firstRow('SELECT address, generation, created_at FROM sessions WHERE id = $1', [session])
  if (!row || text(row, 'address') !== address || whole(row, 'generation') <= 1) return 0
  return whole(row, 'created_at')
}
