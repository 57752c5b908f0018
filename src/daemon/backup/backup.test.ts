// Backs up a data folder during writes and restores it elsewhere. The chain verifies, and nothing is sent twice.
import { execFileSync } from 'node:child_process'
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { dataFolderAt, openKeyRing, prepareDataFolder } from '../../config/index.ts'
import { readLastRun, writeLastRun } from '../../config/instance/last-run.ts'
import type { Store } from '../../contract/index.ts'
import { createNodeClock, createRealRandom } from '../../runtime/real-clock.ts'
import { openStore } from '../../store/open.ts'
import { takeFolderLock } from '../../store/sqlite/folder-lock.ts'
import { rescuedName } from '../../store/sqlite/rescued.ts'
import { createRecordingLog } from '../../testing/recording-log.ts'
import {
  expectSound,
  item,
  mustTake,
  mustTakeSend,
  queueOne,
  send,
} from '../../testing/store-suite/fixture.ts'
import { holdDatabase } from '../database/hold-database.ts'
import { readManifest } from './manifest.ts'
import type { StorePlace } from './place.ts'
import { restoreBackup } from './restore-backup.ts'
import { takeBackup } from './take-backup.ts'
import { unpackTar } from './tar-file.ts'

let base: string
let place: StorePlace
let store: Store
const NOW = Date.UTC(2026, 0, 2, 3, 4, 5)
const LONG = `${'n'.repeat(200)}.txt`

const placeAt = (path: string): StorePlace => {
  const folder = dataFolderAt({ data: path, env: {} })
  return { folder, env: {}, store: folder.defaultStore, database: folder.database }
}
const openAt = (of: StorePlace): Promise<Store> => {
  const { ledgerKey } = openKeyRing({ dataDir: of.folder.path, env: {} })
  return openStore(of.store, { clock: createNodeClock(), random: createRealRandom(), node: 'n', ledgerKey })
}
const backupTo = (to: string, withKeys = false) => takeBackup({ place, to, withKeys, now: NOW })
const restoreTo = (to: StorePlace, from: string, replace = false) =>
  restoreBackup({ place: to, from, replace, now: NOW, by: 'test' })

beforeEach(async () => {
  base = mkdtempSync(join(tmpdir(), 'sb-backup-'))
  place = placeAt(join(base, 'data'))
  prepareDataFolder(place.folder)
  writeFileSync(place.folder.adminTokenFile, 'admin-token-of-the-test\n', { mode: 0o600 })
  store = await openAt(place)
  const { id, lane } = await queueOne(store, { text: 'hello' })
  const { token } = await mustTake(store, { lane })
  await store.accept(
    [send({ turn: id }), send({ to: { integration: 'demo', conversation: 'c9' } })],
    [{ lane, token, turn: id, to: 'answered' }],
  )
  await mustTakeSend(store, { lane: 'demo:c9' })
  await queueOne(store, { conversation: 'waiting', messageId: 'first' })
  await store.grant({ integration: 'demo', sender: 'ann', right: 'talk', by: 'op' })
  mkdirSync(join(place.folder.attachments, 'web'), { recursive: true })
  writeFileSync(join(place.folder.attachments, 'web', 'a.png'), 'picture')
  writeFileSync(join(place.folder.attachments, 'web', LONG), 'long')
  writeFileSync(join(place.folder.attachments, 'web', 'empty'), '')
  writeFileSync(join(place.folder.attachments, 'web', '.half.part'), 'half')
  symlinkSync('/etc/hostname', join(place.folder.attachments, 'web', 'link'))
})
afterEach(async () => {
  await store.close()
  rmSync(base, { recursive: true, force: true })
})

describe.each(['folder', 'archive.tar'])('a backup as %s', (name) => {
  it('[I14.backup] [I14.restore] [I14.restore-sends] is taken under load and put back: the chain verifies', async () => {
    let writing = true
    const load = (async () => {
      while (writing) await store.receive([item({ conversation: 'load' })])
    })()
    const taken = await backupTo(join(base, name))
    writing = false
    await load
    expect(taken).toMatchObject({ verified: true, attachments: 3, with_keys: false, with_ledger_key: true })

    const other = placeAt(join(base, 'other'))
    const restored = await restoreTo(other, taken.path)
    expect(restored).toMatchObject({ sends_unknown: 2, attachments: 3, moved_aside: [] })
    expect(restored.taken_at).toBe('2026-01-02T03:04:05.000Z')
    const again = await openAt(other)
    await expectSound(again)
    // The restored chain continues the chain of the backup, so it contains the backup's head.
    expect((await again.verify(taken.head ?? '')).ok).toBe(true)
    const sends = await again.sends({ limit: 9 })
    expect(sends.map(({ state, reason }) => [state, reason])).toEqual([
      ['unknown', 'restored'],
      ['unknown', 'restored'],
    ])
    const waiting = (await again.turns({ states: ['queued'], oldestFirst: true, limit: 1 }))[0]
    expect(waiting).toMatchObject({ conversation: 'waiting', repeat: true })
    expect(await again.restored()).toMatchObject({ takenAt: NOW })
    expect(await again.grants()).toHaveLength(1)
    const [repeated] = await again.receive([item({ conversation: 'waiting', messageId: 'first' })])
    expect(repeated?.duplicate).toBe(true)
    await again.close()
    expect(readFileSync(join(other.folder.attachments, 'web', LONG), 'utf8')).toBe('long')
    expect(readFileSync(join(other.folder.attachments, 'web', 'empty'), 'utf8')).toBe('')
    expect(readdirSync(join(other.folder.attachments, 'web')).sort()).toEqual(['a.png', 'empty', LONG].sort())
  })

  it('[I14.backup-whole] is private, leaves nothing beside it, and replaces nothing', async () => {
    const { path } = await backupTo(join(base, name))
    expect(readdirSync(base).sort()).toEqual(['data', name].sort())
    expect(statSync(path).mode & 0o077).toBe(0)
    await expect(backupTo(name.endsWith('.tar') ? path : join(path, 'missing', 'x'))).rejects.toMatchObject({
      code: expect.stringMatching(/conflict|not_found/),
    })
    if (name.endsWith('.tar')) return
    for (const file of ['switchboard.db', 'ledger.key', 'manifest.json', 'attachments/web/a.png'])
      expect(statSync(join(path, file)).mode & 0o777, file).toBe(0o600)
  })

  it('[I14.backup-keys] holds the key of the secrets and the admin token only when asked for', async () => {
    const listed = async (withKeys: boolean) => {
      const { path } = await backupTo(join(base, `${withKeys}-${name}`), withKeys)
      const folder = name.endsWith('.tar') ? join(base, `unpacked-${withKeys}`) : path
      if (folder !== path) {
        mkdirSync(folder)
        execFileSync('tar', ['-xf', path, '-C', folder])
      }
      return { files: readManifest(folder).files.map((file) => file.path), names: readdirSync(folder) }
    }
    const without = await listed(false)
    for (const secret of ['switchboard.key', 'admin.token']) {
      expect(without.files).not.toContain(secret)
      expect(without.names).not.toContain(secret)
    }
    expect((await listed(true)).files).toEqual(expect.arrayContaining(['switchboard.key', 'admin.token']))
  })
})

it('[I14.backup] into a folder that is there a new one is made, with the time in its name', async () => {
  mkdirSync(join(base, 'backups'))
  const { path } = await backupTo(join(base, 'backups'))
  expect(path).toBe(join(base, 'backups', 'switchboard-20260102T030405Z'))
})

it('[I14.restore-cut] what was killed is cleared by the next start and by the next backup, and nothing else', async () => {
  await store.close()
  const { path, attachments, database } = place.folder
  const left = [join(path, '.restore-0a1b2c3d'), `${database}.restoring`, join(attachments, 'web', '.x.part')]
  const kept = [join(path, '.restore-mine'), join(path, 'restore-0a1b2c3d')]
  mkdirSync(join(left[0] ?? '', 'backup'), { recursive: true })
  for (const file of [...left.slice(1), ...kept]) writeFileSync(file, 'said')
  const log = createRecordingLog()
  holdDatabase(place.store, place.folder, log).release()
  for (const gone of left) expect(existsSync(gone), gone).toBe(false)
  for (const file of kept) expect(existsSync(file), file).toBe(true)
  expect(log.lines.filter((line) => line.includes('cut short')).length).toBeGreaterThanOrEqual(3)
  const [old, young] = ['.b.00000000.part', '.b.11111111.part'].map((name) => join(base, name))
  for (const draft of [old, young]) mkdirSync(draft ?? '')
  utimesSync(old ?? '', new Date(0), new Date(0))
  utimesSync(young ?? '', new Date(NOW), new Date(NOW))
  await backupTo(join(base, 'b'))
  expect(readdirSync(base).filter((name) => name.endsWith('.part'))).toEqual(['.b.11111111.part'])
})

it('[I14.restore-live] never into a live folder, nor over a database', async () => {
  const { path } = await backupTo(join(base, 'b'))
  const lock = takeFolderLock(place.folder.lockFile)
  await expect(restoreTo(place, path, true)).rejects.toMatchObject({ code: 'data_folder_held' })
  lock?.release()
  // The folder is free, but a daemon of another folder holds the database.
  const held = holdDatabase(place.store, placeAt(join(base, 'elsewhere')).folder, createRecordingLog())
  await expect(restoreTo(place, path, true)).rejects.toMatchObject({ code: 'data_folder_held' })
  held.release()
  await expect(restoreTo(place, path)).rejects.toMatchObject({ code: 'conflict' })
  await queueOne(store, { conversation: 'later' })
  await store.close()
  const { moved_aside } = await restoreTo(place, path, true)
  expect(moved_aside).toHaveLength(1)
  store = await openAt(place)
  expect((await store.turns({ limit: 9 })).some((turn) => turn.conversation === 'later')).toBe(false)
  const old = await openAt({ ...place, store: `sqlite:${moved_aside[0]}` })
  expect((await old.turns({ limit: 9 })).some((turn) => turn.conversation === 'later')).toBe(true)
  await expectSound(old)
  await old.close()
})

describe('[I14.restore-damaged] a backup that was changed is refused, and nothing is written:', () => {
  const damages: readonly (readonly [string, (path: string) => void])[] = [
    ['the database', (path) => appendFileSync(join(path, 'switchboard.db'), 'x')],
    ['a cut database', (path) => truncateSync(join(path, 'switchboard.db'), 4096)],
    ['an attachment', (path) => writeFileSync(join(path, 'attachments', 'web', 'a.png'), 'pictura')],
    ['a missing attachment', (path) => rmSync(join(path, 'attachments', 'web', 'a.png'))],
    ['no manifest', (path) => rmSync(join(path, 'manifest.json'))],
    [
      'a manifest that leads elsewhere',
      (path) => {
        const manifest = JSON.parse(readFileSync(join(path, 'manifest.json'), 'utf8'))
        manifest.files.push({ path: '../../evil', size: 0, sha256: '' })
        writeFileSync(join(path, 'manifest.json'), JSON.stringify(manifest))
      },
    ],
    [
      'a link in place of a file',
      (path) => {
        rmSync(join(path, 'ledger.key'))
        symlinkSync(place.folder.ledgerKeyFile, join(path, 'ledger.key'))
      },
    ],
  ]
  it.each(damages)('%s', async (_, damage) => {
    const { path } = await backupTo(join(base, 'b'))
    damage(path)
    const other = placeAt(join(base, 'other'))
    await expect(restoreTo(other, path)).rejects.toMatchObject({ code: 'input_invalid' })
    expect(existsSync(other.folder.database)).toBe(false)
    expect(existsSync(other.folder.ledgerKeyFile)).toBe(false)
    expect(readdirSync(other.folder.path).filter((name) => name.startsWith('.restore'))).toEqual([])
  })

  it('rows that were changed before the backup was made: the chain says so', async () => {
    await store.close()
    const { DatabaseSync } = await import('@photostructure/sqlite')
    const database = new DatabaseSync(place.folder.database)
    database.exec(`UPDATE turns SET sender = 'eve' WHERE seq = 1`)
    database.close()
    const { path, verified, problem } = await backupTo(join(base, 'b'))
    expect({ verified, problem }).toMatchObject({
      verified: false,
      problem: expect.stringContaining('origin'),
    })
    await expect(restoreTo(placeAt(join(base, 'other')), path)).rejects.toMatchObject({
      code: 'store_corrupt',
    })
    store = await openAt(place)
  })

  it('an archive that is cut, or holds what it should not', async () => {
    const { path } = await backupTo(join(base, 'b.tar'))
    const bytes = readFileSync(path)
    const cut = join(base, 'cut.tar')
    for (const length of [700, 5_000, bytes.byteLength - 2_000]) {
      writeFileSync(cut, bytes.subarray(0, length))
      await expect(restoreTo(placeAt(join(base, 'other')), cut)).rejects.toMatchObject({
        code: 'input_invalid',
      })
    }
    mkdirSync(join(base, 'evil'))
    writeFileSync(join(base, 'evil', 'x'), 'x')
    execFileSync('tar', ['-cf', cut, '-C', join(base, 'evil'), '--transform', 's,^,../../,', '-P', 'x'])
    const into = join(base, 'deep', 'into')
    mkdirSync(into, { recursive: true })
    await expect(unpackTar(cut, into, (name) => name === 'x')).rejects.toMatchObject({
      code: 'input_invalid',
    })
    expect(readdirSync(base).includes('x')).toBe(false)
  })
})

it('[I14.put-back] a rescued database is put back as it was, and what is in its place is moved aside', async () => {
  const copy = rescuedName(place.folder.database, NOW)
  await store.file?.copyTo(copy)
  await store.close()
  for (const ending of ['', '-wal', '-shm']) rmSync(place.folder.database + ending, { force: true })
  const empty = await openAt(place)
  await queueOne(empty)
  await empty.close()
  expect(() => holdDatabase(place.store, place.folder, createRecordingLog())).toThrow(/was rescued when/)
  const restored = await restoreTo(place, copy)
  expect(restored).toMatchObject({ taken_at: null, sends_unknown: 0 })
  expect(restored.moved_aside).toHaveLength(1)
  holdDatabase(place.store, place.folder, createRecordingLog()).release()
  store = await openAt(place)
  await expectSound(store)
  const sends = await store.sends({ limit: 9 })
  expect(sends.map((row) => row.state).sort()).toEqual(['queued', 'sending'])
  expect(await store.restored()).toBeNull()
})

it('[I14.no-empty-start] that a database is missing is told where a daemon ran before, and not at the first start', async () => {
  await store.close()
  rmSync(place.folder.database)
  const warnings = () => {
    const log = createRecordingLog()
    holdDatabase(place.store, place.folder, log).release()
    return log.lines.join()
  }
  writeFileSync(place.folder.ledgerKeyFile, 'made by this start')
  expect(warnings()).toBe('')
  const life = { host: '127.0.0.1', port: 4747, end: 'running' } as const
  // An older version wrote the file without the database.
  writeLastRun(place.folder, life)
  expect(warnings()).toContain('its database is not there')
  writeLastRun(place.folder, { ...life, database: { file: place.folder.database, tag: 'abcdef' } })
  expect(warnings).toThrow(expect.objectContaining({ code: 'config_invalid' }))
  expect(warnings).toThrow(/is not there/)
  // Another store is refused.
  writeLastRun(place.folder, { ...life, database: { file: '/elsewhere/s.db', tag: 'abcdef' } })
  expect(warnings()).toBe('')
})

it('[I14.no-empty-after-kill] another database in its place is refused, until it is restored or accepted', async () => {
  const backup = join(base, 'backup')
  await backupTo(backup)
  const { tag } = store
  await store.close()
  const hold = () => holdDatabase(place.store, place.folder, createRecordingLog()).release()
  const life = { host: '127.0.0.1', port: 4747, end: 'stopped' } as const
  writeLastRun(place.folder, { ...life, database: { file: place.folder.database, tag } })
  hold()
  rmSync(place.folder.database)
  const stranger = await openAt(place)
  await stranger.close()
  expect(hold).toThrow(/is another one.*nothing is started/)
  expect(hold).toThrow(expect.objectContaining({ hint: expect.stringContaining('restore BACKUP --replace') }))
  // A log that was set aside is reported first.
  writeFileSync(`${place.folder.database}.damaged-20261116T101010Z-wal`, 'pages')
  expect(hold).toThrow(/was written over while a daemon ran/)
  await restoreTo(place, backup, true)
  hold()
  expect(readLastRun(place.folder)).toEqual(life)
})

it('[I14.backup-postgres] on PostgreSQL pg_dump is named, and its password is not', async () => {
  const postgres = { ...place, store: 'postgres://u:hunter2@h/db', database: null }
  const told = await takeBackup({ place: postgres, to: join(base, 'b'), withKeys: false, now: NOW }).catch(
    (thrown) => thrown,
  )
  expect(told).toMatchObject({ code: 'config_invalid', hint: expect.stringContaining('pg_dump') })
  expect(told.hint + told.message).not.toContain('hunter2')
  await expect(restoreTo(postgres, base)).rejects.toMatchObject({
    hint: expect.stringContaining('pg_restore'),
  })
})
