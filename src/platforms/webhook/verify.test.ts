// One header as text: UTF-8 where it is, and as it came where it is not.
import { expect, it } from 'vitest'
import { request } from './fixtures/webhook-requests.ts'
import { header } from './verify.ts'

it.each([
  ['plain', ' plain '],
  ['café', Buffer.from('café').toString('latin1')],
  ['caf\u00e9', 'caf\u00e9'],
])('%j is read', (text, sent) => {
  expect(header(request({ headers: { 'x-sender': sent } }), 'x-sender')).toBe(text)
})
