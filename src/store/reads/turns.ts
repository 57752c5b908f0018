// Reads turns by id and by filter. Positions grow with time, so a time filter becomes a position found by bisection.
import { parseAddress, rowSeq, type TurnFilter, type TurnRow } from '../../contract/index.ts'
import { TURN_COLUMNS, turnRow } from '../codec.ts'
import { HANDED_OR_SEEN, IN_FLIGHT, NOT_RESTING } from '../in-flight.ts'
import { firstRow, horizon, type Param, type Row, rows, type Steps, text, whole } from '../statement.ts'
import { createConditions, edgesOf, IN_ORDER, LEEWAY_MS, positionAt, wayTo } from './conditions.ts'

export function* readTurn(tag: string, id: string): Steps<TurnRow | null> {
  const seq = rowSeq('t', tag, id)
  if (seq === null) return null
  const row = yield* firstRow(`SELECT ${TURN_COLUMNS} FROM turns WHERE seq = $1`, [seq])
  return row ? turnRow(tag, row) : null
}

const OPEN = ['queued', 'handed', 'seen']

/** Phrased like the partial indexes, so that they are used. */
function openTurns(resting: TurnFilter['resting'], lane?: number): string {
  const held = resting === false ? [IN_FLIGHT] : HANDED_OR_SEEN
  const here = lane === undefined ? '' : `lane = ${lane} AND `
  return ["state = 'queued'", ...held]
    .map((state) => `SELECT seq FROM turns WHERE ${here}${state}`)
    .join(' UNION ALL ')
}

// Rare end states, phrased like their partial index.
const ASIDE: readonly string[] = ['refused', 'consumed', 'failed', 'expired']
const IS_ASIDE = "state IN ('refused','consumed','failed','expired')"

const isOpen = ({ states }: TurnFilter) => states?.every((state) => OPEN.includes(state)) ?? false

/** With exactly one of these states, the index returns the rows in order. */
function asideOf({ states }: TurnFilter): string | null {
  const [only] = states ?? []
  return states?.length === 1 && only !== undefined && ASIDE.includes(only) ? only : null
}

/** Whether no index serves the filter. Matches may be anywhere in the table, or nowhere. */
export function isLongWalk(filter: TurnFilter): boolean {
  if (filter.session !== undefined || filter.source !== undefined || filter.afterSeq !== undefined)
    return false
  if (isOpen(filter) || asideOf(filter) !== null) return false
  if (filter.integration !== undefined && filter.conversation !== undefined) return false
  const { states, resting, agent, sender, integration, messageId, thread } = filter
  return [states, resting, agent, sender, integration, messageId, thread].some((one) => one !== undefined)
}

/** Searches only the newest positions for a quick answer. Null: more rows would have to be read. */
export function* readNewestTurns(tag: string, filter: TurnFilter): Steps<readonly TurnRow[] | null> {
  const { to } = yield* edgesOf('turns')
  const top = Math.min(to, (filter.beforeSeq ?? Number.MAX_SAFE_INTEGER) - 1)
  if (filter.oldestFirst || filter.sinceMs !== undefined || filter.untilMs !== undefined) return null
  const found = yield* readTurns(tag, filter, { from: top - QUICK, to: top })
  return found.length >= filter.limit ? found : null
}
const QUICK = 2_000

export function* readTurns(
  tag: string,
  filter: TurnFilter,
  within?: { readonly from: number; readonly to: number },
): Steps<readonly TurnRow[]> {
  const where = createConditions()
  let order = 'seq'
  const aside = asideOf(filter)
  if (aside !== null) {
    where.plain(IS_ASIDE)
    where.add('state = ?', aside)
  } else if (filter.states) where.add('state @any(?)', filter.states)
  if (filter.resting === false) where.plain(NOT_RESTING)
  const open = isOpen(filter)
  if (typeof filter.agent === 'string') where.add('agent = ?', filter.agent)
  else if (filter.agent) where.add('NOT agent @any(?)', filter.agent.not)
  if (filter.source !== undefined) where.add('source = ?', filter.source)
  if (filter.sender !== undefined) where.add('sender = ?', filter.sender)
  if (filter.session !== undefined) {
    where.add('session = ?', filter.session)
    const home = yield* firstRow('SELECT seq, address FROM sessions WHERE id = $1', [filter.session])
    if (!home) return []
    if (open) where.plain(`seq IN (${openTurns(filter.resting, whole(home, 'seq'))})`)
    else if (!(yield* wasClaimed(filter.session))) {
      // Without a claim, a session has one conversation.
      const at = parseAddress(text(home, 'address'))
      const way = yield* wayTo('turns', at.integration, at.conversation)
      where.add(way.sql, at.integration, at.conversation)
      order = way.order
    }
  } else if (open) where.plain(`seq IN (${openTurns(filter.resting)})`)
  if (filter.integration !== undefined && filter.conversation !== undefined) {
    // A message is found by its key, and a conversation by its place.
    const way =
      filter.messageId === undefined
        ? yield* wayTo('turns', filter.integration, filter.conversation)
        : { sql: 'integration = ? AND conversation = ?', order: 'seq + 0' }
    where.add(way.sql, filter.integration, filter.conversation)
    order = way.order
  } else if (filter.integration !== undefined) where.add(IN_ORDER.sql, filter.integration)
  if (filter.messageId !== undefined) where.add('message_id = ?', filter.messageId)
  if (filter.thread !== undefined) where.add('thread = ?', filter.thread)
  let since = 0
  let until = Number.MAX_SAFE_INTEGER
  if (filter.sinceMs !== undefined) {
    where.add('received_at >= ?', filter.sinceMs)
    since = yield* positionAt('turns', 'received_at', filter.sinceMs)
    where.add('seq >= ?', since)
  }
  if (filter.untilMs !== undefined) {
    where.add('received_at < ?', filter.untilMs)
    // No match lies beyond the first row that is a minute younger.
    until = yield* positionAt('turns', 'received_at', filter.untilMs + 2 * LEEWAY_MS)
    where.add('seq <= ?', until)
  }
  if (filter.beforeSeq !== undefined) where.add('seq < ?', filter.beforeSeq)
  if (filter.afterSeq !== undefined) {
    where.add('seq > ?', filter.afterSeq)
    where.add('seq <= ?', yield* horizon('turns'))
  }
  const direction = filter.oldestFirst ? 'ASC' : 'DESC'
  const { sql, params } = where.build()
  const next = params.length
  if (!isLongWalk(filter)) {
    const found = yield* rows(
      `SELECT ${TURN_COLUMNS} FROM turns ${sql} ORDER BY ${order} ${direction} LIMIT $${next + 1}`,
      [...params, filter.limit] as Param[],
    )
    return found.map((row) => turnRow(tag, row))
  }
  const edges = within ?? (yield* edgesOf('turns'))
  const walk = {
    from: Math.max(edges.from, since),
    to: Math.min(edges.to, until, (filter.beforeSeq ?? Number.MAX_SAFE_INTEGER) - 1),
    limit: filter.limit,
    oldestFirst: filter.oldestFirst ?? false,
  }
  const found = yield* walkSlices(walk, (first, last, most) =>
    rows(
      `SELECT ${TURN_COLUMNS} FROM turns ${sql} AND seq >= $${next + 1} AND seq <= $${next + 2}
       ORDER BY seq ${direction} LIMIT $${next + 3}`,
      [...params, first, last, most] as Param[],
    ),
  )
  return found.map((row) => turnRow(tag, row))
}

/**
 * Returns the time of each agent's last message. An agent is found in the newest slice that contains it. An agent
 * without a session never got a message.
 */
export function* readLastReceived(agents: readonly string[]): Steps<ReadonlyMap<string, number>> {
  const last = new Map<string, number>()
  const wanted = new Set(agents)
  const known = yield* rows('SELECT DISTINCT agent FROM sessions')
  const limit = known.filter((row) => wanted.has(text(row, 'agent'))).length
  yield* walkSlices({ ...(yield* edgesOf('turns')), limit, oldestFirst: false }, function* (first, end) {
    const found = yield* rows(
      `SELECT agent, max(received_at) AS at FROM turns WHERE seq >= $1 AND seq <= $2 AND agent IS NOT NULL
       GROUP BY agent`,
      [first, end],
    )
    const fresh = found.filter((row) => wanted.delete(text(row, 'agent')))
    for (const row of fresh) last.set(text(row, 'agent'), whole(row, 'at'))
    return fresh
  })
  return last
}

/** A claim may have led messages of other conversations to it. */
function* wasClaimed(session: string): Steps<boolean> {
  return (
    (yield* firstRow('SELECT 1 AS there FROM claims WHERE session = $1 LIMIT 1', [session])) !== undefined
  )
}

/** Most searched rows are among the newest. */
const FIRST_SLICE = 2_000
const SLICE = 10_000

interface Walk {
  readonly from: number
  readonly to: number
  readonly limit: number
  readonly oldestFirst: boolean
}

/**
 * Walks through the table by position, slice by slice, for searches that no index serves. Each slice is a separate
 * statement of some milliseconds, so other work can run in between. `read` returns at most `most` rows of one slice,
 * including both ends, in the order of the walk.
 */
function* walkSlices(
  { from, to, limit, oldestFirst }: Walk,
  read: (first: number, last: number, most: number) => Steps<readonly Row[]>,
): Steps<readonly Row[]> {
  const found: Row[] = []
  let size = FIRST_SLICE
  for (let low = from, high = to; low <= high && found.length < limit; size = SLICE) {
    const [first, last] = oldestFirst
      ? [low, Math.min(high, low + size - 1)]
      : [Math.max(low, high - size + 1), high]
    for (const row of yield* read(first, last, limit - found.length)) found.push(row)
    if (oldestFirst) low = last + 1
    else high = first - 1
  }
  return found
}
