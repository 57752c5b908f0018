// The manifest of a backup: every file with its size and digest, so that a cut or changed copy is detected.
import { createHash } from 'node:crypto'
import { createReadStream, lstatSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { SwitchboardError } from '../../contract/index.ts'

export const MANIFEST = 'manifest.json'
export const DATABASE = 'switchboard.db'
export const LEDGER_KEY = 'ledger.key'
export const ATTACHMENTS = 'attachments'
/** Included only with `--with-keys`. */
export const KEYS = ['switchboard.key', 'switchboard.key.next', 'admin.token'] as const

const FORMAT = 'switchboard-backup/1'

export interface ManifestFile {
  /** Relative, with slashes. */
  readonly path: string
  readonly size: number
  readonly sha256: string
}

export interface Manifest {
  readonly format: string
  readonly version: string
  readonly created_at: string
  /** The head of the ledger in the copy. `audit verify --expect` accepts it. */
  readonly head: string | null
  readonly entries: number
  readonly received: number
  /** False if the chain was already broken when the backup was taken. */
  readonly verified: boolean
  readonly with_keys: boolean
  readonly files: readonly ManifestFile[]
}

export function newManifest(of: Omit<Manifest, 'format'>): string {
  return `${JSON.stringify({ format: FORMAT, ...of }, null, 2)}\n`
}

export async function describeFile(folder: string, path: string): Promise<ManifestFile> {
  const hash = createHash('sha256')
  let size = 0
  for await (const chunk of createReadStream(join(folder, path))) {
    hash.update(chunk as Buffer)
    size += (chunk as Buffer).byteLength
  }
  return { path, size, sha256: hash.digest('hex') }
}

/** Throws `input_invalid` if the folder is not a backup, or if a newer version wrote it. */
export function readManifest(folder: string): Manifest {
  let found: Manifest
  try {
    found = JSON.parse(readFileSync(join(folder, MANIFEST), 'utf8')) as Manifest
  } catch (thrown) {
    throw new SwitchboardError('input_invalid', `${folder} is no backup: its ${MANIFEST} cannot be read`, {
      hint: 'name a folder or a .tar that `switchboard backup` made, or a rescued database',
      cause: thrown,
    })
  }
  if (found.format !== FORMAT || !Array.isArray(found.files))
    throw new SwitchboardError('input_invalid', `${folder} is a backup of the form ${String(found.format)}`, {
      hint: `this version reads ${FORMAT}`,
    })
  return found
}

/** Compares every file with the manifest. Throws `input_invalid` naming the first that differs. */
export async function checkFiles(
  folder: string,
  manifest: Manifest,
  onProgress: (done: number, total: number) => void = () => undefined,
): Promise<void> {
  const total = manifest.files.reduce((sum, file) => sum + file.size, 0)
  let done = 0
  for (const told of manifest.files) {
    if (!isBackupPath(told.path)) throw damaged(folder, `"${told.path}" is no file of a backup`)
    const found = lstatSync(join(folder, told.path), { throwIfNoEntry: false })
    if (!found?.isFile()) throw damaged(folder, `${told.path} is missing`)
    const real = await describeFile(folder, told.path)
    if (real.size !== told.size || real.sha256 !== told.sha256)
      throw damaged(folder, `${told.path} is not as it was when the backup was taken`)
    done += told.size
    onProgress(done, total)
  }
  if (!manifest.files.some((file) => file.path === DATABASE)) throw damaged(folder, 'it holds no database')
}

/** Whether a backup may contain this name. No such name leads outside the folder. */
export function isBackupPath(path: string): boolean {
  if (path === DATABASE || path === LEDGER_KEY || path === MANIFEST) return true
  if ((KEYS as readonly string[]).includes(path)) return true
  const [first, integration = '', name = '', ...rest] = path.split('/')
  return first === ATTACHMENTS && rest.length === 0 && isSegment(integration) && isSegment(name)
}

function isSegment(name: string): boolean {
  return /^[^./\\\p{Cc}][^/\\\p{Cc}]*$/u.test(name) && Buffer.byteLength(name) <= 255
}

function damaged(what: string, why: string): SwitchboardError {
  return new SwitchboardError('input_invalid', `the backup ${what} is damaged: ${why}`, {
    hint: 'nothing was restored: take another backup, or fetch this one again',
  })
}
