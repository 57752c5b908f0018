// Repeated writes while the store is unavailable, and how a stop ends them.
import { expect, it } from 'vitest'
import { SwitchboardError } from '../contract/index.ts'
import { createRecordingLog } from '../testing/recording-log.ts'
import { createTestClock } from '../testing/test-clock.ts'
import { createStoreRetry } from './store-retry.ts'

const away = async (): Promise<never> => {
  throw new SwitchboardError('store_unavailable', 'the store is away')
}

function opened(problem: () => string | null) {
  const clock = createTestClock()
  const file = { path: 's.db', misplaced: problem, copyTo: async () => undefined }
  const retry = createStoreRetry(clock, createRecordingLog(), { file })
  let ended: unknown = null
  const persisting = retry.persist('keep', away).catch((thrown) => {
    ended = thrown
  })
  return { clock, retry, persisting, ended: () => ended }
}

it('[I14.stop-lost] a stop does not wait for a database that was taken away', async () => {
  const { clock, retry, persisting, ended } = opened(() => 'was removed')
  await clock.advance(10_000)
  expect(ended()).toBeNull()
  retry.hurry()
  await persisting
  expect(ended()).toMatchObject({ code: 'store_unavailable' })
  // No timer is left to wake an ended process.
  expect(clock.pending()).toBe(0)
})

it('a stop waits for a store that is only away, until its time is up', async () => {
  const { clock, retry, persisting, ended } = opened(() => null)
  retry.hurry()
  await clock.advance(60_000)
  expect(ended()).toBeNull()
  retry.stop()
  await persisting
  expect(ended()).toMatchObject({ code: 'store_unavailable' })
})

it('[I35.a1-postgres] what is written in a line keeps its order while the store is away; others do not wait for it', async () => {
  const clock = createTestClock()
  const retry = createStoreRetry(clock, createRecordingLog(), {})
  const written: string[] = []
  let isAway = true
  const write = (word: string) => async () => {
    if (isAway && word === 'one') return away()
    written.push(word)
    return word
  }
  const one = retry.persistInLine('lane', 'settle', write('one'))
  await clock.advance(1)
  const two = retry.persistInLine('lane', 'settle', write('two'))
  const other = retry.persistInLine('another lane', 'settle', write('other'))
  await clock.advance(50)
  expect(written).toEqual(['other'])
  isAway = false
  await clock.advance(1_000)
  expect(await Promise.all([one, two, other])).toEqual(['one', 'two', 'other'])
  expect(written).toEqual(['other', 'one', 'two'])
  const fails = retry.persistInLine('lane', 'settle', () => Promise.reject(new Error('no')))
  await expect(fails).rejects.toThrow('no')
  expect(await retry.persistInLine('lane', 'settle', write('three'))).toBe('three')
})
