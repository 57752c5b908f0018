// Reads the rows of one person, one window of positions at a time.
import {
  type Identity,
  type PersonCursor,
  type PersonWindow,
  rowId,
  rowSeq,
  type TurnRow,
} from '../../contract/index.ts'
import { APPROVAL_COLUMNS, approvalRow, SEND_COLUMNS, sendRow, TURN_COLUMNS, turnRow } from '../codec.ts'
import { type Row, rows, type Steps, text, textOrNull, whole } from '../statement.ts'
import { edgesOf } from './conditions.ts'

/** Positions per window: some ten milliseconds of reading. */
const WINDOW = 10_000

export function* readPerson(tag: string, who: Identity, cursor: PersonCursor): Steps<PersonWindow> {
  const turns = yield* edgesOf('turns')
  if (cursor.turns < turns.to) {
    const from = Math.max(cursor.turns, turns.from - 1)
    const said = yield* turnsIn(tag, who, from)
    const next = { ...cursor, turns: Math.min(from + WINDOW, turns.to) }
    return { turns: said, sends: [], approvals: yield* approvalsOf(said), next }
  }
  const outbox = yield* edgesOf('outbox')
  if (cursor.sends >= outbox.to) return { turns: [], sends: [], approvals: [], next: null }
  const from = Math.max(cursor.sends, outbox.from - 1)
  const sends = yield* sendsIn(tag, who, from)
  return { turns: [], sends, approvals: [], next: { ...cursor, sends: Math.min(from + WINDOW, outbox.to) } }
}

function* turnsIn(tag: string, who: Identity, from: number): Steps<readonly TurnRow[]> {
  // By position alone. An index on the integration would read its whole history.
  const found = yield* rows(
    `SELECT ${TURN_COLUMNS} FROM turns WHERE seq > $1 AND seq <= $2 AND integration || '' = $3 AND sender = $4
     ORDER BY seq`,
    [from, from + WINDOW, who.integration, who.sender],
  )
  return found.map((row) => turnRow(tag, row))
}

function* approvalsOf(turns: readonly TurnRow[]) {
  if (turns.length === 0) return []
  const found = yield* rows(`SELECT ${APPROVAL_COLUMNS} FROM approvals WHERE turn @any($1) ORDER BY seq`, [
    turns.map((turn) => turn.id),
  ])
  return found.map(approvalRow)
}

function* sendsIn(tag: string, who: Identity, from: number) {
  const found = yield* rows(
    `SELECT ${SEND_COLUMNS} FROM outbox WHERE seq > $1 AND seq <= $2 AND integration || '' = $3 ORDER BY seq`,
    [from, from + WINDOW, who.integration],
  )
  const answered = yield* answersTo(tag, who, found)
  const alone = new Map<string, boolean>()
  const theirs: Row[] = []
  for (const row of found) {
    const conversation = text(row, 'conversation')
    if (!alone.has(conversation)) alone.set(conversation, yield* speaksAlone(who, conversation))
    if (alone.get(conversation) || answered.has(textOrNull(row, 'turn') ?? '')) theirs.push(row)
  }
  return theirs.map((row) => sendRow(tag, row))
}

/** Which of the answered turns belong to this person. */
function* answersTo(tag: string, who: Identity, sends: readonly Row[]): Steps<ReadonlySet<string>> {
  const seqs = sends.flatMap((row) => rowSeq('t', tag, textOrNull(row, 'turn') ?? '') ?? [])
  if (seqs.length === 0) return new Set()
  const found = yield* rows(
    `SELECT seq FROM turns WHERE seq @any($1) AND integration || '' = $2 AND sender = $3`,
    [[...new Set(seqs)], who.integration, who.sender],
  )
  return new Set(found.map((row) => rowId('t', tag, whole(row, 'seq'))))
}

/** Whether it is the person's direct chat: its id is theirs, or they are its only sender. */
function* speaksAlone(who: Identity, conversation: string): Steps<boolean> {
  if (conversation === who.sender) return true
  const speakers = yield* rows('SELECT sender FROM turns WHERE @at_place($1, $2) GROUP BY sender LIMIT 2', [
    who.integration,
    conversation,
  ])
  return speakers.length === 1 && text(speakers[0] as Row, 'sender') === who.sender
}
