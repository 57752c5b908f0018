// The webhook's endpoint: its address, valid requests, and refusals.
import { expect, it } from 'vitest'
import { isReply, type RawRequest } from '../../contract/index.ts'
import type { TelegramConfig } from './config.ts'
import { verifyRequest } from './verify.ts'

const SECRET = 'one-secret-of-the-hook'
const config = { webhook: { secret: SECRET, url: null } } as TelegramConfig
const knock = (over: Partial<RawRequest> = {}, by = config) => {
  const headers = { 'x-telegram-bot-api-secret-token': SECRET }
  const request = { method: 'POST', path: '', headers, query: new URLSearchParams(), body: Buffer.from('{}') }
  const outcome = verifyRequest(by, { ...request, fromLoopback: false, ...over })
  return isReply(outcome) ? outcome.status : 'in'
}

it('[S16.401] lets in who brings the secret, at its own path and by POST alone', () => {
  expect(knock()).toBe('in')
  expect(knock({ path: '/more' })).toBe(404)
  expect(knock({ method: 'GET' })).toBe(405)
  expect(knock({ headers: {} })).toBe(401)
  expect(knock({ headers: { 'x-telegram-bot-api-secret-token': `${SECRET}x` } })).toBe(401)
  expect(knock({ headers: { 'x-telegram-bot-api-secret-token': [SECRET] as never } })).toBe(401)
})

it('is not there while the bot polls', () => {
  expect(knock({}, { ...config, webhook: null })).toBe(404)
})
