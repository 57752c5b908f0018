// One header as text: UTF-8 where it is, and as it came where it is not; and when the head alone decides.
import { expect, it } from 'vitest'
import type { WebhookConfig } from './config.ts'
import { request } from './fixtures/webhook-requests.ts'
import { headDecides, header } from './verify.ts'

it.each([
  ['plain', ' plain '],
  ['café', Buffer.from('café').toString('latin1')],
  ['caf\u00e9', 'caf\u00e9'],
])('%j is read', (text, sent) => {
  expect(header(request({ headers: { 'x-sender': sent } }), 'x-sender')).toBe(text)
})

it('[I14.body-credential] only a signature over the body needs it, and only where one was sent', () => {
  const decides = (kind: string, headers: Record<string, string> = {}, method = 'POST') =>
    headDecides({ credential: { kind } } as unknown as WebhookConfig, request({ method, headers }))
  expect([decides('secret'), decides('header'), decides('github'), decides('github', {}, 'GET')]).toEqual([
    true,
    true,
    true,
    true,
  ])
  expect(decides('github', { 'x-hub-signature-256': 'sha256=nonsense' })).toBe(true)
  expect(decides('github', { 'x-hub-signature-256': `sha256=${'0a'.repeat(32)}` })).toBe(false)
})
