// Reads takeovers: live ones, past ones, and the messages while a person held a place.
import {
  type Address,
  address,
  formatAddress,
  type HeldWord,
  parseAddress,
  rowSeq,
  type TakeoverEnd,
  type TakeoverRow,
  type TakeoverState,
} from '../../contract/index.ts'
import { SEND_COLUMNS, sendRow, TURN_COLUMNS, turnRow } from '../codec.ts'
import {
  firstRow,
  type Param,
  type Row,
  rows,
  type Steps,
  text,
  textOrNull,
  whole,
  wholeOrNull,
} from '../statement.ts'
import { createConditions, wayTo } from './conditions.ts'
import { openedAnew } from './overheard.ts'
import { readTurn } from './turns.ts'

export const TAKEOVER_COLUMNS =
  'id, address, integration, conversation, thread, platform, agent, state, asked_by, asked_reason, asked_summary, ' +
  'asked_at, holder, holder_name, since, last_word_at, ended_at, ended_how, ended_by'

/** Phrased like the index of live takeovers. */
export const LIVE_TAKEOVER = `state IN ('asked','held')`

export function takeoverRow(row: Row): TakeoverRow {
  const askedAt = wholeOrNull(row, 'asked_at')
  const endedAt = wholeOrNull(row, 'ended_at')
  return {
    id: text(row, 'id'),
    address: text(row, 'address'),
    at: address(text(row, 'integration'), text(row, 'conversation'), textOrNull(row, 'thread') ?? undefined),
    platform: text(row, 'platform'),
    agent: textOrNull(row, 'agent'),
    state: text(row, 'state') as TakeoverState,
    asked:
      askedAt === null
        ? null
        : {
            by: text(row, 'asked_by'),
            reason: textOrNull(row, 'asked_reason'),
            summary: textOrNull(row, 'asked_summary'),
            at: askedAt,
          },
    holder: textOrNull(row, 'holder'),
    holderName: textOrNull(row, 'holder_name'),
    since: wholeOrNull(row, 'since'),
    lastWordAt: wholeOrNull(row, 'last_word_at'),
    ended:
      endedAt === null
        ? null
        : { at: endedAt, how: text(row, 'ended_how') as TakeoverEnd, by: text(row, 'ended_by') },
  }
}

export function* readTakeovers(filter: { readonly state?: 'asked' | 'held' }): Steps<readonly TakeoverRow[]> {
  const only = filter.state === undefined ? '' : `AND state = '${filter.state === 'held' ? 'held' : 'asked'}'`
  const found = yield* rows(
    `SELECT ${TAKEOVER_COLUMNS} FROM takeovers WHERE ${LIVE_TAKEOVER} ${only} ORDER BY began_at, id`,
  )
  return found.map(takeoverRow)
}

export function* readTakeoverAt(at: Address): Steps<TakeoverRow | null> {
  const row = yield* firstRow(
    `SELECT ${TAKEOVER_COLUMNS} FROM takeovers WHERE address = $1 AND ${LIVE_TAKEOVER}`,
    [formatAddress(at)],
  )
  return row ? takeoverRow(row) : null
}

export function* readPastTakeovers(at: Address, limit: number): Steps<readonly TakeoverRow[]> {
  const found = yield* rows(
    `SELECT ${TAKEOVER_COLUMNS} FROM takeovers WHERE address = $1 ORDER BY began_at DESC LIMIT $2`,
    [formatAddress(at), limit],
  )
  return found.map(takeoverRow)
}

/** Returns the takeover that holds the place, or that ended this turn. */
export function* readHeldAgainst(tag: string, at: Address, turn: string | null): Steps<TakeoverRow | null> {
  const live = yield* readTakeoverAt(at)
  if (live?.state === 'held') return live
  const seq = turn === null ? null : rowSeq('t', tag, turn)
  if (seq === null) return null
  const columns = TAKEOVER_COLUMNS.split(', ').map((name) => `takeovers.${name}`)
  const row = yield* firstRow(
    `SELECT ${columns.join(', ')} FROM turns JOIN takeovers ON takeovers.id = turns.takeover
     WHERE turns.seq = $1 AND turns.state = 'failed'`,
    [seq],
  )
  return row ? takeoverRow(row) : null
}

/**
 * Returns the messages in a turn's place while it was held: those of people and those of its holders. They begin after
 * the last message that the agent got from there, and not before its session was opened. Returns the newest `limit`,
 * oldest first.
 */
export function* readHeldWords(tag: string, id: string, limit: number): Steps<readonly HeldWord[]> {
  const turn = yield* readTurn(tag, id)
  const before = rowSeq('t', tag, id)
  if (!turn || before === null || turn.session === null) return []
  const [last] = yield* readPastTakeovers(parseAddress(turn.address), 1)
  if (!last || last.since === null) return []
  const { integration, conversation, thread } = turn
  const way = yield* wayTo('turns', integration, conversation)
  const here = () => {
    const where = createConditions()
    where.add(way.sql, integration, conversation)
    where.add('seq < ?', before)
    if (thread === null) where.plain('thread IS NULL')
    else where.add('thread = ?', thread)
    return where
  }
  const given = here()
  given.plain('attempts > 0')
  const heard = given.build()
  const [newest] = yield* rows(
    `SELECT seq, received_at FROM turns ${heard.sql} ORDER BY ${way.order} DESC LIMIT 1`,
    [...heard.params] as Param[],
  )
  const since = Math.max(
    newest ? whole(newest, 'received_at') : 0,
    yield* openedAnew(turn.session, turn.address),
  )
  const untilMs = last.ended?.at ?? Number.MAX_SAFE_INTEGER
  if (untilMs < since) return []
  const said = here()
  said.add(`reason = 'held' AND state = 'consumed' AND body IS NOT NULL AND received_at >= ?`, since)
  if (newest) said.add('seq > ?', whole(newest, 'seq'))
  const { sql, params } = said.build()
  const heardRows = yield* rows(
    `SELECT ${TURN_COLUMNS} FROM turns ${sql} ORDER BY ${way.order} DESC LIMIT $${params.length + 1}`,
    [...params, limit] as Param[],
  )
  // At equal times, incoming messages come first.
  const words: (HeldWord & { readonly at: number })[] = heardRows.toReversed().map((row) => {
    const one = turnRow(tag, row)
    return { kind: 'in', turn: one, at: one.receivedAt }
  })
  const answers = createConditions()
  answers.add('integration = ? AND conversation = ?', integration, conversation)
  if (thread === null) answers.plain('thread IS NULL')
  else answers.add('thread = ?', thread)
  answers.add(`cause = 'takeover' AND op IS NOT NULL AND created_at >= ?`, since)
  const out = answers.build()
  const columns = SEND_COLUMNS.split(', ').map((name) => `o.${name}`)
  const saidRows = yield* rows(
    `SELECT ${columns.join(', ')}, (SELECT holder_name FROM takeovers WHERE takeovers.id = o.takeover) AS holder_name
     FROM outbox o ${out.sql} ORDER BY seq DESC LIMIT $${out.params.length + 1}`,
    [...out.params, limit] as Param[],
  )
  for (const row of saidRows.toReversed()) {
    const send = sendRow(tag, row)
    words.push({ kind: 'out', send, by: text(row, 'holder_name'), at: send.createdAt })
  }
  words.sort((one, other) => one.at - other.at || (one.kind === other.kind ? 0 : one.kind === 'in' ? -1 : 1))
  return words.slice(-limit)
}
