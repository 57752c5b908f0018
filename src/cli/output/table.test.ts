// A table of many lines: each costs the same, and however many there are, they are printed.
import { expect, it } from 'vitest'
import type { Paint } from './colour.ts'
import { type Column, renderTable } from './table.ts'

const plain = { dim: (text: string) => text } as Paint
interface Line {
  readonly id: string
  readonly text: string
}

function columns(read: () => void): readonly Column<Line>[] {
  const value = (of: (line: Line) => string) => (line: Line) => {
    read()
    return of(line)
  }
  return [
    { title: 'id', value: value(({ id }) => id), align: 'right' },
    { title: 'text', value: value(({ text }) => text), givesWay: 1 },
  ]
}
const lines = (many: number): readonly Line[] =>
  Array.from({ length: many }, (_, at) => ({ id: `${at}`, text: `message ${at}` }))

it('[I23.table-linear] 200,000 lines are printed, each cell looked at once', () => {
  let reads = 0
  const text = renderTable(
    lines(200_000),
    columns(() => {
      reads += 1
    }),
    { paint: plain, width: null },
  )
  const printed = text.split('\n')
  expect(printed).toHaveLength(200_001)
  expect(printed.at(-1)).toBe('199999  message 199999')
  expect(printed[1]).toBe('     0  message 0')
  expect(reads).toBe(400_000)
})

it('[I23.table-linear] wide characters and painted cells keep the columns in line', () => {
  const paint = (cell: string) => `\u001b[32m${cell}\u001b[39m`
  const rows = [
    { id: 'a', text: '日本' },
    { id: 'bb', text: 'x' },
  ]
  const shown: readonly Column<Line>[] = [
    { title: 'text', value: ({ text }) => text, paint },
    { title: 'id', value: ({ id }) => id },
  ]
  expect(renderTable(rows, shown, { paint: plain, width: null }).split('\n')).toEqual([
    'text  id',
    `${paint('日本')}  a`,
    `${paint('x')}     bb`,
  ])
})
