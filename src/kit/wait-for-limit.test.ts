// A limit is waited for three times at most, and no longer than half a minute each; anything else is told at once.
import { expect, it } from 'vitest'
import { SwitchboardError } from '../contract/index.ts'
import { createTestClock } from '../testing/test-clock.ts'
import { createWaitForLimit } from './wait-for-limit.ts'

const limit = (retryAfterMs: number) => new SwitchboardError('rate_limited', 'too many', { retryAfterMs })

/** Asks with these failures in front of the answer; gives what came and how often it was asked. */
async function asked(failures: readonly Error[]) {
  const clock = createTestClock()
  let count = 0
  const asking = createWaitForLimit(clock)(async () => {
    const failure = failures[count++]
    if (failure) throw failure
    return 'answer'
  }).catch((thrown: Error) => thrown.message)
  for (let step = 0; step < 5; step++) await clock.advance(30_000)
  return [await asking, count]
}

it('waits for a limit, three times at most', async () => {
  expect(await asked([limit(1_000), limit(30_000), limit(1)])).toEqual(['answer', 4])
  expect(await asked([limit(1), limit(1), limit(1), limit(1)])).toEqual(['too many', 4])
})

it('does not wait for one that takes longer than half a minute, nor for another failure', async () => {
  expect(await asked([limit(30_001)])).toEqual(['too many', 1])
  expect(await asked([new SwitchboardError('platform_unavailable', 'away')])).toEqual(['away', 1])
})
