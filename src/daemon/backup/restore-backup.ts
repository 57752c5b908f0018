// `switchboard restore`: restores a backup, or a rescued database, into a data folder that is not in use.
//
// All files are checked and settled under other names first. The last step gives the database its name. Existing files
// are moved aside and never overwritten. An interrupted restore leaves drafts that are never read; the next restore or
// start removes them.
import { randomBytes } from 'node:crypto'
import {
  chmodSync,
  constants,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs'
import { copyFile, open, rm, stat } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { prepareDataFolder, readLedgerKey } from '../../config/index.ts'
import { forgetDatabase } from '../../config/instance/last-run.ts'
import { type Store, SwitchboardError } from '../../contract/index.ts'
import { createNodeClock, createRealRandom } from '../../runtime/real-clock.ts'
import { openStore } from '../../store/open.ts'
import { takeDatabaseLock } from '../../store/sqlite/database-lock.ts'
import { damagedLog } from '../../store/sqlite/rescued.ts'
import { dataFolderInUse, lockDataFolder } from '../data-folder-lock.ts'
import { removeCutRestore } from './cut-short.ts'
import {
  ATTACHMENTS,
  checkFiles,
  DATABASE,
  isBackupPath,
  KEYS,
  LEDGER_KEY,
  readManifest,
} from './manifest.ts'
import { postgresHasItsOwn, type StorePlace } from './place.ts'
import { type BackupProgress, sync } from './take-backup.ts'
import { unpackTar } from './tar-file.ts'

export interface RestoreOptions {
  readonly place: StorePlace
  /** A folder or .tar file of `backup`, or a database file. */
  readonly from: string
  /** Moves an existing database aside. Without it, an existing database is a conflict. */
  readonly replace: boolean
  readonly now: number
  readonly by: string
  readonly onProgress?: BackupProgress
  readonly crashPoint?: (name: string) => void
}

export interface Restored {
  readonly database: string
  /** The time of the backup. Null for a rescued database, which has the state at its loss. */
  readonly taken_at: string | null
  readonly sends_unknown: number
  readonly attachments: number
  /** Earlier files, under their new names. */
  readonly moved_aside: readonly string[]
  readonly head: string | null
  readonly entries: number
}

interface Source {
  readonly database: string
  /** Null for a bare database. */
  readonly folder: string | null
  readonly files: readonly string[]
  readonly takenAt: number
  readonly settle: boolean
}

/** Throws `data_folder_held` for a folder in use, `conflict` if a database exists, `input_invalid` if damaged. */
export async function restoreBackup(options: RestoreOptions): Promise<Restored> {
  const { place } = options
  const { database } = place
  if (database === null) throw postgresHasItsOwn(place.folder, 'pg_restore')
  if (!existsSync(options.from))
    throw new SwitchboardError('not_found', `there is no ${options.from}`, { hint: 'name a backup' })
  prepareDataFolder(place.folder)
  const release = takeLocks(place, database)
  const scratch = join(place.folder.path, `.restore-${randomBytes(4).toString('hex')}`)
  try {
    removeCutRestore(place.folder, database)
    mkdirSync(scratch, { mode: 0o700 })
    const source = await openSource(options, scratch)
    // A rescue happens only when the file at the path is not the database, so that file may be moved aside.
    if (existsSync(database) && source.folder !== null && !options.replace)
      throw new SwitchboardError('conflict', `there is a database at ${database}`, {
        hint: 'with --replace it is moved aside, and nothing is lost; or name another folder with --data',
      })
    return await putBack(options, source, database)
  } finally {
    await rm(scratch, { recursive: true, force: true })
    release()
  }
}

function takeLocks(place: StorePlace, database: string): () => void {
  const folder = lockDataFolder(place.folder)
  if (!folder)
    throw dataFolderInUse(
      place.folder,
      'a backup is never restored into a live folder: stop that daemon first',
    )
  try {
    mkdirSync(dirname(database), { recursive: true, mode: 0o700 })
    const lock = takeDatabaseLock(database, { data: place.folder.path, pid: process.pid })
    return () => {
      lock.release()
      folder.release()
    }
  } catch (thrown) {
    folder.release()
    throw thrown
  }
}

async function openSource(options: RestoreOptions, scratch: string): Promise<Source> {
  const from = resolve(options.from)
  const progress = options.onProgress ?? (() => undefined)
  let folder = from
  if ((await stat(from)).isFile()) {
    if (await isDatabase(from)) {
      const rescued = /\.rescued-\d{8}T\d{6}Z$/.test(from)
      const takenAt = Math.floor(statSync(from).mtimeMs)
      return { database: from, folder: null, files: [], takenAt, settle: !rescued }
    }
    progress('unpacking', 0, 1)
    folder = join(scratch, 'backup')
    mkdirSync(folder, { mode: 0o700 })
    await unpackTar(from, folder, isBackupPath)
  }
  const manifest = readManifest(folder)
  await checkFiles(folder, manifest, (done, total) => progress('checking the backup', done, total))
  return {
    database: join(folder, DATABASE),
    folder,
    files: manifest.files.map((file) => file.path),
    takenAt: Date.parse(manifest.created_at),
    settle: true,
  }
}

async function isDatabase(file: string): Promise<boolean> {
  const handle = await open(file, 'r')
  try {
    const { buffer } = await handle.read(Buffer.alloc(16), 0, 16, 0)
    return buffer.toString('latin1') === 'SQLite format 3\0'
  } finally {
    await handle.close()
  }
}

async function putBack(options: RestoreOptions, source: Source, database: string): Promise<Restored> {
  const { place, now } = options
  const progress = options.onProgress ?? (() => undefined)
  const draft = `${database}.restoring`
  progress('copying the database', 0, 1)
  await copyFile(source.database, draft, constants.COPYFILE_FICLONE)
  // The log of a bare database may not be folded into the file yet.
  if (source.folder === null && existsSync(`${source.database}-wal`))
    await copyFile(`${source.database}-wal`, `${draft}-wal`)
  chmodSync(draft, 0o600)
  try {
    progress('checking the chain', 0, 1)
    const settled = await settle(options, source, draft)
    const aside = moveAside(place, source, { database, now })
    const attachments = await bringFiles(place, source, progress)
    sync(draft)
    options.crashPoint?.('restore.before-rename')
    renameSync(draft, database)
    sync(dirname(database))
    // The restored database is the folder's own from here on.
    forgetDatabase(place.folder)
    return {
      database,
      taken_at: source.settle ? new Date(source.takenAt).toISOString() : null,
      ...settled,
      attachments,
      moved_aside: aside,
    }
  } finally {
    for (const ending of ['', '-wal', '-shm']) rmSync(draft + ending, { force: true })
  }
}

/** Verifies the chain before the first write to it, and after the last. */
async function settle(options: RestoreOptions, source: Source, draft: string) {
  const store = await openStore(`sqlite:${draft}`, {
    clock: createNodeClock(),
    random: createRealRandom(),
    node: 'restore',
    ledgerKey: ledgerKeyOf(options.place, source),
  })
  try {
    await mustVerify(store, options.from)
    const sends = source.settle ? await settleAll(store, source.takenAt, options.by) : 0
    const { head, entries } = await mustVerify(store, options.from)
    return { sends_unknown: sends, head, entries }
  } finally {
    await store.close()
  }
}

/** Settles in slices until none is left. Returns how many sends became `unknown`. */
export async function settleAll(store: Store, takenAt: number, by: string): Promise<number> {
  let sends = 0
  for (;;) {
    const moved = await store.settleRestored(takenAt, by, 500)
    if (moved === 0) return sends
    sends += moved
  }
}

async function mustVerify(store: Store, from: string) {
  const report = await store.verify()
  if (report.ok) return report
  throw new SwitchboardError(
    'store_corrupt',
    `${from} does not verify: ${report.brokenAt?.problem ?? 'the counters differ'}`,
    { hint: 'nothing was restored: it was changed, or ledger.key is not the one that sealed it' },
  )
}

function ledgerKeyOf(place: StorePlace, source: Source): Uint8Array {
  const folder =
    source.folder !== null && source.files.includes(LEDGER_KEY) ? source.folder : place.folder.path
  return readLedgerKey({ dataDir: folder, env: place.env })
}

function moveAside(
  { folder }: StorePlace,
  source: Source,
  of: { readonly database: string; readonly now: number },
): readonly string[] {
  const time = new Date(of.now).toISOString().replace(/[-:]|\.\d+/g, '')
  const moved: string[] = []
  const aside = (path: string, to: string) => {
    if (!existsSync(path)) return
    renameSync(path, to)
    moved.push(to)
  }
  const old = `${of.database}.replaced-${time}`
  // The log moves with its database, under a matching name, because both together are the old state.
  if (existsSync(`${of.database}-wal`) && existsSync(of.database))
    renameSync(`${of.database}-wal`, `${old}-wal`)
  else rmSync(`${of.database}-wal`, { force: true })
  rmSync(`${of.database}-shm`, { force: true })
  aside(of.database, old)
  for (let log = damagedLog(of.database); log !== null; log = damagedLog(of.database))
    aside(log, `${log}.replaced-${time}`)
  for (const name of [LEDGER_KEY, ...KEYS]) {
    const own = join(folder.path, name)
    if (source.folder === null || !source.files.includes(name) || !existsSync(own)) continue
    if (!readFileSync(own).equals(readFileSync(join(source.folder, name))))
      aside(own, `${own}.replaced-${time}`)
  }
  return moved
}

/** File names are never reused, so an existing file of the same name has the same content. */
async function bringFiles(place: StorePlace, source: Source, progress: BackupProgress): Promise<number> {
  if (source.folder === null) return 0
  const files = source.files.filter((path) => path !== DATABASE)
  let attachments = 0
  for (const [at, path] of files.entries()) {
    progress('copying files', at, files.length)
    const target = join(place.folder.path, path)
    if (path.startsWith(`${ATTACHMENTS}/`)) attachments += 1
    if (existsSync(target)) continue
    mkdirSync(dirname(target), { recursive: true, mode: 0o700 })
    const half = join(dirname(target), `.${basename(target).slice(0, 200)}.part`)
    await copyFile(join(source.folder, path), half)
    chmodSync(half, 0o600)
    sync(half)
    renameSync(half, target)
  }
  return attachments
}
