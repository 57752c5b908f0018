// What all lists share: filters from options, one JSON object a line for scripts, a table for people.
import { suggestion } from '../config/nearest.ts'
import type { Context } from './context.ts'
import { usage } from './failure.ts'
import { type Column, renderTable } from './output/table.ts'
import { parseMoment } from './output/time.ts'
import type { ListFilter } from './reader.ts'

export interface FilterOptions {
  readonly state?: string
  readonly agent?: string
  readonly integration?: string
  readonly session?: string
  readonly source?: string
  readonly since?: string
  readonly until?: string
  readonly limit?: string
}

const TABLE_LIMIT = 50

/** Options as a filter. Throws `input_invalid` naming the option. A script that gives no limit gets everything. */
export function listFilter<State extends string>(
  context: Context,
  options: FilterOptions,
  known: readonly State[],
): ListFilter<State> {
  const now = context.terminal.now()
  return {
    ...(options.state === undefined ? {} : { states: parseStates(options.state, known) }),
    ...(options.agent === undefined ? {} : { agent: options.agent }),
    ...(options.integration === undefined ? {} : { integration: options.integration }),
    ...(options.session === undefined ? {} : { session: options.session }),
    ...(options.source === undefined ? {} : { source: options.source }),
    ...(options.since === undefined ? {} : { sinceMs: parseMoment(options.since, '--since', now) }),
    ...(options.until === undefined ? {} : { untilMs: parseMoment(options.until, '--until', now) }),
    limit:
      options.limit === undefined
        ? context.json
          ? null
          : TABLE_LIMIT
        : parseCount(options.limit, '--limit'),
  }
}

export function parseStates<State extends string>(text: string, known: readonly State[]): readonly State[] {
  return text.split(',').map((word) => {
    const state = known.find((each) => each === word.trim())
    if (state === undefined)
      throw usage(`--state: "${word.trim()}" is not a state`, suggestion(word.trim(), known))
    return state
  })
}

export function parseCount(text: string, option: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text.trim())) {
    throw usage(`${option}: "${text}" is not a number`, 'write a whole number from 1 on')
  }
  return Number(text)
}

/** Prints as it reads when scripts listen; people get one table, and a word when it was cut short. */
export async function printList<Item>(
  context: Context,
  items: AsyncIterable<Item> | Iterable<Item>,
  columns: readonly Column<Item>[],
  options: { readonly limit?: number | null; readonly empty: string },
): Promise<void> {
  if (context.json) {
    for await (const item of items) await context.printJson(item)
    return
  }
  const rows: Item[] = []
  for await (const item of items) rows.push(item)
  if (rows.length === 0) return void (await context.print(options.empty))
  await context.print(renderTable(rows, columns, { paint: context.paint, width: context.terminal.columns }))
  if (rows.length === options.limit) context.note(`The newest ${rows.length}; more with --limit.`)
}
