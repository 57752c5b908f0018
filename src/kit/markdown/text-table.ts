// A table in monospaced text, for platforms without tables.
import { type MarkdownBlock, textSize } from '../../contract/index.ts'
import { inlineText } from './plain-text.ts'

type Table = Extract<MarkdownBlock, { kind: 'table' }>

/** Columns are aligned unless the padding would take more room than the words. */
export function textTable({ header, rows }: Table): string {
  const cells = [header, ...rows].map((row) => row.map((cell) => inlineText(cell).replaceAll('\n', ' ')))
  const widths: number[] = []
  let words = 0
  for (const row of cells) {
    for (const [at, cell] of row.entries()) {
      const width = textSize(cell, 'code-points')
      words += width + 3
      widths[at] = Math.max(widths[at] ?? 0, width)
    }
  }
  const wide = widths.reduce((sum, width) => sum + width + 3, 0)
  const isPadded = wide * (cells.length + 1) <= 2 * words + MOST_PADDING
  const line = (row: readonly string[]) =>
    row
      .map((cell, at) => (isPadded ? padded(cell, widths[at] ?? 0) : cell))
      .join(' | ')
      .trimEnd()
  const rule = isPadded ? widths.map((width) => '-'.repeat(width)).join('-|-') : '---'
  const [first = [], ...others] = cells
  return [line(first), rule, ...others.map(line)].join('\n')
}

/** A small table is always padded. */
const MOST_PADDING = 400

function padded(cell: string, width: number): string {
  return cell + ' '.repeat(Math.max(0, width - textSize(cell, 'code-points')))
}
