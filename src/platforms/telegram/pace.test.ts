// The pace of a bot: Telegram's limits by chat, by group and by bot.
import { describe, expect, it } from 'vitest'
import { createTestClock } from '../../testing/test-clock.ts'
import { createPace } from './pace.ts'

describe('[S7.retry-after] [I5.flood-limits] the pace', () => {
  it('lets a few through at once, then one each second; a group 20 a minute', async () => {
    const clock = createTestClock(0)
    const pace = createPace(clock)
    const take = (times: number) => Array.from({ length: times }, () => pace.take('1', false))
    expect(take(6)).toEqual([0, 0, 0, 0, 0, 1_000])
    await clock.advance(1_000)
    expect(take(2)).toEqual([0, 1_000])
    pace.giveBack('1')
    expect(take(2)).toEqual([0, 1_000])
    for (let n = 0; n < 20; n++) {
      expect(pace.take('-1', false)).toBe(0)
      await clock.advance(1_000)
    }
    expect(pace.take('-1', false)).toBe(40_000)
  })

  it('what gives way goes when the chat is even, and leaves the burst to what is said', () => {
    const pace = createPace(createTestClock(0))
    expect([pace.take('1', true), pace.take('1', true)]).toEqual([0, 1_000])
    expect([pace.take('1', false), pace.take('1', false), pace.take('1', false)]).toEqual([0, 0, 0])
  })

  it('keeps the whole bot at 30 a second', async () => {
    const clock = createTestClock(0)
    const pace = createPace(clock)
    const waits = Array.from({ length: 40 }, (_, chat) => pace.take(String(chat), false))
    expect(waits.filter((waitMs) => waitMs === 0)).toHaveLength(30)
    expect(waits.filter((waitMs) => waitMs === 1_000)).toHaveLength(10)
    await clock.advance(1_000)
    expect(pace.take('40', false)).toBe(0)
  })

  it('a clock that was set back keeps nobody waiting until it has caught up', () => {
    const clock = createTestClock(3_600_000)
    const pace = createPace(clock)
    for (let n = 0; n < 20; n++) pace.take('-1', false)
    clock.jump(0)
    expect(pace.take('-1', false)).toBeLessThanOrEqual(1_000)
  })
})
