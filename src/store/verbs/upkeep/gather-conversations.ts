// The list of conversations. The commits that receive and send do not update it, because that would cost each message a
// page write. New rows are added here, some thousand at a time, when the list is read and during upkeep.
import { SCHEDULE_PLACE, type TurnBody } from '../../../contract/index.ts'
import {
  firstRow,
  horizon,
  type InsertShape,
  insert,
  type Row,
  rows,
  run,
  type Steps,
  text,
  textOrNull,
  type Value,
  whole,
} from '../../statement.ts'
import { oneByOne, type VerbContext } from '../../verb-context.ts'

const AT_A_TIME = 4_096
const MOST_WORDS = 300

const latest = (column: string) =>
  `${column} = CASE WHEN excluded.last_at >= conversations.last_at THEN COALESCE(excluded.${column}, conversations.${column}) ELSE conversations.${column} END`
const CONVERSATION: InsertShape = {
  table: 'conversations',
  columns: [
    ...['integration', 'conversation', 'thread', 'platform', 'agent', 'sender', 'words', 'turns', 'sends'],
    ...['first_at', 'last_at', 'first_turn', 'last_turn', 'last_send'],
  ],
  numbers: ['turns', 'sends', 'first_at', 'last_at', 'first_turn', 'last_turn', 'last_send'],
  conflict: `ON CONFLICT (integration, conversation, thread) DO UPDATE SET ${latest('agent')}, ${latest('sender')},
    words = CASE WHEN excluded.words = '' THEN conversations.words ELSE excluded.words END,
    turns = conversations.turns + excluded.turns, sends = conversations.sends + excluded.sends,
    first_at = CASE WHEN excluded.first_at < conversations.first_at THEN excluded.first_at ELSE conversations.first_at END,
    last_at = CASE WHEN excluded.last_at > conversations.last_at THEN excluded.last_at ELSE conversations.last_at END,
    first_turn = COALESCE(conversations.first_turn, excluded.first_turn),
    last_turn = COALESCE(excluded.last_turn, conversations.last_turn),
    last_send = COALESCE(excluded.last_send, conversations.last_send)`,
  identity: 'conversation',
}

export interface GatherEnds {
  readonly turns: number
  readonly outbox: number
}

/** Returns the positions up to which rows are final; null: all rows are in the list. */
export function* readGatherEnds(): Steps<GatherEnds | null> {
  const ends = { turns: yield* endOf('turns'), outbox: yield* endOf('outbox') }
  const marks = yield* rows('SELECT name, seq FROM gathered')
  const told = new Map(marks.map((row) => [text(row, 'name'), whole(row, 'seq')]))
  const isDone = ends.turns <= (told.get('turns') ?? 0) && ends.outbox <= (told.get('outbox') ?? 0)
  return isDone ? null : ends
}

function* endOf(table: 'turns' | 'outbox'): Steps<number> {
  const there = yield* horizon(table)
  const last = yield* firstRow(`SELECT max(seq) AS last FROM ${table}`)
  return Math.min(there, last ? whole(last, 'last') : 0)
}

export const gatherConversations = oneByOne(function* (
  _context: VerbContext,
  ends: GatherEnds,
): Steps<boolean> {
  const turns = yield* gather('turns', ends.turns, { time: 'received_at', valuesOf: fromTurn })
  const sends = yield* gather('outbox', ends.outbox, { time: 'created_at', valuesOf: fromSend })
  return turns || sends
})

/** True: more rows remain. */
function* gather(
  table: 'turns' | 'outbox',
  end: number,
  { time, valuesOf }: { readonly time: string; readonly valuesOf: (row: Row) => readonly Value[] },
): Steps<boolean> {
  // Of several nodes, one does this. A node that waited here continues where the other one stopped.
  yield* run('INSERT INTO gathered (name, seq) VALUES ($1, 0) ON CONFLICT (name) DO NOTHING', [table])
  const mark = yield* firstRow('SELECT seq FROM gathered WHERE name = $1 @lock', [table])
  const from = mark ? whole(mark, 'seq') : 0
  if (end <= from) return false
  const to = Math.min(end, from + AT_A_TIME)
  const body = table === 'turns' ? 'body, sender' : "'' AS body, '' AS sender"
  // A platform's later report is a row, but not a message.
  const isSaid = table === 'turns' ? `AND (reason IS NULL OR reason <> 'report')` : ''
  const found = yield* rows(
    `SELECT g.integration, g.conversation, g.place, g.many, g.first_at, g.last_at, g.first_seq, g.last_seq, platform,
     agent, ${body} FROM (SELECT integration, conversation, COALESCE(thread, '') AS place, count(*) AS many,
       min(${time}) AS first_at, max(${time}) AS last_at, min(seq) AS first_seq, max(seq) AS last_seq
       FROM ${table} WHERE seq > $1 AND seq <= $2 ${isSaid} GROUP BY integration, conversation, COALESCE(thread, '')) g
     JOIN ${table} ON ${table}.seq = g.last_seq WHERE g.integration <> '${SCHEDULE_PLACE}'
     ORDER BY g.integration, g.conversation, g.place`,
    [from, to],
  )
  yield* insert(
    CONVERSATION,
    found.map((row) => valuesOf(row)),
  )
  yield* run('UPDATE gathered SET seq = $2 WHERE name = $1', [table, to])
  return to < end
}

const keyOf = (row: Row) => [text(row, 'integration'), text(row, 'conversation'), text(row, 'place')]

function fromTurn(row: Row): readonly Value[] {
  const [sender, agent] = [text(row, 'sender'), textOrNull(row, 'agent')]
  const words = [text(row, 'conversation'), text(row, 'place'), sender, nameIn(textOrNull(row, 'body'))]
  return [
    ...keyOf(row),
    ...[text(row, 'platform'), agent, sender, words.join(' ').toLowerCase().slice(0, MOST_WORDS)],
    ...[whole(row, 'many'), 0, whole(row, 'first_at'), whole(row, 'last_at')],
    ...[whole(row, 'first_seq'), whole(row, 'last_seq'), null],
  ]
}

/** A conversation without incoming messages has no search text yet. */
function fromSend(row: Row): readonly Value[] {
  return [
    ...keyOf(row),
    ...[text(row, 'platform'), textOrNull(row, 'agent'), null, ''],
    ...[0, whole(row, 'many'), whole(row, 'first_at'), whole(row, 'last_at')],
    ...[null, null, whole(row, 'last_seq')],
  ]
}

function nameIn(body: string | null): string {
  if (body === null || body === '') return ''
  return (JSON.parse(body) as TurnBody).senderName ?? ''
}
