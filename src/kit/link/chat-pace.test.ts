// Limits that are applied before sending: the bucket of a chat, and windows of a chat and of all.
import { expect, it } from 'vitest'
import { createTestClock } from '../../testing/test-clock.ts'
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
  // Half of the time would have refilled a bucket by one.
  now = 500
  expect(take()).toBe(500)
  pace.giveBack('a')
  expect([take(), take()]).toEqual([0, 500])
  pace.remember('b', 400)
  pace.remember('b', 450)
  expect(pace.take('b', false)).toBe(900)
})

it('[I13.clock-back-limit] a clock that is set back empties no window, and the wait is what was left', () => {
  const clock = createTestClock(1_000_000)
  const window = { count: 3, perMs: 60_000 }
  const pace = createChatPace({
    ...{ clock, intervalMs: 0, burst: 1, overall: { count: 4, perMs: 1_000 } },
    windowOf: (chat) => (chat === 'group' ? window : null),
  })
  const move = (ms: number) => clock.jump(clock.now() + ms)
  const take = (chat = 'group') => pace.take(chat, false)
  const first = take()
  move(20_000)
  const second = take()
  move(20_000)
  expect([first, second, take(), take()]).toEqual([0, 0, 0, 20_000])
  // Set back by half of the window, one send is in the future. Set back by a day, all are. The wait only gets shorter.
  move(-30_000)
  expect([take(), take()]).toEqual([20_000, 20_000])
  move(-86_400_000)
  expect(take()).toBe(20_000)
  move(19_999)
  expect(take()).toBe(1)
  move(1)
  expect([take(), take()]).toEqual([0, 20_000])
  expect([take('a'), take('a'), take('a'), take('a')]).toEqual([0, 0, 0, 1_000])
  move(-86_400_000)
  expect([take('b'), take()]).toEqual([1_000, 20_000])
})
