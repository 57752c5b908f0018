// Writing again while the store is away, and how a stop ends that.
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
  // Nothing is left to wake a process that ended.
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
