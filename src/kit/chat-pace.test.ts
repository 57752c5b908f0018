// Limits kept beforehand: the bucket of a chat, and windows of a chat and of all.
import { expect, it } from 'vitest'
import { createChatPace } from './chat-pace.ts'

const WIDE = { count: 1_000, perMs: 1_000 }

it('[I5.flood-limits] one each interval after the burst, to the millisecond, whatever binary fractions say', () => {
  let now = 1_700_000_000_000
  const pace = createChatPace({ clock: { now: () => now }, intervalMs: 6_000, burst: 3, overall: WIDE })
  const take = (times: number, side = false) => Array.from({ length: times }, () => pace.take('a', side))
  expect(take(4)).toEqual([0, 0, 0, 6_000])
  expect(take(1, true)).toEqual([18_000])
  now += 5_999
  expect(take(1)).toEqual([1])
  now += 1
  expect(take(2)).toEqual([0, 6_000])
  pace.giveBack('a')
  expect(take(2)).toEqual([0, 6_000])
  now += 18_000
  expect([...take(1, true), ...take(1, true), ...take(3)]).toEqual([0, 6_000, 0, 0, 6_000])
})

it('[I5.flood-limits] in no stretch of a window go more than its count: it does not fill up by and by', () => {
  let now = 0
  const window = { count: 2, perMs: 1_000 }
  const pace = createChatPace({
    ...{ clock: { now: () => now }, intervalMs: 0, burst: 1, overall: WIDE },
    windowOf: () => window,
  })
  const take = () => pace.take('a', false)
  expect([take(), take(), take()]).toEqual([0, 0, 1_000])
  // Half of the time would have given a bucket one more.
  now = 500
  expect(take()).toBe(500)
  pace.giveBack('a')
  expect([take(), take()]).toEqual([0, 500])
  pace.remember('b', 400)
  pace.remember('b', 450)
  expect(pace.take('b', false)).toBe(900)
})
