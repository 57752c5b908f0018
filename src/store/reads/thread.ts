// Reads one conversation as people saw it: turns, sends and takeovers in order of time, newest first, by keyset. Each
// kind continues after its own position, so a page costs only what it shows.
import {
  type Address,
  formatAddress,
  rowId,
  type TakeoverMark,
  type ThreadCursor,
  type ThreadPage,
  type ThreadRow,
} from '../../contract/index.ts'
import { APPROVAL_COLUMNS, approvalRow, SEND_COLUMNS, sendRow, TURN_COLUMNS, turnRow } from '../codec.ts'
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
import { TAKEOVER_COLUMNS, takeoverRow } from './takeovers.ts'
import { turnEventRow } from './turn-events.ts'

interface Query {
  readonly limit: number
  readonly before?: ThreadCursor
}

interface Found {
  readonly kind: 'turn' | 'send' | 'takeover'
  readonly at: number
  /** Its position among the rows of its kind. */
  readonly seq: number
  readonly row: Row
  readonly mark?: TakeoverMark
}

const FIRST: ThreadCursor = {
  turn: Number.MAX_SAFE_INTEGER,
  send: Number.MAX_SAFE_INTEGER,
  takeover: Number.MAX_SAFE_INTEGER,
}

export function* readThread(tag: string, at: Address, { limit, before = FIRST }: Query): Steps<ThreadPage> {
  const queues = [
    yield* turnsBefore(at, before.turn, limit),
    yield* sendsBefore(at, before.send, limit),
    yield* takeoversBefore(at, before.takeover, limit),
  ]
  const page = merged(queues, limit)
  const lowest = (kind: Found['kind']) => page.findLast((one) => one.kind === kind)?.seq ?? before[kind]
  const next = { turn: lowest('turn'), send: lowest('send'), takeover: lowest('takeover') }
  return { rows: joined(yield* withEventsAndApprovals(tag, page)), next: page.length === limit ? next : null }
}

/**
 * Merges by time; within a kind by position, whatever the clocks showed. Rows of one commit share one time: the
 * message comes before its answer, and both before the takeover event.
 */
function merged(queues: readonly (readonly Found[])[], limit: number): readonly Found[] {
  const heads = queues.map(() => 0)
  const page: Found[] = []
  while (page.length < limit) {
    let newest = -1
    for (const [at, queue] of queues.entries()) {
      const head = queue[heads[at] ?? 0]
      const best = newest < 0 ? undefined : queues[newest]?.[heads[newest] ?? 0]
      if (head && (!best || head.at >= best.at)) newest = at
    }
    if (newest < 0) break
    page.push(queues[newest]?.[heads[newest] ?? 0] as Found)
    heads[newest] = (heads[newest] ?? 0) + 1
  }
  return page
}

/**
 * Reads between the first and the last known turn of the place, and the turns that the conversation list does not
 * cover yet.
 */
function* turnsBefore(at: Address, before: number, limit: number): Steps<readonly Found[]> {
  const { integration, conversation, thread = '' } = at
  const known = yield* firstRow(
    'SELECT first_turn, last_turn FROM conversations WHERE integration = $1 AND conversation = $2 AND thread = $3',
    [integration, conversation, thread],
  )
  const mark = yield* firstRow(`SELECT seq FROM gathered WHERE name = 'turns'`)
  const gathered = mark ? whole(mark, 'seq') : 0
  const fresh = createConditions()
  fresh.add(
    `integration || '' = ? AND conversation || '' = ? AND seq > ?`,
    integration,
    conversation,
    gathered,
  )
  const found = before <= gathered ? [] : yield* turnRows(fresh, at, { before, limit, order: 'seq' })
  const last = known ? wholeOrNull(known, 'last_turn') : null
  if (last === null || found.length === limit) return found
  const way = yield* wayTo('turns', integration, conversation)
  const old = createConditions()
  old.add(way.sql, integration, conversation)
  old.add('seq >= ? AND seq <= ?', wholeOrNull(known ?? {}, 'first_turn') ?? 0, Math.min(last, gathered))
  const more = { before, limit: limit - found.length, order: way.order }
  return [...found, ...(yield* turnRows(old, at, more))]
}

function* turnRows(
  where: ReturnType<typeof createConditions>,
  { thread }: Address,
  { before, limit, order }: { readonly before: number; readonly limit: number; readonly order: string },
): Steps<readonly Found[]> {
  if (thread === undefined) where.plain('thread IS NULL')
  else where.add('thread = ?', thread)
  where.add('seq < ?', before)
  // A platform's later report about a send is shown with that send, as its receipt or its failure.
  where.plain("(reason IS NULL OR reason <> 'report')")
  const { sql, params } = where.build()
  const found = yield* rows(
    `SELECT ${TURN_COLUMNS} FROM turns ${sql} ORDER BY ${order} DESC LIMIT $${params.length + 1}`,
    [...params, limit] as Param[],
  )
  return found.map((row) => ({ kind: 'turn', at: whole(row, 'received_at'), seq: whole(row, 'seq'), row }))
}

function* sendsBefore(at: Address, before: number, limit: number): Steps<readonly Found[]> {
  const where = createConditions()
  where.add('integration = ? AND conversation = ? AND seq < ?', at.integration, at.conversation, before)
  if (at.thread === undefined) where.plain('thread IS NULL')
  else where.add('thread = ?', at.thread)
  const { sql, params } = where.build()
  const found = yield* rows(
    `SELECT ${SEND_COLUMNS}, (SELECT holder FROM takeovers WHERE takeovers.id = outbox.takeover) AS holder
     FROM outbox ${sql} ORDER BY seq DESC LIMIT $${params.length + 1}`,
    [...params, limit] as Param[],
  )
  return found.map((row) => ({ kind: 'send', at: whole(row, 'created_at'), seq: whole(row, 'seq'), row }))
}

/** One takeover ends before the next begins, even in the same millisecond. */
const MARK_ORDER: readonly TakeoverMark[] = ['ended', 'asked', 'taken']
const PLACES = 4

function* takeoversBefore(at: Address, before: number, limit: number): Steps<readonly Found[]> {
  const found = yield* rows(
    `SELECT ${TAKEOVER_COLUMNS} FROM takeovers WHERE address = $1 AND began_at < $2
     ORDER BY began_at DESC LIMIT $3`,
    // One more, because all marks of the newest takeover may lie beyond the position.
    [formatAddress(at), Math.ceil(before / PLACES), limit + 1],
  )
  const marks = found.flatMap((row) => {
    const times = { asked: 'asked_at', taken: 'since', ended: 'ended_at' } as const
    return MARK_ORDER.flatMap((mark, place): Found[] => {
      const time = wholeOrNull(row, times[mark])
      return time === null ? [] : [{ kind: 'takeover', at: time, seq: time * PLACES + place, row, mark }]
    })
  })
  return marks
    .filter(({ seq }) => seq < before)
    .toSorted((a, b) => b.seq - a.seq)
    .slice(0, limit)
}

/** Adjacent events of one takeover become one entry. Newest first. */
function joined(page: readonly ThreadRow[]): readonly ThreadRow[] {
  const entries: ThreadRow[] = []
  for (const row of page) {
    const newer = entries.at(-1)
    if (row.kind === 'takeover' && newer?.kind === 'takeover' && newer.takeover.id === row.takeover.id)
      entries.splice(-1, 1, { ...row, marks: [...row.marks, ...newer.marks] })
    else entries.push(row)
  }
  return entries
}

/** Adds the events and the approvals of each turn. */
function* withEventsAndApprovals(tag: string, page: readonly Found[]): Steps<readonly ThreadRow[]> {
  const seqs = page.flatMap(({ kind, seq }) => (kind === 'turn' ? [seq] : []))
  const events = new Map<number, Row[]>()
  const approvals = new Map<string, Row[]>()
  if (seqs.length > 0) {
    const happened = yield* rows(
      'SELECT turn, n, at, kind, body FROM turn_events WHERE turn @any($1) ORDER BY turn, n',
      [seqs],
    )
    for (const row of happened) gather(events, whole(row, 'turn'), row)
    const asked = yield* rows(
      `SELECT ${APPROVAL_COLUMNS} FROM approvals WHERE turn @any($1) AND turn IS NOT NULL ORDER BY seq`,
      [seqs.map((seq) => rowId('t', tag, seq))],
    )
    for (const row of asked) gather(approvals, text(row, 'turn'), row)
  }
  return page.map(({ kind, seq, row, mark }): ThreadRow => {
    if (kind === 'takeover')
      return { kind, takeover: takeoverRow(row), marks: mark === undefined ? [] : [mark] }
    if (kind === 'send') return { kind, send: sendRow(tag, row), by: textOrNull(row, 'holder') }
    return {
      kind,
      turn: turnRow(tag, row),
      events: (events.get(seq) ?? []).map(turnEventRow),
      approvals: (approvals.get(rowId('t', tag, seq)) ?? []).map(approvalRow),
    }
  })
}

function gather<Key>(map: Map<Key, Row[]>, key: Key, row: Row): void {
  const known = map.get(key)
  if (known) known.push(row)
  else map.set(key, [row])
}
