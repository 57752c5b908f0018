// Writes the rows of received turns, many per statement, with their sessions, keys, ledger entries and counters.
// receive and schedules use it.
import {
  formatAddress,
  type NewTurn,
  type ReasonCode,
  type ReceiveItem,
  type ReceiveResult,
  rowId,
  SwitchboardError,
  sessionKey,
  type TurnState,
} from '../../../contract/index.ts'
import { digestOf } from '../../mac.ts'
import {
  firstRow,
  type InsertShape,
  insert,
  reserve,
  rows,
  run,
  type Steps,
  sideBySide,
  text,
  textOrNull,
  type Value,
  whole,
} from '../../statement.ts'
import { count, FOUND_LATE, hint, type KnownSession, type VerbContext } from '../../verb-context.ts'
import { bearSessions, currentSessions, factsOfSession, firstSession, type SessionBirth } from './sessions.ts'

export const TURN_INSERT: InsertShape = {
  table: 'turns',
  columns: [
    'seq',
    'integration',
    'conversation',
    'message_id',
    'edit_version',
    'thread',
    'platform',
    'source',
    'agent',
    'session',
    'lane',
    'sender',
    'state',
    'reason',
    'body',
    'received_at',
    'updated_at',
    'late_at',
  ],
  numbers: ['seq', 'edit_version', 'lane', 'received_at', 'updated_at', 'late_at'],
  conflict: 'ON CONFLICT (integration, conversation, message_id, edit_version) DO NOTHING',
  identity: 'seq',
}

const SEQ = TURN_INSERT.columns.indexOf('seq')
const SESSION = TURN_INSERT.columns.indexOf('session')
const LANE = TURN_INSERT.columns.indexOf('lane')

/** The first reads of `keep`, for items that are all stored at once. */
interface LookedAhead {
  readonly items: number
  readonly current: ReadonlyMap<string, KnownSession>
  readonly seqs: readonly number[]
  /** None of these turns was received before; null: one was, or it was not checked. */
  readonly fresh: readonly NewTurn[] | null
}

/** Reads ahead in the round trip of the first queries. Where queries cost no round trip, nothing is read ahead. */
export function* lookAhead(context: VerbContext, items: readonly ReceiveItem[]): Steps<LookedAhead | null> {
  const isPlain = items.every((item) => item.keepRow && item.effects.length === 0)
  if (context.memory.lanes || !isPlain || items.length === 0) return null
  const turns = items.map(({ turn }) => turn)
  const [current, seqs, isFresh] = yield* sideBySide(
    currentSessions(context, wantedKeys(items, keysOf(items))),
    reserve('turns', items.length),
    areFresh(turns),
  )
  return { items: items.length, current, seqs, fresh: isFresh ? turns : null }
}

const KNOWN_KEYS = `SELECT turns.seq FROM unnest($1::text[], $2::text[], $3::text[], $4::bigint[])
    AS asked(integration, conversation, message_id, edit_version)
  JOIN turns ON turns.integration = asked.integration AND turns.conversation = asked.conversation
    AND turns.message_id = asked.message_id AND turns.edit_version = asked.edit_version LIMIT 1`

/** Whether no key is known and none occurs twice. */
function* areFresh(turns: readonly NewTurn[]): Steps<boolean> {
  const known = yield* rows(KNOWN_KEYS, [
    turns.map(({ at }) => at.integration),
    turns.map(({ at }) => at.conversation),
    turns.map(({ messageId }) => messageId),
    turns.map(({ editVersion }) => editVersion),
  ])
  const keys = turns.map(({ at, messageId, editVersion }) =>
    JSON.stringify([at.integration, at.conversation, messageId, editVersion]),
  )
  return known.length === 0 && new Set(keys).size === keys.length
}

function keysOf(items: readonly ReceiveItem[]): readonly string[] {
  return items.map(({ turn }) => (turn.agent === null ? '' : sessionKey(turn.agent, turn.at)))
}

function wantedKeys(items: readonly ReceiveItem[], keys: readonly string[]): readonly string[] {
  return keys.filter((key, at) => key !== '' && items[at]?.state !== 'refused')
}

/**
 * Writes rows for all items; a known key returns the first row's facts. `leadsTo`: the other session to which the only
 * item goes. `ahead`: earlier reads, used if they cover the same number of items. If all of them are new, the rows are
 * written at the end of the commit. Throws `internal` for a queued turn without an agent, or an unknown session.
 */
export function* keep(
  context: VerbContext,
  items: readonly ReceiveItem[],
  { leadsTo, ahead }: { readonly leadsTo?: string; readonly ahead?: LookedAhead | null } = {},
): Steps<ReceiveResult[]> {
  const keys = keysOf(items)
  const looked = ahead && ahead.items === items.length ? ahead : yield* lookNow(context, items, keys)
  const { current, seqs } = looked
  const isBorn = leadsTo === undefined && items.every(({ turn }, at) => turn === looked.fresh?.[at])
  const first = leadsTo === undefined ? yield* firstSessions(items, keys, current) : NONE
  const led = leadsTo === undefined ? null : yield* sessionNamed(context, leadsTo)
  const sessions: (SessionPlace | null)[] = []
  const values: Value[][] = []
  const digests: string[] = []
  for (let at = 0; at < items.length; at++) {
    const item = items[at] as ReceiveItem
    const session = led ?? sessionFor(item, keys[at] as string, current, first)
    const body = item.turn.body === null ? null : JSON.stringify(item.turn.body)
    sessions.push(session)
    digests.push(body === null ? item.turn.bodyDigest : digestOf(body))
    values.push(turnValues(context.now, seqs[at] as number, item, session, body))
  }
  const written = isBorn ? null : yield* insert(TURN_INSERT, values)
  const births = new Map<string, SessionBirth>()
  const results: (ReceiveResult | null)[] = []
  // All rows are recorded before any other query. A take within this commit records its move after that.
  for (let at = 0; at < items.length; at++) {
    const item = items[at] as ReceiveItem
    if (written && !written[at]) {
      results.push(null)
      continue
    }
    const session = sessions[at] ?? null
    const id = rowId('t', context.tag, seqs[at] as number)
    recordReceived(context, item, id, digests[at] as string)
    if (item.state === 'queued' && session && item.turn.agent !== null) {
      hint(context, { kind: 'turns', lane: session.id, scope: item.turn.agent })
      const key = keys[at] as string
      const firstOne = first.get(key)
      if (firstOne && !births.has(key)) {
        births.set(key, {
          key,
          agent: item.turn.agent,
          address: formatAddress(item.turn.at),
          session: firstOne,
        })
      }
    }
    results.push({
      id,
      duplicate: false,
      state: item.state,
      reason: item.reason,
      session: session?.id ?? null,
      effects: [],
    })
  }
  if (births.size > 0) {
    for (const { id, seq } of yield* bearSessions(context, [...births.values()])) {
      if (!isBorn)
        yield* run('UPDATE turns SET lane = $1 WHERE seq @any($3) AND session = $2', [seq, id, seqs])
      else for (const row of values) if (row[SESSION] === id) row[LANE] = seq
    }
  }
  if (isBorn)
    for (const row of values) context.born.turns.set(row[SEQ] as number, { values: row, attempts: 0 })
  const repeats = items.filter((_, at) => results[at] === null)
  const before = yield* sideBySide(...repeats.map(({ turn }) => firstReceived(context, turn)))
  let met = 0
  return results.map((result) => result ?? (before[met++] as ReceiveResult))
}

function* lookNow(
  context: VerbContext,
  items: readonly ReceiveItem[],
  keys: readonly string[],
): Steps<Omit<LookedAhead, 'items'>> {
  const [current, seqs] = yield* sideBySide(
    currentSessions(context, wantedKeys(items, keys)),
    reserve('turns', items.length),
  )
  return { current, seqs, fresh: null }
}

const NONE: ReadonlyMap<string, KnownSession> = new Map()

/** Sessions for queued items without one. They are stored only if a row is written. */
function* firstSessions(
  items: readonly ReceiveItem[],
  keys: readonly string[],
  current: ReadonlyMap<string, KnownSession>,
): Steps<ReadonlyMap<string, KnownSession>> {
  const missing = new Set<string>()
  for (let at = 0; at < items.length; at++) {
    const key = keys[at] as string
    if (items[at]?.state === 'queued' && key !== '' && !current.has(key)) missing.add(key)
  }
  if (missing.size === 0) return NONE
  const seqs = yield* reserve('sessions', missing.size)
  return new Map([...missing].map((key, at) => [key, firstSession(key, seqs[at] as number)]))
}

/** The part of a session that a turn's row contains. */
type SessionPlace = Pick<KnownSession, 'id' | 'seq'>

function* sessionNamed(context: VerbContext, id: string): Steps<SessionPlace> {
  const facts = yield* factsOfSession(context, id)
  if (!facts) throw new SwitchboardError('internal', `there is no session ${id}`)
  return { id, seq: facts.seq }
}

/** A queued turn always has a session. Strangers create none. */
function sessionFor(
  item: ReceiveItem,
  key: string,
  current: ReadonlyMap<string, KnownSession>,
  first: ReadonlyMap<string, KnownSession>,
): KnownSession | null {
  if (item.state === 'queued') {
    if (key === '') throw new SwitchboardError('internal', 'a queued turn needs an agent')
    return current.get(key) ?? first.get(key) ?? null
  }
  return item.state === 'refused' ? null : (current.get(key) ?? null)
}

function turnValues(
  now: number,
  seq: number,
  item: ReceiveItem,
  session: SessionPlace | null,
  body: string | null,
): Value[] {
  const { turn } = item
  return [
    seq,
    turn.at.integration,
    turn.at.conversation,
    turn.messageId,
    turn.editVersion,
    turn.at.thread ?? null,
    turn.platform,
    turn.source,
    turn.agent,
    session?.id ?? null,
    session?.seq ?? null,
    turn.sender,
    item.state,
    item.reason,
    body,
    now,
    now,
    turn.lateAt ?? null,
  ]
}

function recordReceived(context: VerbContext, item: ReceiveItem, id: string, digest: string): void {
  const { turn, state } = item
  const { integration } = turn.at
  const reason = item.reason ?? ''
  context.entries.push({
    kind: 'turn',
    ref: id,
    integration,
    from: '',
    to: state,
    reason,
    count: 1,
    digest,
    detail: JSON.stringify({
      sender: turn.sender,
      address: formatAddress(turn.at),
      message_id: turn.messageId,
      ...(turn.lateAt === undefined ? {} : { late: String(turn.lateAt) }),
      ...item.detail,
    }),
  })
  if (turn.lateAt !== undefined) count(context, { integration, name: FOUND_LATE, reason: '', delta: 1 })
  count(context, { integration, name: 'received', reason: '', delta: 1 })
  count(context, { integration, name: state, reason: state === 'queued' ? '' : reason, delta: 1 })
}

function* firstReceived(context: VerbContext, turn: NewTurn): Steps<ReceiveResult> {
  const known = yield* knownTurn(context, turn)
  if (!known) throw new Error('a turn was neither written nor found')
  return known
}

export function* knownTurn(context: VerbContext, turn: NewTurn): Steps<ReceiveResult | null> {
  const row = yield* firstRow(
    `SELECT seq, state, reason, session FROM turns
     WHERE integration = $1 AND conversation = $2 AND message_id = $3 AND edit_version = $4`,
    [turn.at.integration, turn.at.conversation, turn.messageId, turn.editVersion],
  )
  if (!row) return null
  return {
    id: rowId('t', context.tag, whole(row, 'seq')),
    duplicate: true,
    state: text(row, 'state') as TurnState,
    reason: textOrNull(row, 'reason') as ReasonCode | null,
    session: textOrNull(row, 'session'),
    effects: [],
  }
}
