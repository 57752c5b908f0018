// Hostile headers and HTML of mails: counts the steps, in a separate process.
import { expect, it } from 'vitest'
import { growthOf, LINEAR, processorMs } from '../../testing/suites/count-steps.ts'
import { plusTag, saidSender, subjectOf } from './mail/addresses.ts'
import { readHeaders } from './mail/headers.ts'
import { htmlText } from './mail/html-text.ts'
import { createMessageIds } from './mail/message-ids.ts'
import { parseAuthResults } from './mail/verify.ts'

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

const long = 'x'.repeat(2_001)
const DEEP = [
  '<b x=">">',
  '<b x="<">',
  '<b x=\'>\' y="<">',
  `<b x="${long}">`,
  '<B><b>',
  '<b><!-- </b> -->',
  '<b><![CDATA[</b>]]>',
  '<table><p>',
  '<table><td>',
  '<table><tr><li><p>',
  '<abcdefghijklmnopqrstuvwxyz>',
  '<a-b>',
  '<a:b>',
  '<b/>',
  '<b\n>',
  '<<i>b>',
  '<p><div></p>',
  '<math><mi>',
  '<title></title><b>',
  '<b></i>',
  '<b></div>',
  '<br></b><i>',
  '<svg><b></svg>',
  '<b><svg></b>',
]
const named = DEEP.map((piece) => [piece.slice(0, 40), piece] as const)
it.each(named)('[I35.mail-nesting] a mail of nothing but %j takes under two seconds', (_name, piece) => {
  const html = piece.repeat(1_000_000 / piece.length)
  expect(processorMs(() => void htmlText(html))).toBeLessThan(2_000)
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

it.each(['colspan', 'rowspan'])('[I35.mail-nesting] a table is read whatever its %s', (span) => {
  const html = `<table class=data><tr><td ${span}=100000>one<td>two</tr><tr><td>three</table>`
  expect(htmlText(html).whole).toBe('one two\nthree')
})
