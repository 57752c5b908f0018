// Pruning in small slices, with room for other work between them.
import { expect, it } from 'vitest'
import { keepPruning, type RetentionDeps } from '../gateway/retention.ts'
import { createRecordingLog } from '../testing/recording-log.ts'
import { createTestClock } from '../testing/test-clock.ts'

const EVERY_MS = 10 * 60_000
const turns = async (many: number) => {
  for (let turn = 0; turn < many; turn += 1) await new Promise<void>((resolve) => setImmediate(resolve))
}

/** `tookMs`: how long each slice blocks the process. */
function scene(slices: number, tookMs: number) {
  const clock = createTestClock()
  const asked: number[] = []
  const nothing = async () => 0
  const store = {
    ...{ forgetOverheard: nothing, pruneFiles: nothing, pruneTokens: nothing, pruneRows: nothing },
    pruneLedger: nothing,
    async pruneBodies(_olderThanMs: number, limit: number) {
      asked.push(limit)
      clock.jump(clock.now() + tookMs)
      return asked.length < slices ? limit : 0
    },
  } as unknown as RetentionDeps['store']
  const times = { bodyRetentionMs: 1, attachmentRetentionMs: 0, rowRetentionMs: 0, ledgerRetentionMs: 0 }
  const tunables = () => ({ ...times, queueExpiryMs: 1 })
  const stop = keepPruning({ store, clock, log: createRecordingLog(), tunables })
  return { clock, asked, stop }
}

it('[I23.prune-slices] a slice is small, and the loop turns after each', async () => {
  const { clock, asked, stop } = scene(30, 0)
  void clock.advance(EVERY_MS)
  let others = 0
  for (; asked.length < 30 && others < 10_000; others += 1) await turns(1)
  expect(asked).toHaveLength(30)
  expect(Math.max(...asked)).toBeLessThanOrEqual(200)
  expect(others).toBeGreaterThanOrEqual(29)
  stop()
})

it('[I23.prune-slices] after a slice it rests as long as the slice took', async () => {
  const { clock, asked, stop } = scene(5, 40)
  await clock.advance(EVERY_MS)
  await turns(20)
  expect(asked).toHaveLength(1)
  await clock.advance(39)
  await turns(20)
  expect(asked).toHaveLength(1)
  await clock.advance(1)
  await turns(20)
  expect(asked).toHaveLength(2)
  stop()
})
