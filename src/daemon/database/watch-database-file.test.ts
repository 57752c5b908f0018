// The watch over the database file notices a change within a second, refuses writes, rescues the content and reports
// it.
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import type { Store } from '../../contract/index.ts'
import { openStore } from '../../store/open.ts'
import { damagedLog } from '../../store/sqlite/rescued.ts'
import { createRecordingLog } from '../../testing/recording-log.ts'
import { expectSound, item } from '../../testing/store-suite/fixture.ts'
import { createTestClock, createTestRandom, type TestClock } from '../../testing/test-clock.ts'
import { type StoreWatch, watchStore } from './store-watch.ts'

let folder: string
let file: string
let clock: TestClock
let opened: Store
let watch: StoreWatch
const open = (path: string) =>
  openStore(`sqlite:${path}`, {
    clock,
    random: createTestRandom('file-watch'),
    node: 'n',
    ledgerKey: Buffer.alloc(32),
  })

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sb-file-watch-'))
  file = join(folder, 'switchboard.db')
  clock = createTestClock()
  opened = await open(file)
})
afterEach(async () => {
  await watch.stop()
  await opened.close()
  rmSync(folder, { recursive: true, force: true })
})

const begin = (places: readonly string[] = [file]) => {
  watch = watchStore(opened, { clock, log: createRecordingLog(), rescuePlaces: places })
}
/** The copy is made in parallel, so this waits on the real clock. */
const problemTold = async (words: RegExp) => {
  await vi.waitFor(() => expect(watch.problem()).toMatch(words), { timeout: 20_000, interval: 5 })
  return watch.problem() ?? ''
}
const rescuedIn = (dir: string) => readdirSync(dir).filter((name) => name.includes('.rescued-'))

it('[I14.file-gone] [I14.rescued] [I14.gone-503] within a second nothing more is taken, and all is in a copy', async () => {
  begin()
  await watch.store.receive([item({ text: 'kept' })])
  await clock.advance(5_000)
  expect(watch.problem()).toBeNull()
  rmSync(file)
  const [between] = await watch.store.receive([item({ conversation: 'c2', text: 'between' })])
  await clock.advance(1_000)
  expect(watch.problem()).toMatch(/was removed: nothing more is stored/)
  await expect(watch.store.receive([item()])).rejects.toMatchObject({ code: 'store_unavailable' })
  const problem = await problemTold(/what it held is in .*rescued-/)
  const [name = ''] = rescuedIn(folder)
  expect(problem).toContain(join(folder, name))
  expect(problem).toContain('switchboard restore')
  expect(statSync(join(folder, name)).mode & 0o777).toBe(0o600)
  const copy = await open(join(folder, name))
  expect(await copy.turn(between?.id ?? '')).toMatchObject({ state: 'queued' })
  expect(await copy.turns({ limit: 9 })).toHaveLength(2)
  await expectSound(copy)
  await copy.close()
  // One rescue is enough.
  await clock.advance(30_000)
  await problemTold(/what it held is in/)
  expect(rescuedIn(folder).filter((one) => /Z$/.test(one))).toHaveLength(1)
})

it('[I14.rescue-elsewhere] a place that takes nothing is passed over, and where none does it is tried again', async () => {
  const later = join(folder, 'later')
  begin([join(folder, 'missing', 'a.db'), join(later, 'b.db')])
  await watch.store.receive([item()])
  rmSync(file)
  await clock.advance(1_000)
  await problemTold(/could not be rescued yet, do not stop this daemon/)
  expect(readdirSync(folder).filter((name) => name.endsWith('.part'))).toEqual([])
  mkdirSync(later)
  await clock.advance(12_000)
  expect(await problemTold(/what it held is in/)).toContain(join(later, 'b.db.rescued-'))
})

it('[I14.rescued] a stop before anybody looked leaves the copy, and so does one while it is made', async () => {
  begin()
  await watch.store.receive([item({ text: 'kept' })])
  rmSync(file)
  const [last] = await watch.store.receive([item({ conversation: 'c2' })])
  await watch.stop()
  const [name = ''] = rescuedIn(folder)
  expect(name).toMatch(/Z$/)
  const copy = await open(join(folder, name))
  expect(await copy.turn(last?.id ?? '')).toMatchObject({ state: 'queued' })
  await copy.close()
})

it('[I14.file-overwritten] [I14.rescue-whole] of a file that was written over nothing is called rescued, and its log poisons no other', async () => {
  const large = Array.from({ length: 200 }, (_, at) =>
    item({ messageId: `large ${at}`, text: 'x'.repeat(40_000) }),
  )
  await opened.receive(large)
  await opened.close()
  // Folded pages are in no log any more, and the engine has only some of them in memory.
  opened = await open(file)
  begin()
  await watch.store.receive([item()])
  const other = join(folder, 'other.db')
  const stranger = await open(other)
  for (let at = 0; at < 200; at++)
    await stranger.receive([item({ conversation: `c${at}`, messageId: `m${at}`, text: 'y'.repeat(45_000) })])
  await stranger.close()
  copyFileSync(other, file)
  await expect(watch.store.receive([item()])).rejects.toMatchObject({ code: 'store_unavailable' })
  await clock.advance(1_000)
  expect(await problemTold(/not whole any more/)).toMatch(/written over.*put a backup back/)
  await clock.advance(60_000)
  expect(rescuedIn(folder)).toEqual([])
  // The replacement is opened as it is, without pages of the former log.
  expect(damagedLog(file)).toMatch(/\.damaged-\d{8}T\d{6}Z-wal$/)
  expect(existsSync(`${file}-wal`)).toBe(false)
  copyFileSync(file, join(folder, 'found.db'))
  const found = await open(join(folder, 'found.db'))
  expect(await found.turns({ limit: 500 })).toHaveLength(200)
  await expectSound(found)
  await found.close()
})

it('[I14.file-back] what is put back is used again, and the problem is over', async () => {
  begin()
  await watch.store.receive([item()])
  renameSync(file, `${file}.old`)
  await clock.advance(1_000)
  await problemTold(/what it held is in/)
  renameSync(`${file}.old`, file)
  await clock.advance(2_000)
  expect(watch.problem()).toBeNull()
  await watch.store.receive([item()])
  await expectSound(opened)
})
