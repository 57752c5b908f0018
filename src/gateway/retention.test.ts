// What retention deletes: bodies by age, and files when no body can reference them any more.
import { existsSync, mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { Cancel, Store } from '../contract/index.ts'
import { openStore } from '../store/open.ts'
import { createRecordingLog } from '../testing/recording-log.ts'
import { item } from '../testing/store-suite/fixture.ts'
import { createTestClock, createTestRandom, type TestClock } from '../testing/test-clock.ts'
import { keepPruning, type RetentionTimes } from './retention.ts'

const HOUR_MS = 3_600_000
let clock: TestClock
let store: Store
let stop: Cancel
let kept: RetentionTimes
let folder: string

beforeEach(async () => {
  clock = createTestClock()
  const random = createTestRandom('retention')
  store = await openStore('sqlite::memory:', { clock, random, node: 'n', ledgerKey: Buffer.alloc(32) })
  folder = mkdtempSync(join(tmpdir(), 'sb-retention-'))
  kept = {
    bodyRetentionMs: 2 * HOUR_MS,
    attachmentRetentionMs: 2 * HOUR_MS,
    queueExpiryMs: 5 * HOUR_MS,
    rowRetentionMs: 0,
    ledgerRetentionMs: 0,
  }
  stop = keepPruning({ store, clock, log: createRecordingLog(), attachments: folder, tunables: () => kept })
})
afterEach(async () => {
  stop()
  await store.close()
  rmSync(folder, { recursive: true })
})

const pass = async (ms: number) => {
  for (const until = clock.now() + ms; clock.now() < until; ) {
    await clock.advance(10 * 60_000)
    // A round alternates between the store and the disk, and so does this.
    for (let turn = 0; turn < 60; turn++) {
      await new Promise<void>((resolve) => setImmediate(resolve))
      await stat(folder)
    }
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
  kept = { ...kept, bodyRetentionMs: 0, attachmentRetentionMs: 0 }
  await keep('old')
  await pass(24 * HOUR_MS)
  expect(await store.keptFile('web', 'old')).not.toBeNull()
})

/** A file on this disk with an age by the driven clock. */
const onDisk = (name: string, integration = 'web') => {
  const path = join(folder, integration, name)
  mkdirSync(join(folder, integration), { recursive: true })
  writeFileSync(path, name)
  utimesSync(path, clock.now() / 1000, clock.now() / 1000)
  return path
}

it('[I14.retain-attachments] attachments go from the disk and from the mirror, also of integrations that are gone', async () => {
  await keep('old')
  const old = [onDisk('old.png'), onDisk('old.json'), onDisk('.half.part'), onDisk('a', 'removed')]
  await pass(3 * HOUR_MS)
  const young = onDisk('young.png')
  await pass(4 * HOUR_MS + 20 * 60_000)
  for (const path of old) expect(existsSync(path), path).toBe(false)
  expect(existsSync(young)).toBe(true)
  expect(await store.keptFile('web', 'old')).toBeNull()
  kept = { ...kept, attachmentRetentionMs: 0 }
  await pass(24 * HOUR_MS)
  expect(existsSync(young)).toBe(true)
})

it('[I14.retain-rows] [I14.retain-ledger] rows go after theirs, and entries behind a checkpoint once a day', async () => {
  kept = { ...kept, rowRetentionMs: 30 * 24 * HOUR_MS, ledgerRetentionMs: 31 * 24 * HOUR_MS }
  for (let at = 0; at < 450; at++) await store.receive([item({ state: 'refused' })])
  await clock.advance(30 * 24 * HOUR_MS - HOUR_MS)
  await pass(20 * 60_000)
  expect(await store.turns({ limit: 1 })).toHaveLength(1)
  await pass(HOUR_MS)
  expect(await store.turns({ limit: 1 })).toEqual([])
  expect((await store.verify()).checkpoint).toBeUndefined()
  await clock.advance(24 * HOUR_MS)
  await pass(20 * 60_000)
  const report = await store.verify()
  expect(report).toMatchObject({ ok: true, checkpoint: { entries: 450 }, conservation: { received: 450 } })
})
