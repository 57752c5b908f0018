// Many rows in one statement: a column is an array, so the text is the same for any number of rows and is planned once.
import type { InsertShape, Param, UpdateShape, Value } from '../statement.ts'
import { floorText } from './horizon.ts'
import type { Asked } from './pipeline.ts'

/** The text of a statement, and its values. */
export type Ask = (text: string, values: readonly (Param | undefined)[]) => Promise<Asked>

/** A list in the words of the database: the driver's own way costs several times as much. */
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

/** Says which of them were written. */
export async function insertMany(ask: Ask, into: InsertShape, rows: Rows): Promise<readonly boolean[]> {
  const { rows: returned } = await ask(textOf(into, insertText), columnsOf(rows, into.columns.length))
  if (into.identity === '') return rows.map(() => true)
  const at = into.columns.indexOf(into.identity)
  const ids = new Set(returned.map((row) => row[into.identity]))
  // The same identity twice in one statement is written once: the first one counts.
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

/** In the order in which they were given: that is the order in which rows are locked, and positions given out. */
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
