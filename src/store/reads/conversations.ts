// Reads the list of conversations, newest first, by keyset. Each page continues after the last one by an index.
import {
  type Address,
  address,
  type ConversationFilter,
  type ConversationPage,
  type ConversationRow,
  formatAddress,
  parseAddress,
} from '../../contract/index.ts'
import { SEND_COLUMNS, sendRow, TURN_COLUMNS, turnRow } from '../codec.ts'
import { type Param, type Row, rows, type Steps, text, textOrNull, whole, wholeOrNull } from '../statement.ts'
import { createConditions } from './conditions.ts'
import { LIVE_TAKEOVER, TAKEOVER_COLUMNS, takeoverRow } from './takeovers.ts'

const COLUMNS =
  'integration, conversation, thread, platform, agent, turns, sends, first_at, last_at, last_turn, last_send'
const NEWEST_FIRST = 'last_at DESC, integration DESC, conversation DESC, thread DESC'
/** A search reads this many conversations at a time and returns where to continue. */
const LOOKED_THROUGH = 20_000

export function* readConversations(tag: string, filter: ConversationFilter): Steps<ConversationPage> {
  if (filter.takeover !== undefined) return yield* readTakenOver(tag, filter)
  const { limit, search } = filter
  const where = conditions(filter)
  const { sql, params } = where.build()
  const looked = `SELECT ${COLUMNS}, words FROM conversations ${sql} ORDER BY ${NEWEST_FIRST}`
  if (search === undefined) {
    const found = yield* rows(`${looked} LIMIT $${params.length + 1}`, [...params, limit] as Param[])
    const last = found.length === limit ? found.at(-1) : undefined
    return { rows: yield* filled(tag, found), next: last ? cursorOf(last) : null }
  }
  const [found, end] = yield* searched(looked, params, { search, limit })
  return { rows: yield* filled(tag, found), next: end ? cursorOf(end) : null }
}

/** Returns the matches among the next rows, and the row where to continue. */
function* searched(
  looked: string,
  params: readonly Param[],
  { search, limit }: { readonly search: string; readonly limit: number },
): Steps<readonly [readonly Row[], Row | undefined]> {
  const [words, most, wanted] = [params.length + 1, params.length + 2, params.length + 3]
  const pattern = `%${search.toLowerCase().replace(/[\\%_]/g, '\\$&')}%`
  const found = yield* rows(
    `SELECT * FROM (${looked} LIMIT $${most}) looked WHERE words LIKE $${words} ESCAPE '\\' LIMIT $${wanted}`,
    [...params, pattern, LOOKED_THROUGH, limit] as Param[],
  )
  if (found.length === limit) return [found, found.at(-1)]
  const [end] = yield* rows(`${looked} LIMIT 1 OFFSET $${words}`, [...params, LOOKED_THROUGH - 1] as Param[])
  return [found, end]
}

function conditions(filter: ConversationFilter) {
  const where = createConditions()
  if (filter.integration !== undefined) where.add('integration = ?', filter.integration)
  if (filter.agent !== undefined) where.add('agent = ?', filter.agent)
  if (filter.sinceMs !== undefined) where.add('last_at >= ?', filter.sinceMs)
  if (filter.untilMs !== undefined) where.add('last_at < ?', filter.untilMs)
  if (filter.before) {
    const { integration, conversation, thread = '' } = parseAddress(filter.before.address)
    where.add(
      '(last_at, integration, conversation, thread) < (?, ?, ?, ?)',
      ...[filter.before.at, integration, conversation, thread],
    )
    // Repeated for the index that starts with the agent or the integration.
    where.add('last_at <= ?', filter.before.at)
  }
  return where
}

function cursorOf(row: Row): ConversationPage['next'] {
  return { at: whole(row, 'last_at'), address: formatAddress(placeOf(row)) }
}

function placeOf(row: Row): Address {
  const thread = text(row, 'thread')
  return address(text(row, 'integration'), text(row, 'conversation'), thread === '' ? undefined : thread)
}

/** There are few at any time, so they are read by their own index, each with its conversation. */
function* readTakenOver(tag: string, filter: ConversationFilter): Steps<ConversationPage> {
  const live = yield* rows(
    `SELECT integration, conversation, thread FROM takeovers WHERE ${LIVE_TAKEOVER} AND state = $1`,
    [filter.takeover ?? 'held'],
  )
  const wanted = filter.search?.toLowerCase()
  const found: Row[] = []
  for (const row of live) {
    const place = [text(row, 'integration'), text(row, 'conversation'), textOrNull(row, 'thread') ?? '']
    const where = conditions(filter)
    where.add('integration = ? AND conversation = ? AND thread = ?', ...place)
    const { sql, params } = where.build()
    const [one] = yield* rows(`SELECT ${COLUMNS}, words FROM conversations ${sql}`, [...params] as Param[])
    if (one && (wanted === undefined || text(one, 'words').includes(wanted))) found.push(one)
  }
  found.sort((one, other) => whole(other, 'last_at') - whole(one, 'last_at') || compared(other, one))
  const shown = found.slice(0, filter.limit)
  const last = found.length > filter.limit ? shown.at(-1) : undefined
  return { rows: yield* filled(tag, shown), next: last ? cursorOf(last) : null }
}

function compared(one: Row, other: Row): number {
  for (const name of ['integration', 'conversation', 'thread']) {
    const [left, right] = [text(one, name), text(other, name)]
    if (left !== right) return left < right ? -1 : 1
  }
  return 0
}

export function* readConversation(tag: string, at: Address): Steps<ConversationRow | null> {
  const found = yield* rows(
    `SELECT ${COLUMNS} FROM conversations WHERE integration = $1 AND conversation = $2 AND thread = $3`,
    [at.integration, at.conversation, at.thread ?? ''],
  )
  return (yield* filled(tag, found))[0] ?? null
}

/** Adds the last message and the holder, by positions and keys for a whole page at once. */
function* filled(tag: string, found: readonly Row[]): Steps<readonly ConversationRow[]> {
  if (found.length === 0) return []
  const seqs = (column: string) => found.map((row) => wholeOrNull(row, column)).filter((seq) => seq !== null)
  const turns = yield* rows(`SELECT ${TURN_COLUMNS} FROM turns WHERE seq @any($1)`, [seqs('last_turn')])
  const sends = yield* rows(`SELECT ${SEND_COLUMNS} FROM outbox WHERE seq @any($1)`, [seqs('last_send')])
  const live = yield* rows(
    `SELECT ${TAKEOVER_COLUMNS} FROM takeovers WHERE address @any($1) AND ${LIVE_TAKEOVER}`,
    [found.map((row) => formatAddress(placeOf(row)))],
  )
  const turnOf = new Map(turns.map((row) => [whole(row, 'seq'), turnRow(tag, row)]))
  const sendOf = new Map(sends.map((row) => [whole(row, 'seq'), sendRow(tag, row)]))
  const takeoverOf = new Map(live.map((row) => [text(row, 'address'), takeoverRow(row)]))
  return found.map((row) => {
    const at = placeOf(row)
    return {
      ...{ address: formatAddress(at), at, platform: text(row, 'platform'), agent: textOrNull(row, 'agent') },
      ...{ turns: whole(row, 'turns'), sends: whole(row, 'sends') },
      ...{ firstAt: whole(row, 'first_at'), lastAt: whole(row, 'last_at') },
      lastTurn: turnOf.get(wholeOrNull(row, 'last_turn') ?? -1) ?? null,
      lastSend: sendOf.get(wholeOrNull(row, 'last_send') ?? -1) ?? null,
      takeover: takeoverOf.get(formatAddress(at)) ?? null,
    }
  })
}
