// The work for hostile Markdown grows with its length only; strong text is shown as bold.
import { readMarkdown, sentForm } from 'switchboard/markdown'
import { describeRenderer } from 'switchboard/testing'
import { expect, it } from 'vitest'
import { marks } from './marks.mjs'

describeRenderer('marks', marks)

it('shows what is strong between asterisks, and an asterisk as one', () => {
  expect(marks.render(readMarkdown('It is **on fire**: 2 * 3'))).toEqual({
    text: 'It is *on fire*: 2 \\* 3',
    plain: 'It is on fire: 2 * 3',
  })
  expect(sentForm({ text: '**no Markdown**', plain: true }, marks).text).toBe('\\*\\*no Markdown\\*\\*')
})
