// Hostile headers and HTML of mails: the steps are counted, in a process of its own.
import { expect, it } from 'vitest'
import { growthOf, LINEAR } from '../../testing/count-steps.ts'
import { plusTag, saidSender, subjectOf } from './addresses.ts'
import { readHeaders } from './headers.ts'
import { htmlText } from './html-text.ts'
import { createMessageIds } from './message-ids.ts'
import { parseAuthResults } from './verify.ts'

const ids = createMessageIds('gw.test')
const header = (text: string) => {
  const fields = readHeaders(Buffer.from(text))
  saidSender(fields)
  subjectOf(fields)
  plusTag(fields, 'bot@gw.test')
  parseAuthResults(fields[0]?.value ?? '')
  ids.within(Buffer.from(text))
}

it.each([
  '<b>',
  '</b>',
  '<div>',
  '<p>',
  '<blockquote>',
  '<table><tr><td>',
  '<ul><li>',
  '<a href="x">',
  '<b style="display:none">',
  '<h1>',
  '<pre>',
  '<!--',
  '&amp;',
  '<',
  '<b',
])('[I35.a3] HTML of nothing but %s takes linear steps', async (piece) => {
  const growth = await growthOf((size) => {
    const html = piece.repeat(size)
    return () => void htmlText(html)
  }, 2_000)
  expect(growth).toBeLessThan(LINEAR)
})

it.each([
  ['X: a\r\n', ''],
  ['X: a\r\n b\r\n', ''],
  ['To: ', 'bot+'],
  ['From: ', '"'],
  ['Subject: ', '=?utf-8?q?a?= '],
  ['Authentication-Results: ', '(a'],
  ['Authentication-Results: ', 'a=b; '],
  ['X: ', '<swb.'],
])('[I35.a3] a header block of %j and %j takes linear steps', async (head, piece) => {
  const growth = await growthOf((size) => {
    const text = piece === '' ? head.repeat(size) : head + piece.repeat(size)
    return () => header(text)
  }, 1_000)
  expect(growth).toBeLessThan(LINEAR)
})
