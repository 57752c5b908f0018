// The statements that a verb yields, as data. Each verb is written once as a generator. SQLite runs it synchronously
// inside the group commit, PostgreSQL asynchronously. The SQL is shared: `$n` placeholders and a few tokens:
//
//   @any($n)  membership in the array given as $n        @lock  row lock where the database has them
//   @seq      the type of a table's integer position (migrations only)
//   @places   what leads from a conversation to its turns   @at_place($a, $b)  a turn is in this integration's conversation

export type Value = string | number | null
export type Param = Value | Uint8Array | readonly string[] | readonly number[]
export type Row = Readonly<Record<string, Value | Uint8Array>>

export type Statement =
  | { readonly form: 'rows'; readonly sql: string; readonly params: readonly Param[] }
  /** `unheard`: the number of changed rows is not needed, so it is not awaited. If it fails, the commit fails. */
  | {
      readonly form: 'run'
      readonly sql: string
      readonly params: readonly Param[]
      readonly unheard?: true
    }
  /** Many rows for one insert. The result has one boolean per row: whether it was written. */
  | { readonly form: 'insert'; readonly into: InsertShape; readonly rows: readonly (readonly Value[])[] }
  /** Updates of existing rows, each with its key first. Unheard. */
  | { readonly form: 'update'; readonly of: UpdateShape; readonly rows: readonly (readonly Value[])[] }
  /** Independent statements, in this order, in one round trip. The answer contains all answers. */
  | { readonly form: 'together'; readonly statements: readonly Statement[] }
  /** Ascending positions for new rows of a table. */
  | { readonly form: 'reserve'; readonly table: SequencedTable; readonly count: number }
  /** The highest position below which no more rows can appear. */
  | { readonly form: 'horizon'; readonly table: SequencedTable }

export type SequencedTable = 'turns' | 'sessions' | 'outbox' | 'approvals' | 'ledger'

export interface InsertShape {
  readonly table: string
  readonly columns: readonly string[]
  /** The columns with whole numbers. The others hold text. */
  readonly numbers: readonly string[]
  /** `seq`, which is not among the columns, is assigned when the row is written. */
  readonly positioned?: true
  /** Everything after VALUES (…): a conflict clause, or ''. */
  readonly conflict: string
  /** A column that identifies rows, so PostgreSQL can report which were written; '' if all are, unheard. */
  readonly identity: string
}

export interface UpdateShape {
  readonly table: string
  /** The key comes first. */
  readonly columns: readonly string[]
  readonly numbers: readonly string[]
}

/** The answer to a statement, by form: rows; a count; booleans; positions; answers; nothing. */
export type Answer =
  | readonly Row[]
  | number
  | readonly boolean[]
  | readonly number[]
  | { readonly answers: readonly Answer[] }
  | undefined

/** A verb in progress. */
export type Steps<Result> = Generator<Statement, Result, Answer>

export function* rows(sql: string, params: readonly Param[] = []): Steps<readonly Row[]> {
  return (yield { form: 'rows', sql, params }) as readonly Row[]
}

export function* firstRow(sql: string, params: readonly Param[] = []): Steps<Row | undefined> {
  return ((yield { form: 'rows', sql, params }) as readonly Row[])[0]
}

/** Runs a statement and returns how many rows changed. */
export function* run(sql: string, params: readonly Param[] = []): Steps<number> {
  return (yield { form: 'run', sql, params }) as number
}

/** Runs a statement whose result is not needed. */
export function* runUnheard(sql: string, params: readonly Param[] = []): Steps<void> {
  yield { form: 'run', sql, params, unheard: true }
}

export function* insert(into: InsertShape, values: readonly (readonly Value[])[]): Steps<readonly boolean[]> {
  if (values.length === 0) return []
  return (yield { form: 'insert', into, rows: values }) as readonly boolean[]
}

export function* update(of: UpdateShape, values: readonly (readonly Value[])[]): Steps<void> {
  if (values.length > 0) yield { form: 'update', of, rows: values }
}

type Results<All extends readonly Steps<unknown>[]> = {
  [At in keyof All]: All[At] extends Steps<infer Result> ? Result : never
}

/**
 * Runs independent verbs side by side: their first questions are asked together, then their second ones, and so on. A
 * verb that needs no answer continues at once, so its next question goes along with the first ones of the others.
 */
export function* sideBySide<const All extends readonly Steps<unknown>[]>(...all: All): Steps<Results<All>> {
  const results: unknown[] = all.map(() => undefined)
  let open = all.map((steps, at) => ({ at, steps, step: steps.next(undefined) }))
  for (;;) {
    const statements: Statement[] = []
    const asking: { readonly at: number; readonly steps: Steps<unknown>; readonly nth: number }[] = []
    for (const { at, steps, step: first } of open) {
      let step = first
      for (; !step.done && isUnheard(step.value); step = steps.next(unheardAnswer(step.value)))
        statements.push(step.value)
      if (step.done) results[at] = step.value
      else asking.push({ at, steps, nth: statements.push(step.value) - 1 })
    }
    const [only] = statements
    if (only === undefined) return results as Results<All>
    const answers: readonly Answer[] =
      statements.length === 1
        ? [yield only]
        : ((yield { form: 'together', statements }) as { readonly answers: readonly Answer[] }).answers
    open = asking.map(({ at, steps, nth }) => ({ at, steps, step: steps.next(answers[nth]) }))
  }
}

/** Whether the answer is known before it arrives. */
export function isUnheard(statement: Statement): boolean {
  switch (statement.form) {
    case 'run':
      return statement.unheard ?? false
    case 'insert':
      return statement.into.identity === ''
    case 'update':
      return true
    case 'together':
      return statement.statements.every(isUnheard)
    default:
      return false
  }
}

function unheardAnswer(statement: Statement): Answer {
  if (statement.form === 'insert') return statement.rows.map(() => true)
  if (statement.form === 'together') return { answers: statement.statements.map(unheardAnswer) }
  return undefined
}

export function* reserve(table: SequencedTable, count: number): Steps<readonly number[]> {
  if (count === 0) return []
  return (yield { form: 'reserve', table, count }) as readonly number[]
}

/** Returns the position up to which a follower may read. Rows with lower positions may still appear beyond it. */
export function* horizon(table: SequencedTable): Steps<number> {
  return (yield { form: 'horizon', table }) as number
}

export function text(row: Row, column: string): string {
  const value = row[column]
  return typeof value === 'string' ? value : String(value ?? '')
}

export function textOrNull(row: Row, column: string): string | null {
  const value = row[column]
  return value === null || value === undefined ? null : String(value)
}

/** Returns the bytes; empty if there are none. */
export function bytesOf(row: Row, column: string): Uint8Array {
  const value = row[column]
  return value instanceof Uint8Array ? value : new Uint8Array()
}

export function whole(row: Row, column: string): number {
  const value = row[column]
  return typeof value === 'number' ? value : Number(value ?? 0)
}

export function wholeOrNull(row: Row, column: string): number | null {
  const value = row[column]
  return value === null || value === undefined ? null : Number(value)
}
