// `switchboard backup`: saves the database, the attachments and the ledger's key as one folder or one archive. A daemon
// may run meanwhile.
//
// The database is copied first, as of one moment, and the files after it. A file is written before the message that
// names it is received, and its bytes never change. So the copy's files all exist. Drafts have another name until the
// last step.
import { randomBytes } from 'node:crypto'
import {
  chmodSync,
  closeSync,
  constants,
  copyFileSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
} from 'node:fs'
import { readdir, rename, rm, stat, writeFile } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { readLedgerKey } from '../../config/index.ts'
import { type AuditReport, SwitchboardError } from '../../contract/index.ts'
import { createNodeClock, createRealRandom } from '../../runtime/real-clock.ts'
import { VERSION } from '../../runtime/version.ts'
import { openStore } from '../../store/open.ts'
import { copyFromFile } from '../../store/sqlite/copy-database.ts'
import { removeCutBackups } from './cut-short.ts'
import {
  ATTACHMENTS,
  DATABASE,
  describeFile,
  isBackupPath,
  KEYS,
  LEDGER_KEY,
  MANIFEST,
  type ManifestFile,
  newManifest,
} from './manifest.ts'
import { postgresHasItsOwn, type StorePlace } from './place.ts'
import { packTar } from './tar-file.ts'

/** The current step and its progress, in bytes, pages or files. */
export type BackupProgress = (step: string, done: number, total: number) => void

export interface BackupOptions {
  readonly place: StorePlace
  /** A name that ends in .tar gives an archive, an existing folder gets a new one inside, else a folder is created. */
  readonly to: string
  readonly withKeys: boolean
  readonly now: number
  readonly onProgress?: BackupProgress
}

export interface BackupTaken {
  readonly path: string
  readonly kind: 'folder' | 'archive'
  readonly bytes: number
  readonly attachments: number
  readonly with_keys: boolean
  /** False if the ledger's key comes from the environment. The backup then does not contain it. */
  readonly with_ledger_key: boolean
  readonly head: string | null
  readonly entries: number
  /** The result of the audit of the copy. */
  readonly verified: boolean
  readonly problem: string | null
}

/** Throws `conflict` if the target exists, and `not_found` if there is nothing to save. */
export async function takeBackup(options: BackupOptions): Promise<BackupTaken> {
  const { place, now, withKeys } = options
  const progress = options.onProgress ?? (() => undefined)
  if (place.database === null) throw postgresHasItsOwn(place.folder, 'pg_dump')
  if (!existsSync(place.database))
    throw new SwitchboardError('not_found', `there is no database at ${place.database} yet`, {
      hint: 'name the right data folder with --data',
    })
  const { path, kind } = await targetOf(options.to, now)
  const draft = join(dirname(path), `.${basename(path)}.${randomBytes(4).toString('hex')}.part`)
  removeCutBackups(path, now)
  mkdirSync(draft, { mode: 0o700, recursive: true })
  try {
    const copy = join(draft, DATABASE)
    closeSync(openSync(copy, 'wx', 0o600))
    await copyFromFile(place.database, copy, (done, total) => progress('copying the database', done, total))
    const attachments = await copyAttachments(place.folder.attachments, draft, progress)
    const keys = [LEDGER_KEY, ...(withKeys ? KEYS : [])].filter((name) =>
      copyPrivate(join(place.folder.path, name), join(draft, name)),
    )
    progress('checking the copy', 0, 1)
    const report = await auditOf(copy, place)
    const names = [DATABASE, ...keys, ...attachments]
    const files: ManifestFile[] = []
    for (const [at, name] of names.entries()) {
      progress('checking the copy', at, names.length)
      files.push(await describeFile(draft, name))
      sync(join(draft, name))
    }
    const { head, entries, ok, conservation } = report
    const manifest = newManifest({
      version: VERSION,
      created_at: new Date(now).toISOString(),
      ...{ head, entries, received: conservation.received, verified: ok, with_keys: withKeys, files },
    })
    await writeFile(join(draft, MANIFEST), manifest, { mode: 0o600, flush: true })
    if (kind === 'folder') await rename(draft, path)
    else {
      progress('packing', 0, 1)
      await packTar(draft, [MANIFEST, ...names], `${draft}.tar`)
      await rename(`${draft}.tar`, path)
    }
    sync(dirname(path))
    return {
      path,
      kind,
      bytes: files.reduce((sum, file) => sum + file.size, 0),
      attachments: attachments.length,
      with_keys: withKeys,
      with_ledger_key: keys.includes(LEDGER_KEY),
      ...{ head, entries, verified: ok, problem: report.brokenAt?.problem ?? null },
    }
  } finally {
    await rm(draft, { recursive: true, force: true })
    await rm(`${draft}.tar`, { force: true })
  }
}

async function targetOf(to: string, now: number): Promise<{ path: string; kind: 'folder' | 'archive' }> {
  const wanted = resolve(to)
  const found = await stat(wanted).catch(() => null)
  const kind = /\.tar$/i.test(wanted) && !found?.isDirectory() ? 'archive' : 'folder'
  const time = new Date(now).toISOString().replace(/[-:]|\.\d+/g, '')
  const path = found?.isDirectory() ? join(wanted, `switchboard-${time}`) : wanted
  if (existsSync(path))
    throw new SwitchboardError('conflict', `${path} is there already`, {
      hint: 'a backup never replaces anything: choose another name',
    })
  if (!existsSync(dirname(path)))
    throw new SwitchboardError('not_found', `there is no folder ${dirname(path)}`, { hint: 'make it first' })
  return { path, kind }
}

async function copyAttachments(from: string, draft: string, progress: BackupProgress): Promise<string[]> {
  const names: string[] = []
  const integrations = await readdir(from, { withFileTypes: true }).catch(() => [])
  for (const integration of integrations.filter((one) => one.isDirectory())) {
    // A name with a leading dot is a half-written file. Links are not ours.
    for (const file of await readdir(join(from, integration.name), { withFileTypes: true })) {
      const path = `${ATTACHMENTS}/${integration.name}/${file.name}`
      if (file.isFile() && isBackupPath(path)) names.push(path)
    }
  }
  const copied: string[] = []
  for (const [at, name] of names.entries()) {
    progress('copying attachments', at, names.length)
    mkdirSync(dirname(join(draft, name)), { recursive: true, mode: 0o700 })
    // Retention may have removed the file meanwhile. Then only messages that were due for removal name it.
    if (copyPrivate(join(dirname(from), name), join(draft, name))) copied.push(name)
  }
  return copied
}

/** Returns false if the file does not exist. */
function copyPrivate(from: string, to: string): boolean {
  try {
    copyFileSync(from, to, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE)
    chmodSync(to, 0o600)
    return true
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === 'ENOENT') return false
    throw thrown
  }
}

/** Opens the copy as a store, which proves that it is usable. */
async function auditOf(database: string, { folder, env }: StorePlace): Promise<AuditReport> {
  const store = await openStore(`sqlite:${database}`, {
    clock: createNodeClock(),
    random: createRealRandom(),
    node: 'backup',
    ledgerKey: readLedgerKey({ dataDir: folder.path, env }),
    readOnly: true,
  })
  try {
    return await store.verify()
  } finally {
    await store.close()
    for (const ending of ['-wal', '-shm']) await rm(database + ending, { force: true })
  }
}

export function sync(path: string): void {
  const handle = openSync(path, 'r')
  try {
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}
