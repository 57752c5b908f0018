// The conversation and the id of a POST: the choice of one sender never blocks another.
import { describe, expect, it } from 'vitest'
import { type InboundEvent, type InboundMessage, markVerified } from '../../contract/index.ts'
import type { WebhookConfig } from './config.ts'
import { request } from './fixtures/webhook-requests.ts'
import { parseRequest } from './parse.ts'
import { answerTo } from './render.ts'

const CONFIG: WebhookConfig = {
  id: 'demo',
  auth: { kind: 'sender', header: 'x-sender', behindProxy: true },
  verifyTokens: [],
  meaning: null,
  outward: { kind: 'none' },
}

const parsed = (sender: string, headers: Record<string, string>): InboundEvent =>
  parseRequest(CONFIG, markVerified(request({ headers }), sender), 1).event

describe('webhook: a body without words', () => {
  it('[I35.b46-seeds] is a message that says all in its meta, as every POST is', () => {
    for (const text of ['', ' \n']) {
      const { event } = parseRequest(CONFIG, markVerified(request({ text }), 'dev'), 1)
      expect(event).toMatchObject({
        kind: 'message',
        text: '(empty message)',
        meta: { path: '/hooks/demo', method: 'POST' },
      })
    }
  })
})

describe('webhook: ids that senders choose', () => {
  it("[S2.dup-key] nobody can use up the key of another sender's message", () => {
    const own = parsed('dev', { 'idempotency-key': 'k1' })
    const others = parsed('mallory', { 'idempotency-key': 'k1', 'x-conversation': 'dev' })
    expect(own).toMatchObject({ chat: 'direct', conversation: 'dev', messageId: 'k1' })
    expect(others).toMatchObject({ chat: 'group', conversation: 'dev' })
    expect(others.messageId).not.toBe(own.messageId)
  })

  it('[S2.dup-key] two members of a group do not share their keys, and a repeat of one is still a repeat', () => {
    const key = { 'idempotency-key': 'k1', 'x-conversation': 'team' }
    expect(parsed('anna', key).messageId).not.toBe(parsed('bob', key).messageId)
    expect(parsed('anna', key).messageId).toBe(parsed('anna', key).messageId)
    const tricky = parsed('a', { 'idempotency-key': 'b:c', 'x-conversation': 'team' })
    expect(tricky.messageId).not.toBe(
      parsed('a:b', { 'idempotency-key': 'c', 'x-conversation': 'team' }).messageId,
    )
  })

  it('[I14.key-threads] one key in two threads is two messages, and a repeat of one is still a repeat', () => {
    const inThread = (thread: string) => {
      const query = new URLSearchParams({ thread })
      const raw = request({ headers: { 'x-github-delivery': 'd1' }, query })
      return parseRequest(CONFIG, markVerified(raw, 'dev'), 1).event as InboundMessage
    }
    expect(inThread('a').messageId).toBe('d1')
    expect(inThread('a').editVersion).not.toBe(inThread('b').editVersion)
    expect(inThread('a').editVersion).toBe(inThread('a').editVersion)
    expect(parsed('dev', { 'x-github-delivery': 'd1' })).not.toHaveProperty('editVersion')
  })

  it('[S2.dup-key] [S1.address-string] names that differ only far behind stay different, and are kept short', () => {
    const long = 'x'.repeat(5_000)
    const one = parsed('dev', { 'idempotency-key': `${long}1`, 'x-conversation': `${long}1` })
    const two = parsed('dev', { 'idempotency-key': `${long}2`, 'x-conversation': `${long}2` })
    expect(one.messageId).not.toBe(two.messageId)
    expect(one.conversation).not.toBe(two.conversation)
    expect(one.conversation.length).toBeLessThanOrEqual(256)
    expect(parsed('dev', { 'idempotency-key': `${long}1`, 'x-conversation': `${long}1` })).toEqual(one)
  })
})

it('[I35.b38] a repeat of a refused request is told of the first one, whatever may be wrong with it now', () => {
  const refused = {
    id: 't_1',
    state: 'refused',
    reason: 'unparsable',
    duplicate: false,
    session: null,
  } as const
  expect(String(answerTo(refused, { problem: 'no field "a"' }).body)).toContain('no field')
  const repeat = String(answerTo({ ...refused, duplicate: true }, { problem: 'no field "a"' }).body)
  expect(repeat).toContain('came before and was refused then as t_1')
})
