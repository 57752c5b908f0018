// What goes with time: bodies by their retention, files when no body can name them any more.
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { Cancel, Store } from '../contract/index.ts'
import { openStore } from '../store/open.ts'
import { createRecordingLog } from '../testing/recording-log.ts'
import { item } from '../testing/store-suite/fixture.ts'
import { createTestClock, createTestRandom, type TestClock } from '../testing/test-clock.ts'
import { keepPruning } from './retention.ts'

const HOUR_MS = 3_600_000
let clock: TestClock
let store: Store
let stop: Cancel
let kept: { bodyRetentionMs: number; queueExpiryMs: number }

beforeEach(async () => {
  clock = createTestClock()
  const random = createTestRandom('retention')
  store = await openStore('sqlite::memory:', { clock, random, node: 'n', ledgerKey: Buffer.alloc(32) })
  kept = { bodyRetentionMs: 2 * HOUR_MS, queueExpiryMs: 5 * HOUR_MS }
  stop = keepPruning({ store, clock, log: createRecordingLog(), tunables: () => kept })
})
afterEach(async () => {
  stop()
  await store.close()
})

const pass = async (ms: number) => {
  for (const until = clock.now() + ms; clock.now() < until; ) {
    await clock.advance(10 * 60_000)
    for (let turn = 0; turn < 60; turn++) await new Promise<void>((resolve) => setImmediate(resolve))
  }
}
const keep = (name: string, bytes = Buffer.from('x')) => store.keepFile({ integration: 'web', name, bytes })

it('[I6.files-pruned] files stay for as long as a turn may have waited and its body is kept', async () => {
  await store.receive([item({ state: 'refused' })])
  for (let at = 0; at < 20; at++) await keep(`old${at}`)
  await pass(4 * HOUR_MS)
  await keep('young')
  const [turn] = await store.turns({ limit: 1 })
  expect(turn?.body).toBeNull()
  expect(await store.keptFile('web', 'old0')).not.toBeNull()
  await pass(3 * HOUR_MS + 20 * 60_000)
  for (const at of [0, 15, 16, 19]) expect(await store.keptFile('web', `old${at}`)).toBeNull()
  expect(await store.keptFile('web', 'young')).not.toBeNull()
})

it('[I6.files-pruned] without a retention they stay', async () => {
  kept = { ...kept, bodyRetentionMs: 0 }
  await keep('old')
  await pass(24 * HOUR_MS)
  expect(await store.keptFile('web', 'old')).not.toBeNull()
})
