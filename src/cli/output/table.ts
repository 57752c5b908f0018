// Tables for people: borderless, light, cut to the terminal's width. Scripts use --json instead.
import type { Paint } from './colour.ts'
import { cutToWidth, displayWidth, oneLine } from './text.ts'

export interface Column<Row> {
  readonly title: string
  readonly value: (row: Row) => string
  /** Paints the finished cell; it sees the cut text and must not change its width. */
  readonly paint?: (cell: string, row: Row) => string
  /** May be cut when the terminal is narrow; the ones with the higher number give way first. */
  readonly givesWay?: number
  readonly align?: 'left' | 'right'
}

const GAP = 2
const LEAST = 6

/** The table as lines without trailing blanks. No `width` (a pipe): only what is very long is cut. */
export function renderTable<Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  options: { readonly paint: Paint; readonly width: number | null },
): string {
  const cells = rows.map((row) => columns.map((column) => shownIn(column, row, options.width)))
  const widths = fitWidths(columns, cells, options.width)
  const line = (shown: readonly string[], painted: (cell: string, at: number) => string) =>
    shown
      .map((cell, at) => {
        const blanks = ' '.repeat(Math.max(0, (widths[at] ?? LEAST) - displayWidth(cell)))
        return columns[at]?.align === 'right' ? blanks + painted(cell, at) : painted(cell, at) + blanks
      })
      .join(' '.repeat(GAP))
      .trimEnd()
  const cut = (cell: string, at: number) => cutToWidth(cell, widths[at] ?? LEAST)
  const head = line(
    columns.map((column, at) => cut(column.title, at)),
    (cell) => options.paint.dim(cell),
  )
  const body = rows.map((row, nth) =>
    line((cells[nth] ?? []).map(cut), (cell, at) => {
      const { paint } = columns[at] ?? {}
      return paint === undefined || cell === '' ? cell : paint(cell, row)
    }),
  )
  return [head, ...body].join('\n')
}

/** A pipe has no edge, but a line of a table is no place for a whole letter: --json has it. */
const LONGEST_IN_PIPE = 120

function shownIn<Row>(column: Column<Row>, row: Row, width: number | null): string {
  const cell = oneLine(column.value(row))
  return width === null && (column.givesWay ?? 0) > 0 ? cutToWidth(cell, LONGEST_IN_PIPE) : cell
}

/** Natural widths, then the columns that give way shrink, one after the other, until the line fits. */
function fitWidths<Row>(
  columns: readonly Column<Row>[],
  cells: readonly (readonly string[])[],
  width: number | null,
): number[] {
  const widths = columns.map((column, at) =>
    cells.reduce((most, line) => Math.max(most, displayWidth(line[at] ?? '')), displayWidth(column.title)),
  )
  if (width === null) return widths
  let over = widths.reduce((sum, each) => sum + each, 0) + GAP * (columns.length - 1) - width
  const order = columns
    .map((column, at) => ({ at, priority: column.givesWay ?? 0 }))
    .filter((each) => each.priority > 0)
    .sort((a, b) => b.priority - a.priority)
  for (const { at } of order) {
    if (over <= 0) break
    const natural = widths[at] ?? 0
    const spare = Math.max(0, Math.min(over, natural - LEAST))
    widths[at] = natural - spare
    over -= spare
  }
  return widths
}

/** `name   value` lines, the names dimmed and padded alike. Empty values are left out. */
export function renderFields(fields: readonly (readonly [string, string | null])[], paint: Paint): string {
  const shown = fields.filter(
    (field): field is readonly [string, string] => field[1] !== null && field[1] !== '',
  )
  const widest = Math.max(0, ...shown.map(([name]) => name.length))
  return shown.map(([name, value]) => `${paint.dim(name.padEnd(widest))}  ${value}`).join('\n')
}
