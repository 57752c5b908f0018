// Positions of readers as text, and parsed again.
import { expect, it } from 'vitest'
import { formatPosition, parsePosition } from './position.ts'

it('goes to text and back', () => {
  const at = { upTo: 12, holes: new Set([9, 7]) }
  expect(formatPosition(at)).toBe('12-7-9')
  expect(parsePosition('12-7-9')).toEqual({ upTo: 12, holes: new Set([7, 9]) })
  for (const text of ['', '-1', '1-', 'x', '1.5', `1${'0'.repeat(20)}`])
    expect(parsePosition(text)).toBeNull()
})

it('[I14.position-canonical] what was never given is no position', () => {
  for (const text of ['12-7-7-7', '12-9-7', '12-13', '012', '12-07', '12-7-12-12'])
    expect([text, parsePosition(text)]).toEqual([text, null])
  for (const text of ['0', '12', '12-7', '12-7-9', '12-12']) {
    const at = parsePosition(text)
    expect(at === null ? null : formatPosition(at)).toBe(text)
  }
})

it('too many holes move the reader back, never on', () => {
  const many = { upTo: 1_000, holes: new Set(Array.from({ length: 300 }, (_, index) => index + 100)) }
  const back = parsePosition(formatPosition(many))
  expect(back?.upTo).toBe(299)
  expect(back?.holes.size).toBe(200)
})
