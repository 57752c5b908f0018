// Discord's limits as the client keeps them: by route and place, global, and after refusals.
import { expect, it } from 'vitest'
import { createTestClock } from '../../../testing/test-clock.ts'
import { createLimits, routeOf } from './rate-limits.ts'

const OK = { status: 200, headers: {}, retryAfterMs: 0, global: false }

it('[I20.limits] tells routes apart by what counts: the channel, not the message', () => {
  expect(routeOf('POST', '/channels/123456/messages')).toEqual({
    name: 'POST /channels/:id/messages',
    major: '123456',
  })
  expect(routeOf('PATCH', '/channels/12/messages/34?x=1')).toEqual({
    name: 'PATCH /channels/:id/messages/:id',
    major: '12',
  })
  expect(routeOf('PUT', '/channels/12/messages/34/reactions/%F0%9F%91%8D/@me').name).toBe(
    'PUT /channels/:id/messages/:id/reactions/:emoji/@me',
  )
  expect(routeOf('PATCH', '/webhooks/12/a-token/messages/@original')).toEqual({
    name: 'PATCH /webhooks/:webhook/messages/@original',
    major: '12/a-token',
  })
})

it('[I20.limits] a 429 holds its route in its place, a global one everything but answers to interactions', () => {
  const clock = createTestClock()
  const limits = createLimits(clock)
  const [here, there] = [routeOf('POST', '/channels/11/messages'), routeOf('POST', '/channels/22/messages')]
  limits.heard(here, { status: 429, headers: {}, retryAfterMs: 2_000, global: false })
  expect([limits.take(here), limits.take(there)]).toEqual([2_000, 0])
  limits.heard(there, { status: 429, headers: {}, retryAfterMs: 5_000, global: true })
  const answer = routeOf('POST', '/interactions/11/token/callback')
  expect([limits.take(routeOf('GET', '/users/@me')), limits.take(answer)]).toEqual([5_000, 0])
  clock.jump(clock.now() + 5_001)
  expect([limits.take(here), limits.take(there)]).toEqual([0, 0])
})

it('[I20.limits] a bucket that is shared by routes is one, and a wrong clock or header makes nobody wait for long', () => {
  const clock = createTestClock()
  const limits = createLimits(clock)
  const [post, patch] = [
    routeOf('POST', '/channels/11/messages'),
    routeOf('PATCH', '/channels/11/messages/22'),
  ]
  const answerWith = (remaining: string, after: string) => ({
    ...OK,
    headers: {
      'x-ratelimit-bucket': 'b',
      'x-ratelimit-remaining': remaining,
      'x-ratelimit-reset-after': after,
    },
  })
  limits.heard(post, answerWith('5', '4'))
  limits.heard(patch, answerWith('0', '4'))
  expect(limits.take(post)).toBe(4_000)
  limits.heard(post, answerWith('0', '999999999'))
  expect(limits.take(post)).toBe(600_000)
  limits.heard(post, answerWith('nonsense', 'nonsense'))
  limits.heard(post, answerWith('1', '-5'))
  expect(limits.take(post)).toBe(600_000)
})

it('[I20.limits] after 5,000 refused requests in ten minutes nothing is asked any more, and then again', () => {
  const clock = createTestClock()
  const limits = createLimits(clock)
  const route = routeOf('GET', '/channels/11')
  for (let at = 0; at < 4_999; at++) limits.heard(route, { ...OK, status: 403 })
  limits.heard(route, { ...OK, status: 404 })
  limits.heard(route, { ...OK, status: 429, headers: { 'x-ratelimit-scope': 'shared' }, retryAfterMs: 1 })
  clock.jump(clock.now() + 10)
  expect(limits.take(route)).toBe(0)
  limits.heard(route, { ...OK, status: 401 })
  expect(limits.take(route)).toBeGreaterThan(500_000)
  clock.jump(clock.now() + 601_000)
  expect(limits.take(route)).toBe(0)
})
