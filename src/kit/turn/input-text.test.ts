// The input of a tool for an approver: readable where possible, always whole, and in linear time.
import { expect, it } from 'vitest'
import { inputText } from './input-text.ts'

const nested = (depth: number): unknown => JSON.parse('['.repeat(depth) + ']'.repeat(depth))

it('[I16.deep-input] is JSON on several lines, and one line where that would be too much', () => {
  expect(inputText({ to: 'bob' }, 1_000)).toBe('{\n  "to": "bob"\n}')
  expect(inputText(nested(500), 10_000)).toBe('['.repeat(500) + ']'.repeat(500))
  const wide = Array.from({ length: 300 }, (_, at) => at)
  expect(inputText(wide, 1_300)).toBe(JSON.stringify(wide))
})

it('[I16.deep-input] is null where it cannot be shown whole', () => {
  expect(inputText('x'.repeat(100), 50)).toBeNull()
  expect(inputText(nested(200_000), 1_000_000)).toBeNull()
  // Indented, it would have sixteen million characters.
  expect(inputText(nested(4_000), 7_000)).toBeNull()
  expect(inputText(undefined, 50)).toBe('')
})
