// What all lists share: filters from options, one JSON object a line for scripts, a table for people.
import { suggestion } from '../config/schema/nearest.ts'
import { defined, type Wording } from '../contract/index.ts'
import type { QueryOf } from '../operations/routes.ts'
import { wordsIn } from '../words/index.ts'
import type { Context } from './context.ts'
import { usage } from './failure.ts'
import { type Column, renderTable } from './output/table.ts'
import { parseMoment } from './output/time.ts'

/** The filters of the command line are those of the API. */
export type FilterOptions = Omit<QueryOf<'GET /api/turns'>, 'limit' | 'span' | 'chars'> & {
  readonly limit?: string
}

export interface ListQuery {
  /** As the API takes it: states and times are checked and written out. */
  readonly query: Omit<FilterOptions, 'limit'>
  /** Null: everything. */
  readonly limit: number | null
}

const TABLE_LIMIT = 50

/** Options as a query. Throws `input_invalid` naming the option. A script that gives no limit gets everything. */
export function listQuery(context: Context, options: FilterOptions, known: readonly string[]): ListQuery {
  const { state, agent, integration, session, source, sender, before } = options
  return {
    query: defined({
      state: state === undefined ? undefined : parseStates(state, known).join(','),
      agent,
      integration,
      session,
      source,
      sender,
      since: momentOption(context, options.since, '--since'),
      until: momentOption(context, options.until, '--until'),
      before,
    }),
    limit: limitOf(context, options.limit),
  }
}

/** ISO 8601. Throws `input_invalid` naming the option. */
export function momentOption(
  context: Context,
  value: string | undefined,
  option: string,
): string | undefined {
  return value === undefined
    ? undefined
    : new Date(parseMoment(value, option, context.terminal.now())).toISOString()
}

/** People get a table's worth, scripts everything, unless a number was asked for. */
export function limitOf(context: Context, limit: string | undefined): number | null {
  if (limit === undefined) return context.json ? null : TABLE_LIMIT
  return parseCount(limit, '--limit')
}

/** One more than is shown: whether a list was cut is known, not guessed. */
export function oneMore(limit: number | null): number | null {
  return limit === null ? null : limit + 1
}

export function parseStates(text: string, known: readonly string[]): readonly string[] {
  return text.split(',').map((word) => {
    const state = known.find((each) => each === word.trim())
    if (state === undefined)
      throw usage(`--state: "${word.trim()}" is not a state`, suggestion(word.trim(), known))
    return state
  })
}

function parseCount(text: string, option: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text.trim())) {
    throw usage(`${option}: "${text}" is not a number`, 'write a whole number from 1 on')
  }
  return Number(text)
}

export interface ListOptions<Item> {
  /** The list was asked for with one more than this. */
  readonly limit?: number | null
  readonly empty: Wording
  /** What `--before` takes to go on behind this item; absent: by its id. */
  readonly place?: (item: Item) => string
}

/** Prints as it reads when scripts listen; people get one table. A list that was cut says so, and how to go on. */
export async function printList<Item>(
  context: Context,
  items: AsyncIterable<Item> | Iterable<Item>,
  columns: readonly Column<Item>[],
  { limit = null, empty, place = (item) => (item as { readonly id: string }).id }: ListOptions<Item>,
): Promise<void> {
  const rows: Item[] = []
  let last: Item | undefined
  let count = 0
  let cut = false
  for await (const item of items) {
    cut = count === limit
    if (cut) break
    count += 1
    last = item
    if (context.json) await context.printJson(item)
    else rows.push(item)
  }
  if (!context.json) {
    const table = { paint: context.paint, width: context.terminal.columns }
    await context.print(count === 0 ? empty : renderTable(rows, columns, table))
  }
  // Scripts are told as well: what reads standard output is not disturbed.
  if (cut && last !== undefined)
    context.terminal.err(`${wordsIn().commandLine.cut({ count, place: place(last) })}\n`)
}
