// Sessions that wait for a free process are reported while they wait, and no longer.
import { expect, it } from 'vitest'
import { createTestClock } from '../../testing/test-clock.ts'
import { createWaitingSessions } from './waiting-sessions.ts'

function scene() {
  const clock = createTestClock()
  const told: (string | null)[] = []
  const waiting = createWaitingSessions(clock, () => told.push(waiting.words()))
  return { clock, told, waiting }
}
const WORDS = 'it is full: messages wait for a place'

it('[I35.b27-no-longer] what is tried again is told once, until each of them found a place', async () => {
  const { clock, told, waiting } = scene()
  for (let second = 0; second < 60; second++) {
    waiting.refused('a', 'it is full')
    waiting.refused('b', 'it is full')
    await clock.advance(1_000)
  }
  expect(told).toEqual([WORDS])
  waiting.found('a')
  expect(waiting.words()).toBe(WORDS)
  waiting.found('b')
  expect(told).toEqual([WORDS, null])
  expect(clock.pending()).toBe(0)
})

it('[I35.b27-no-longer] what is tried no more, for it was stopped or expired, is told no more', async () => {
  const { clock, told, waiting } = scene()
  waiting.refused('a', 'it is full')
  await clock.advance(20_000)
  expect(told).toEqual([WORDS, null])
  waiting.refused('a', 'it is full')
  waiting.stop()
  await clock.advance(20_000)
  expect(told).toEqual([WORDS, null, WORDS])
})
