// Many rows in one statement. Each column is an array, so the text is the same for any number of rows and is planned
// once.
import type { InsertShape, Param, UpdateShape, Value } from '../statement.ts'
import { floorText } from './horizon.ts'
import type { Asked } from './pipeline.ts'

/** Runs a statement text with its values. */
export type Ask = (text: string, values: readonly (Param | undefined)[]) => Promise<Asked>

/** Returns a list as a PostgreSQL array literal. The driver's own conversion is several times slower. */
export function asParameter(value: unknown): unknown {
  if (!Array.isArray(value)) return value
  let written = ''
  for (const one of value as readonly (Value | undefined)[])
    written += `${written === '' ? '' : ','}${element(one)}`
  return `{${written}}`
}

const QUOTED = /["\\]/
const EACH_QUOTED = /["\\]/g

function element(value: Value | undefined): string {
  if (value === null || value === undefined) return 'NULL'
  if (typeof value === 'number') return String(value)
  return `"${QUOTED.test(value) ? value.replace(EACH_QUOTED, '\\$&') : value}"`
}

type Rows = readonly (readonly Value[])[]

/** Inserts rows and returns which of them were written. */
export async function insertMany(ask: Ask, into: InsertShape, rows: Rows): Promise<readonly boolean[]> {
  const { rows: returned } = await ask(textOf(into, insertText), columnsOf(rows, into.columns.length))
  if (into.identity === '') return rows.map(() => true)
  const at = into.columns.indexOf(into.identity)
  const ids = new Set(returned.map((row) => row[into.identity]))
  // Of equal identities in one statement, only the first is written.
  return rows.map((row) => ids.delete(row[at] as Value))
}

export async function updateMany(ask: Ask, of: UpdateShape, rows: Rows): Promise<void> {
  await ask(textOf(of, updateText), columnsOf(rows, of.columns.length))
}

function columnsOf(rows: Rows, width: number): Param[] {
  return Array.from({ length: width }, (_, column) => rows.map((row) => row[column] as Value) as Param)
}

const texts = new WeakMap<object, string>()

function textOf<Shape extends object>(shape: Shape, write: (shape: Shape) => string): string {
  const known = texts.get(shape)
  if (known !== undefined) return known
  const text = write(shape)
  texts.set(shape, text)
  return text
}

/** Keeps the given order, which is the order of row locks and of positions. */
function given({ columns, numbers }: Pick<InsertShape, 'columns' | 'numbers'>): string {
  const arrays = columns.map((column, at) => `$${at + 1}::${numbers.includes(column) ? 'bigint' : 'text'}[]`)
  return `unnest(${arrays.join(', ')}) WITH ORDINALITY AS given(${columns.join(', ')}, nth)`
}

function insertText(into: InsertShape): string {
  const columns = into.columns.join(', ')
  const returning = into.identity === '' ? '' : ` RETURNING ${into.identity}`
  if (!into.positioned) {
    return `INSERT INTO ${into.table} (${columns}) SELECT ${columns} FROM ${given(into)} ORDER BY nth ${into.conflict}${returning}`
  }
  return `WITH floor AS MATERIALIZED (${floorText(into.table)})
    INSERT INTO ${into.table} (seq, ${columns}) SELECT nextval('${into.table}_position'), ${columns}
    FROM (SELECT given.* FROM floor, ${given(into)} ORDER BY nth) AS rows ${into.conflict}${returning}`
}

function updateText(of: UpdateShape): string {
  const [key = '', ...changed] = of.columns
  const sets = changed.map((column) => `${column} = given.${column}`)
  return `UPDATE ${of.table} SET ${sets.join(', ')} FROM ${given(of)} WHERE ${of.table}.${key} = given.${key}`
}
