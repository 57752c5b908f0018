// Text as an approver reads it: invisible characters are written out, and nothing is omitted.
import { expect, it } from 'vitest'
import { shownLine, shownText } from './shown-text.ts'

it.each([
  ['a\r\nb', 'a\nb'],
  ['a\rb', 'a[U+000D]b'],
  ['tab\there', 'tab\there'],
  ['\u0007', '[U+0007]'],
  ['rm \u202Efdp', 'rm [U+202E]fdp'],
  ['\u2028', '[U+2028]'],
  ['\u{e0041}', '[U+E0041]'],
  ['\ud800', '[U+D800]'],
  ['👩\u200d🚀', '👩\u200d🚀'],
])('%j is shown as %j', (text, shown) => {
  expect(shownText(text)).toBe(shown)
})

it('in one line a break is a sign of its own', () => {
  expect(shownLine('one \n\n two\tthree')).toBe('one ⏎ two three')
})
