// One header as text: UTF-8 if it is valid, otherwise unchanged; and when the head alone is enough for a decision.
import { expect, it } from 'vitest'
import type { WebhookConfig } from './config.ts'
import { request } from './fixtures/webhook-requests.ts'
import { NAMED_FORMS } from './signed-form.ts'
import { headDecides, header } from './verify.ts'

it.each([
  ['plain', ' plain '],
  ['café', Buffer.from('café').toString('latin1')],
  ['caf\u00e9', 'caf\u00e9'],
])('%j is read', (text, sent) => {
  expect(header(request({ headers: { 'x-sender': sent } }), 'x-sender')).toBe(text)
})

it('[I14.body-credential] only a signature over the body needs it, and only where one was sent', () => {
  const decides = (auth: Record<string, unknown>, headers: Record<string, string> = {}, method = 'POST') =>
    headDecides({ auth } as unknown as WebhookConfig, request({ method, headers }))
  const github = { kind: 'signed', form: NAMED_FORMS.github }
  for (const kind of ['plain', 'bearer', 'basic', 'header', 'url', 'loopback', 'sender'])
    expect(decides({ kind })).toBe(true)
  expect([decides(github), decides(github, {}, 'GET'), decides({ kind: 'standard' })]).toEqual([
    true,
    true,
    true,
  ])
  expect(decides(github, { 'x-hub-signature-256': 'sha256=nonsense' })).toBe(true)
  expect(decides(github, { 'x-hub-signature-256': `sha256=${'0a'.repeat(32)}` })).toBe(false)
  expect(decides({ kind: 'standard' }, { 'webhook-signature': 'v1,AAAA' })).toBe(false)
  expect(decides({ kind: 'sns' })).toBe(false)
})
