// Removes the files under an open store, in every way that an operator or a script might.
import {
  appendFileSync,
  closeSync,
  copyFileSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type DatabaseFile, type Store, SwitchboardError } from '../../contract/index.ts'
import { expectSound, item, queueOne } from '../../testing/store-suite/fixture.ts'
import { takeDatabaseLock } from './database-lock.ts'
import { createSqliteFixture, type SqliteFixture } from './fixtures/sqlite-fixture.ts'
import { neededRescue, rescuedName } from './rescued.ts'

let fixture: SqliteFixture
let store: Store
let file: DatabaseFile
beforeEach(async () => {
  fixture = await createSqliteFixture()
  store = await fixture.open()
  file = store.file as DatabaseFile
  await queueOne(store, { text: 'before' })
})
afterEach(() => fixture.dispose())

const TAKEN: readonly {
  readonly how: string
  readonly take: (path: string) => void
  readonly problem: RegExp
  readonly id: string
  /** Previously acknowledged data is lost with the file. No more may be acknowledged after that. */
  readonly lossy?: boolean
}[] = [
  { how: 'removed', take: (path) => rmSync(path), problem: /was removed/, id: 'I14.file-gone' },
  {
    how: 'renamed away',
    take: (path) => renameSync(path, `${path}.old`),
    problem: /was removed/,
    id: 'I14.file-gone',
  },
  {
    how: 'renamed over',
    take(path) {
      copyFileSync(path, `${path}.new`)
      renameSync(`${path}.new`, path)
    },
    problem: /replaced by another file/,
    id: 'I14.file-gone',
  },
  {
    how: 'removed and made anew',
    take(path) {
      rmSync(path)
      writeFileSync(path, '')
    },
    problem: /replaced by another file/,
    id: 'I14.file-gone',
  },
  {
    how: 'moved, with a link in its place',
    take(path) {
      renameSync(path, `${path}.old`)
      symlinkSync(`${path}.old`, path)
    },
    problem: /replaced by a link/,
    id: 'I14.file-gone',
  },
  { how: 'cut to nothing', take: (path) => truncateSync(path, 0), problem: /cut short/, id: 'I14.file-gone' },
  {
    how: 'moved with its folder',
    take: (path) => renameSync(dirname(path), `${dirname(path)}.away`),
    problem: /was removed/,
    id: 'I14.file-gone',
  },
  {
    how: 'robbed of its log',
    take: (path) => rmSync(`${path}-wal`),
    problem: /-wal file, which was removed/,
    id: 'I14.log-gone',
  },
  {
    how: 'given another log',
    take(path) {
      renameSync(`${path}-wal`, `${path}-wal.old`)
      copyFileSync(`${path}-wal.old`, `${path}-wal`)
    },
    problem: /-wal file, which was replaced/,
    id: 'I14.log-gone',
  },
  {
    how: 'left with a log that was cut to nothing',
    take: (path) => truncateSync(`${path}-wal`, 0),
    problem: /-wal file was cut short/,
    id: 'I14.log-gone',
    lossy: true,
  },
  {
    how: 'left with half of its log',
    take: (path) => truncateSync(`${path}-wal`, 4_096),
    problem: /-wal file was cut short/,
    id: 'I14.log-gone',
    lossy: true,
  },
  {
    how: 'left with a log full of zeros',
    take: (path) => overwrite(`${path}-wal`, Buffer.alloc(statSync(`${path}-wal`).size)),
    problem: /-wal file was cut short or written over/,
    id: 'I14.log-gone',
    lossy: true,
  },
  {
    how: 'written over by an older copy of itself',
    take: (path) => overwrite(path, readFileSync(`${path}.older`)),
    problem: /was written over/,
    id: 'I14.file-overwritten',
    lossy: true,
  },
  {
    how: 'written over by a longer file',
    take: (path) => overwrite(path, Buffer.alloc(statSync(path).size + 9_000, 'x')),
    problem: /was written over/,
    id: 'I14.file-overwritten',
    lossy: true,
  },
  {
    how: 'written over at one place, with its time put back',
    take(path) {
      const { atime, mtime } = statSync(path)
      const bytes = readFileSync(path)
      bytes.fill(0, 4_096, 8_192)
      overwrite(path, bytes)
      utimesSync(path, atime, mtime)
    },
    problem: /was written over/,
    id: 'I14.file-overwritten',
    lossy: true,
  },
  {
    how: 'robbed of its index of the log',
    take: (path) => rmSync(`${path}-shm`),
    problem: /-shm file, which was removed/,
    id: 'I14.log-gone',
  },
]

/** In place: the same file, as with `cp`. */
function overwrite(path: string, bytes: Uint8Array): void {
  const handle = openSync(path, 'r+')
  writeSync(handle, bytes, 0, bytes.length, 0)
  closeSync(handle)
}

describe('a database that is', () => {
  for (const { how, take, problem, id, lossy } of TAKEN) {
    it(`[${id}] ${how} is noticed, and no longer written to`, async () => {
      expect(file.misplaced()).toBeNull()
      // Puts data into the file itself, so that there is something to cut.
      await fixture.sql('PRAGMA wal_checkpoint(PASSIVE)')
      copyFileSync(fixture.file, `${fixture.file}.older`)
      await queueOne(store, { conversation: 'c2' })
      await fixture.sql('PRAGMA wal_checkpoint(PASSIVE)')
      await queueOne(store, { conversation: 'c3' })
      expect(file.misplaced()).toBeNull()
      take(fixture.file)
      // Nothing is acknowledged on a damaged file, even before a check.
      if (lossy) await expect(queueOne(store)).rejects.toMatchObject({ code: 'store_unavailable' })
      // Acknowledged between the change and the check: it is in the handle, and must be in the copy.
      const between = lossy || how.startsWith('cut') ? null : await queueOne(store, { conversation: 'c4' })
      expect(file.misplaced()).toMatch(problem)
      const refused = store.receive([item()])
      await expect(refused).rejects.toMatchObject({ code: 'store_unavailable' })
      await expect(refused).rejects.toBeInstanceOf(SwitchboardError)
      if (between === null) return
      const elsewhere = mkdtempSync(join(tmpdir(), 'sb-copy-'))
      const copy = join(elsewhere, 'copy.db')
      await file.copyTo(copy)
      const other = await fixture.openWith({ file: copy })
      expect(await other.turn(between.id)).toMatchObject({ state: 'queued' })
      await expectSound(other)
      await other.close()
      rmSync(elsewhere, { recursive: true })
      rmSync(`${dirname(fixture.file)}.away`, { recursive: true, force: true })
    })
  }
})

it('[I14.file-back] a file that is put back is used again', async () => {
  renameSync(fixture.file, `${fixture.file}.old`)
  expect(file.misplaced()).toMatch(/removed/)
  await expect(store.receive([item()])).rejects.toMatchObject({ code: 'store_unavailable' })
  renameSync(`${fixture.file}.old`, fixture.file)
  expect(file.misplaced()).toBeNull()
  await queueOne(store)
  await expectSound(store)
})

it('an ordinary life is no difference: commits, a fold of the log, readers that come and go', async () => {
  for (let round = 0; round < 3; round++) {
    for (let at = 0; at < 50; at++) await queueOne(store, { conversation: `c${at}`, text: 'x'.repeat(2_000) })
    await fixture.sql('PRAGMA wal_checkpoint(PASSIVE)')
    const reader = await fixture.openWith({ readOnly: true })
    await expectSound(reader)
    await reader.close()
    expect(file.misplaced()).toBeNull()
  }
})

it('[I14.no-false-alarm] a long log is folded behind a commit and begins anew, and neither is a difference', async () => {
  const sizes = () => [statSync(fixture.file).size, statSync(`${fixture.file}-wal`).size] as const
  const fill = async () => {
    const text = 'x'.repeat(3_000)
    await store.receive(Array.from({ length: 1_500 }, (_, at) => item({ conversation: `c${at}`, text })))
    await new Promise<void>((resolve) => setImmediate(resolve))
    expect(file.misplaced()).toBeNull()
  }
  const [small] = sizes()
  // Long after three, which the fourth round sees.
  for (let round = 0; round < 4; round++) await fill()
  const [folded, longest] = sizes()
  expect(folded).toBeGreaterThan(small + 4_000 * 3_000)
  await fill()
  expect(sizes()).toEqual([folded, longest])
})

// The first commit after a fold starts the log again. It must not count as a fold.
it.each([0, 1, 2])(
  '[I14.file-overwritten] what is written over after a fold of our own and %i commits is noticed',
  async (commits) => {
    const text = 'x'.repeat(3_000)
    await store.receive(Array.from({ length: 4_500 }, (_, at) => item({ conversation: `c${at}`, text })))
    await queueOne(store)
    await new Promise<void>((resolve) => setImmediate(resolve))
    expect(statSync(fixture.file).size).toBeGreaterThan(4_000 * 3_000)
    for (let at = 0; at < commits; at++) await queueOne(store)
    overwrite(fixture.file, readFileSync(fixture.file).fill(0, 4_096))
    await expect(queueOne(store)).rejects.toMatchObject({ code: 'store_unavailable' })
  },
)

it('[I14.log-gone] a log that was cut is noticed however far it has grown since; one that a tool folded is no difference', async () => {
  const fill = async (from: number) => {
    for (let at = from; at < from + 20; at++) await queueOne(store, { conversation: `c${at}` })
  }
  await fill(0)
  expect(file.misplaced()).toBeNull()
  await fixture.sql('PRAGMA wal_checkpoint(TRUNCATE)')
  expect(statSync(`${fixture.file}-wal`).size).toBe(0)
  expect(file.misplaced()).toBeNull()
  await fill(20)
  expect(file.misplaced()).toBeNull()
  const { size } = statSync(`${fixture.file}-wal`)
  truncateSync(`${fixture.file}-wal`, size - 5_000)
  await expect(fill(40)).rejects.toMatchObject({ code: 'store_unavailable' })
  expect(file.misplaced()).toMatch(/-wal file was cut short/)
  expect(file.misplaced()).toMatch(/-wal file was cut short/)
})

it('[I14.no-false-alarm] a new time, a link, folds and writes of others, a log that is begun anew: none is a difference', async () => {
  const fill = async () => {
    for (let at = 0; at < 30; at++) await queueOne(store, { conversation: `c${at}`, text: 'x'.repeat(3_000) })
  }
  const rest = async () => {
    expect(file.misplaced()).toBeNull()
    await fill()
    expect(file.misplaced()).toBeNull()
  }
  for (const how of ['PASSIVE', 'FULL', 'RESTART', 'TRUNCATE', 'PASSIVE']) {
    await fill()
    await fixture.sql(`PRAGMA wal_checkpoint(${how})`)
    await rest()
    utimesSync(fixture.file, new Date(), new Date())
    await rest()
  }
  utimesSync(fixture.file, new Date(1_000), new Date(1_000))
  await rest()
  linkSync(fixture.file, `${fixture.file}.link`)
  await rest()
  await fixture.sql(`INSERT INTO meta (name, value) VALUES ('foreign', 'a tool of the operator')`)
  await rest()
  overwrite(fixture.file, readFileSync(fixture.file))
  await rest()
  await expectSound(store)
})

it('[I14.one-database] a database has one holder, whatever path leads to it, and the other is named', () => {
  const link = join(dirname(fixture.file), 'link.db')
  symlinkSync(fixture.file, link)
  const lock = takeDatabaseLock(fixture.file, { data: '/folder/one', pid: 12 })
  for (const path of [fixture.file, link]) {
    const taking = () => takeDatabaseLock(path, { data: '/folder/two', pid: 13 })
    expect(taking).toThrow(expect.objectContaining({ code: 'data_folder_held' }))
    expect(taking).toThrow(/the data folder \/folder\/one \(process 12\)/)
  }
  lock.release()
  takeDatabaseLock(link, { data: '/folder/two', pid: 13 }).release()
})

it('[I14.no-empty-start] a rescued copy is needed until the database holds all that it holds', async () => {
  const places = [fixture.file, join(dirname(fixture.file), 'elsewhere')]
  expect(neededRescue(fixture.file, places)).toBeNull()
  const copy = rescuedName(fixture.file, fixture.clock.now())
  await file.copyTo(copy)
  expect(neededRescue(fixture.file, places)).toBeNull()
  await queueOne(store)
  expect(neededRescue(fixture.file, places)).toBeNull()
  // Another database at the path; then none; then an unreadable one.
  await store.close()
  renameSync(fixture.file, `${fixture.file}.old`)
  expect(neededRescue(fixture.file, places)).toBe(copy)
  const fresh = await fixture.openWith({})
  await queueOne(fresh)
  await fresh.close()
  expect(neededRescue(fixture.file, places)).toBe(copy)
  writeFileSync(fixture.file, 'no database')
  expect(neededRescue(fixture.file, places)).toBe(copy)
  // An older copy of the same database does not contain it either.
  const inFolder = rescuedName(places[1] as string, fixture.clock.now())
  renameSync(copy, inFolder)
  expect(neededRescue(fixture.file, places)).toBe(inFolder)
  // A partial copy, or a file with a similar name, does not count.
  rmSync(inFolder)
  appendFileSync(`${copy}.part`, 'x')
  mkdirSync(`${fixture.file}.rescued-notes`)
  expect(neededRescue(fixture.file, places)).toBeNull()
})
