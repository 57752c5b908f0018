// Rows that a commit creates and writes once, at its end, in their final state. The same commit may hand over a
// received turn, or start to send an accepted answer. This applies only to PostgreSQL, where each version of a row is
// written whole with all its index entries, and reading it back is a round trip. Only the takes that follow directly
// may use these rows. Before any other verb they are written.
import type { SendRow, TurnRow } from '../../../contract/index.ts'
import { sendRow, turnRow } from '../../codec.ts'
import { type InsertShape, insert, type Row, type Steps, sideBySide } from '../../statement.ts'
import type { BornRow, VerbContext } from '../../verb-context.ts'
import { OUTBOX_INSERT } from '../sends/outbox-row.ts'
import { TURN_INSERT } from './keep-turns.ts'

/** The insert is not awaited. A key that another node used first is a collision, and the group runs again. */
function bornShape(of: InsertShape): InsertShape {
  return {
    table: of.table,
    columns: [...of.columns, 'attempts'],
    numbers: [...of.numbers, 'attempts'],
    conflict: '',
    identity: '',
  }
}

const TURNS = bornShape(TURN_INSERT)
const SENDS = bornShape(OUTBOX_INSERT)
const PLACE = {
  integration: TURNS.columns.indexOf('integration'),
  conversation: TURNS.columns.indexOf('conversation'),
  thread: TURNS.columns.indexOf('thread'),
}
const TURN_AT = placesOf(TURNS)
const SEND_AT = placesOf(SENDS)

interface Places {
  readonly lane: number
  readonly state: number
  readonly reason: number
}

function placesOf({ columns }: InsertShape): Places {
  const [lane, state, reason] = ['lane', 'state', 'reason'].map((column) => columns.indexOf(column))
  return { lane, state, reason } as Places
}

/** Writes the pending rows. Later queries find them in the database. */
export function* writePendingInserts({ born: { turns, sends } }: VerbContext): Steps<void> {
  if (turns.size === 0 && sends.size === 0) return
  const valuesOf = (rows: ReadonlyMap<number, BornRow>) =>
    [...rows.values()].map(({ values, attempts }) => [...values, attempts])
  const all = [insert(TURNS, valuesOf(turns)), insert(SENDS, valuesOf(sends))] as const
  turns.clear()
  sends.clear()
  yield* sideBySide(...all)
}

/** Returns the positions of waiting turns in this lane. */
export function bornQueuedTurns({ born }: VerbContext, lane: number): readonly number[] {
  return queuedIn(born.turns, TURN_AT, lane)
}

export function bornQueuedSends({ born }: VerbContext, lane: string): readonly Row[] {
  return queuedIn(born.sends, SEND_AT, lane).map((seq) => bornRow(SENDS, born.sends.get(seq)))
}

function queuedIn(rows: ReadonlyMap<number, BornRow>, at: Places, lane: number | string): readonly number[] {
  const found: number[] = []
  for (const [seq, { values }] of rows)
    if (values[at.lane] === lane && values[at.state] === 'queued') found.push(seq)
  return found
}

export function bornTurn({ born, tag }: VerbContext, seq: number): TurnRow | undefined {
  const row = born.turns.get(seq)
  return row && turnRow(tag, bornRow(TURNS, row))
}

export interface TurnPlace {
  readonly seq: number
  readonly integration: string
  readonly conversation: string
  readonly thread: string
}

/** Returns the places of those turns that are not written yet. */
export function bornPlaces({ born }: VerbContext, seqs: readonly number[]): readonly TurnPlace[] {
  return seqs.flatMap((seq) => {
    const values = born.turns.get(seq)?.values
    const at = (column: number) => String(values?.[column] ?? '')
    const { integration, conversation, thread } = PLACE
    return values
      ? [{ seq, integration: at(integration), conversation: at(conversation), thread: at(thread) }]
      : []
  })
}

export function bornSend({ born, tag }: VerbContext, seq: number): SendRow | undefined {
  const row = born.sends.get(seq)
  return row && sendRow(tag, bornRow(SENDS, row))
}

/** Columns that were not set have the table's default. */
function bornRow({ columns }: InsertShape, born: BornRow | undefined): Row {
  const row: Record<string, Row[string]> = { attempts: born?.attempts ?? 0 }
  const values = born?.values ?? []
  for (let at = 0; at < values.length; at++) row[columns[at] as string] = values[at] ?? null
  return row
}

/** Moves pending turns to `handed`. Returns those already in the database, which must be changed there. */
export function handBorn<Turn extends { readonly seq: number }>(
  { born }: VerbContext,
  turns: readonly Turn[],
): readonly Turn[] {
  return turns.filter(({ seq }) => !moved(born.turns.get(seq), TURN_AT, 'handed'))
}

export function sendBorn<Send extends { readonly seq: number }>(
  { born }: VerbContext,
  sends: readonly Send[],
): readonly Send[] {
  return sends.filter(({ seq }) => !moved(born.sends.get(seq), SEND_AT, 'sending'))
}

function moved(row: BornRow | undefined, at: Places, to: string): boolean {
  if (!row) return false
  row.values[at.state] = to
  row.values[at.reason] = null
  row.attempts += 1
  return true
}
