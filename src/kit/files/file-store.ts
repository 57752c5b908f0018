// Files of an integration. Fetched files are stored in its folder under safe names, and only files in that folder can
// be sent.
import { createHash } from 'node:crypto'
import { mkdir, readdir, readFile, realpath, rename, rm, stat, writeFile } from 'node:fs/promises'
import { isAbsolute, join, sep } from 'node:path'
import {
  type Attachment,
  type DownloadedFile,
  type NewFile,
  type PlatformDeps,
  SwitchboardError,
} from '../../contract/index.ts'
import { safeFileName } from './file-names.ts'
import { createSharedFolder } from './shared-folder.ts'

/** The limit of fetched files. They can be fetched again, so the oldest are removed first. */
export interface FetchedQuota {
  readonly bytes: number
  readonly files: number
}
const QUOTA: FetchedQuota = { bytes: 1_073_741_824, files: 10_000 }
const FETCHED = /^[0-9a-f]{24}-/
const ENDINGS: Readonly<Record<string, string>> = {
  'image/jpeg': '.jpg',
  'image/png': '.png',
  'image/webp': '.webp',
  'audio/ogg': '.ogg',
  'audio/mpeg': '.mp3',
  'video/mp4': '.mp4',
}

export interface FileStore {
  download(attachment: Attachment): Promise<DownloadedFile>
  /** Removes the fetched copies of these. Returns how many files. */
  forget(attachments: readonly Attachment[]): Promise<number>
  /** Stores a file for sending, from any node. Returns its name in our folder. */
  keep(file: NewFile): Promise<string>
  /** Returns the bytes of a file in our folder, by its name there or its whole path. */
  read(ref: string): Promise<Uint8Array>
}

export interface FileLimit {
  readonly maxBytes: number
  /** Ends the sentence that refuses a larger file: `which is all a bot may send`. */
  readonly why?: string
}

export interface FileStoreOptions {
  /**
   * Returns the bytes from the platform, and a name for an attachment without one. Throws `too_large` above its limit.
   */
  readonly bytesOf: (attachment: Attachment) => Promise<{ readonly bytes: Uint8Array; readonly name: string }>
  /** The limit of downloads. Absent: none. An attachment that declares a larger size is not requested. */
  readonly fetched?: FileLimit
  /** The limit of sends. */
  readonly sent: FileLimit
  readonly quota?: FetchedQuota
}

export function createFileStore(
  deps: Pick<PlatformDeps, 'filesDir' | 'random' | 'mirror'>,
  { bytesOf, fetched: fetchLimit, sent, quota = QUOTA }: FileStoreOptions,
): FileStore {
  const folder = createSharedFolder({ dir: deps.filesDir, random: deps.random, mirror: deps.mirror })
  const ownName = (name: string) => `${Buffer.from(deps.random.bytes(8)).toString('hex')}-${name}`
  // For this node only, because another node fetches it itself. The same attachment gets the same name again.
  const put = async (ref: string, name: string, bytes: Uint8Array): Promise<string> => {
    const own = `${nameOfRef(ref)}-${name}`
    await mkdir(deps.filesDir, { recursive: true, mode: 0o700 })
    const half = join(deps.filesDir, `.${ownName('part')}`)
    await writeFile(half, bytes, { mode: 0o600, flag: 'wx' })
    await rename(half, join(deps.filesDir, own))
    await makeRoom(deps.filesDir, own, quota)
    return own
  }

  return {
    async download(attachment) {
      const { ref, name, mime, size = 0 } = attachment
      if (fetchLimit && size > fetchLimit.maxBytes) throw overLimit('too_large', fetchLimit)
      const fetched = await bytesOf(attachment)
      const shown = withEnding(safeFileName(name ?? fetched.name), mime)
      const own = await put(ref, shown, fetched.bytes)
      return {
        path: join(deps.filesDir, own),
        name: shown,
        mime: mime ?? 'application/octet-stream',
        size: fetched.bytes.length,
      }
    },
    async forget(attachments) {
      const theirs = new Set(attachments.map(({ ref }) => nameOfRef(ref)))
      let removed = 0
      for (const name of await readdir(deps.filesDir).catch(() => [])) {
        if (!theirs.has(name.slice(0, name.indexOf('-')))) continue
        await folder.remove(name)
        removed += 1
      }
      return removed
    },
    async keep({ name, bytes }) {
      if (bytes.length > sent.maxBytes) throw overLimit('platform_rejected', sent)
      const own = ownName(safeFileName(name))
      await folder.save([{ name: own, bytes }])
      return own
    },
    async read(ref) {
      const wanted = isAbsolute(ref) ? ref : await folder.find(ref)
      const ours = await realpath(deps.filesDir).catch(() => null)
      const found = wanted === null ? null : await realpath(wanted).catch(() => null)
      if (ours === null || found === null || !found.startsWith(ours + sep)) {
        throw new SwitchboardError('platform_rejected', 'the file to send is not in the integration’s folder')
      }
      if ((await stat(found)).size > sent.maxBytes) throw overLimit('platform_rejected', sent)
      return readFile(found)
    },
  }
}

/** The error for a file above a limit. */
export function overLimit(
  code: 'too_large' | 'platform_rejected',
  { maxBytes, why }: FileLimit,
): SwitchboardError {
  const reason = why === undefined ? '' : `, ${why}`
  return new SwitchboardError(code, `the file is over ${maxBytes / 1_048_576} MB${reason}`)
}

/** Keeps the newly fetched file, whatever its size. Files stored for sending do not count. */
async function makeRoom(dir: string, fresh: string, quota: FetchedQuota): Promise<void> {
  const fetched: { readonly path: string; readonly size: number; readonly at: number }[] = []
  for (const name of await readdir(dir)) {
    if (!FETCHED.test(name) || name === fresh) continue
    const path = join(dir, name)
    const facts = await stat(path).catch(() => null)
    if (facts !== null) fetched.push({ path, size: facts.size, at: facts.mtimeMs })
  }
  fetched.sort((a, b) => a.at - b.at)
  let bytes = fetched.reduce((total, { size }) => total + size, (await stat(join(dir, fresh))).size)
  for (let left = fetched.length + 1; bytes > quota.bytes || left > quota.files; left--) {
    const oldest = fetched.shift()
    if (oldest === undefined) return
    await rm(oldest.path, { force: true })
    bytes -= oldest.size
  }
}

/** Returns the beginning of a fetched file's name. By it, an attachment's copies are found. */
function nameOfRef(ref: string): string {
  return createHash('sha256').update(ref).digest('hex').slice(0, 24)
}

/** Adds an extension, because programs recognise a picture by it. */
function withEnding(name: string, mime: string | undefined): string {
  const ending = ENDINGS[mime ?? '']
  return ending === undefined || /\.[A-Za-z0-9]{1,10}$/.test(name) ? name : name + ending
}
