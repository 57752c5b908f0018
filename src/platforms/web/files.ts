// Attachments of the web chat: stored under a random name beside a small description, never under their original name.
import { mkdir, readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import {
  type Attachment,
  type DownloadedFile,
  type FileMirror,
  type HttpReply,
  type Random,
  SwitchboardError,
} from '../../contract/index.ts'
import { createSharedFolder, safeMime } from '../../kit/index.ts'
import { createLooseUploads, LOOSE_MS, type LooseLimits, type LooseUpload } from './loose-uploads.ts'
import { isFileId, safeFileName } from './parse.ts'
import { fileKind } from './render.ts'

export interface FileStore {
  /** Resolves when every node has it. Throws `too_large` when the folder is full, and `store_unavailable`. */
  save(upload: {
    readonly sender: string
    readonly name: string
    readonly mime: string | null
    readonly bytes: Uint8Array
    /**
     * A person's upload that no message names yet. It counts against the limit for such files, and is removed after an
     * hour.
     */
    readonly loose?: true
  }): Promise<Attachment>
  /** A message will name these files, so they stay. Returns those that no message named before. */
  take(ids: readonly string[]): Promise<readonly string[]>
  /** The message was refused, so no message names them. */
  giveBack(ids: readonly string[]): Promise<void>
  /** Whether any node stored it. */
  has(id: string): Promise<boolean>
  /** The file as an attachment, if this sender uploaded it. */
  own(sender: string, id: string): Promise<Attachment | null>
  /** Returns it as a download that cannot run in our origin; null when there is no such file. */
  reply(id: string): Promise<HttpReply | null>
  /**
   * Removes this sender's uploads: all that are on this node, and those named here from other nodes. Returns how many.
   */
  forget(of: { readonly sender: string; readonly attachments: readonly Attachment[] }): Promise<number>
  /** Returns its path, for an agent that may read it; null when there is no such file. */
  locate(id: string): Promise<DownloadedFile | null>
}

interface Description {
  readonly name: string
  readonly mime: string
  readonly size: number
  readonly sender: string
  /** The name on disk, with a file name extension; absent: the id. */
  readonly stored?: string
  /** The time of an upload; absent: it stays without a message. */
  readonly uploadedAt?: number
}

// Only these keep their type when served. A browser displays them and runs nothing in them.
const DRAWN = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp', 'image/avif', 'text/plain'])

const TAKEN = Buffer.from('taken\n')

/** The limit of one web integration, so that a session cannot fill the disk. */
const QUOTA_BYTES = 1_073_741_824

export interface FileStoreDeps {
  readonly dir: string
  readonly random: Random
  readonly mirror?: FileMirror | undefined
  readonly quotaBytes?: number
  readonly now?: () => number
  readonly looseLimits?: LooseLimits
}

export function createFileStore(deps: FileStoreDeps): FileStore {
  const { dir, random, quotaBytes = QUOTA_BYTES, now = Date.now } = deps
  // Counted once and then kept up to date, because only this process writes to the folder.
  let kept: Promise<number> | null = null
  // Bytes that are reserved and not on the disk yet.
  let writing = 0
  const count = (bytes: number) => {
    kept = kept?.then((used) => used + bytes) ?? null
  }
  // Files of other nodes are never refused, but leave less room for new ones.
  const folder = createSharedFolder({ ...deps, onFetched: count })

  /** Reserves the room at once, so that two uploads cannot both take the last of it. */
  function room(bytes: number): Promise<number> {
    const before = kept ?? folderBytes(dir)
    const after = before.then(async (used) => {
      // Retention and erasure may have removed files.
      const known = used + bytes <= quotaBytes ? used : (await folderBytes(dir)) + writing
      if (known + bytes <= quotaBytes) {
        writing += bytes
        return known + bytes
      }
      throw new SwitchboardError('too_large', 'the chat keeps no more attachments: its folder is full', {
        hint: `remove old files from the attachments folder of the data folder (${quotaBytes} bytes are allowed)`,
      })
    })
    kept = after.catch(() => before)
    return after
  }

  async function describe(id: string): Promise<Description | null> {
    if (!isFileId(id)) return null
    const path = await folder.find(`${id}.json`)
    if (path === null) return null
    try {
      return JSON.parse(await readFile(path, 'utf8')) as Description
    } catch {
      return null
    }
  }

  const pathOf = (id: string, { stored = id }: Description) => folder.find(stored)

  // A file of its own for all nodes, because another node may receive the message.
  const isTaken = async (id: string) => (await folder.find(`${id}.taken`)) !== null

  async function remove(id: string, { stored = id }: Description): Promise<void> {
    // The description is removed last, so that after a crash it still leads to the rest.
    await folder.remove(stored)
    await folder.remove(`${id}.taken`)
    await folder.remove(`${id}.json`)
  }

  const loose = createLooseUploads({
    now,
    isTaken,
    limits: deps.looseLimits,
    async remove(id) {
      const found = await describe(id)
      if (found !== null) await remove(id, found)
    },
    async load() {
      const names = new Set(await readdir(dir).catch(() => []))
      const found: LooseUpload[] = []
      for (const name of names) {
        const id = name.endsWith('.json') ? name.slice(0, -'.json'.length) : ''
        if (id === '' || names.has(`${id}.taken`)) continue
        const of = await describe(id)
        if (of?.uploadedAt === undefined) continue
        found.push({ id, sender: of.sender, bytes: of.size, at: of.uploadedAt })
      }
      return found
    },
  })

  return {
    async save({ sender, name, mime, bytes, loose: isLoose }) {
      const id = Buffer.from(random.bytes(16)).toString('hex')
      const shown = safeFileName(name)
      const stored = id + endingOf(shown)
      const description: Description = {
        name: shown,
        stored,
        mime: safeMime(mime?.split(';')[0]?.trim() ?? ''),
        size: bytes.byteLength,
        sender,
        ...(isLoose ? { uploadedAt: now() } : {}),
      }
      await mkdir(dir, { recursive: true, mode: 0o700 })
      if (isLoose) await loose.add({ id, sender, bytes: bytes.byteLength, at: now() })
      await room(bytes.byteLength).catch(async (thrown) => {
        await loose.drop(id)
        throw thrown
      })
      // The description is written last. A crash before it leaves bytes without a name, not a broken file.
      const described = { name: `${id}.json`, bytes: Buffer.from(JSON.stringify(description)) }
      try {
        await folder.save([{ name: stored, bytes }, described])
      } catch (thrown) {
        count(-bytes.byteLength)
        await loose.drop(id)
        throw thrown
      } finally {
        writing -= bytes.byteLength
      }
      return attachment(id, description)
    },
    has: async (id) => (await describe(id)) !== null,
    async own(sender, id) {
      const found = await describe(id)
      if (found === null || found.sender !== sender) return null
      const old = found.uploadedAt !== undefined && found.uploadedAt + LOOSE_MS <= now()
      return old && !(await isTaken(id)) ? null : attachment(id, found)
    },
    async take(ids) {
      const taken: string[] = []
      for (const id of ids) {
        const found = await describe(id)
        if (found?.uploadedAt === undefined || (await isTaken(id))) continue
        await folder.save([{ name: `${id}.taken`, bytes: TAKEN }]).catch(ignoreThere)
        await loose.drop(id)
        taken.push(id)
      }
      return taken
    },
    async giveBack(ids) {
      for (const id of ids) {
        const found = await describe(id)
        if (found?.uploadedAt === undefined) continue
        await folder.remove(`${id}.taken`)
        const { sender, size, uploadedAt } = found
        // If there is no room for it any more, it is removed.
        await loose.add({ id, sender, bytes: size, at: uploadedAt }).catch(() => remove(id, found))
      }
    },
    async reply(id) {
      const found = await describe(id)
      if (found === null) return null
      const path = await pathOf(id, found)
      const bytes = path === null ? null : await readFile(path).catch(() => null)
      if (bytes === null) return null
      return {
        status: 200,
        headers: {
          'content-type': DRAWN.has(found.mime) ? found.mime : 'application/octet-stream',
          'content-disposition': disposition(found.name),
          'content-security-policy': "default-src 'none'; sandbox",
          'x-content-type-options': 'nosniff',
          'cross-origin-resource-policy': 'same-origin',
          'cache-control': 'private, max-age=31536000, immutable',
        },
        body: bytes,
      }
    },
    async forget({ sender, attachments }) {
      let removed = 0
      const names = await readdir(dir).catch(() => [])
      const here = names.map((name) => (name.endsWith('.json') ? name.slice(0, -'.json'.length) : ''))
      for (const id of new Set([...here, ...attachments.map(({ ref }) => ref)])) {
        const found = id === '' ? null : await describe(id)
        if (found === null || found.sender !== sender) continue
        await remove(id, found)
        await loose.drop(id)
        removed += 1
      }
      return removed
    },
    async locate(id) {
      const found = await describe(id)
      const path = found === null ? null : await pathOf(id, found)
      if (found === null || path === null) return null
      return { path, name: found.name, mime: found.mime, size: found.size }
    },
  }
}

/** Two messages may name it at once. */
function ignoreThere(thrown: NodeJS.ErrnoException): void {
  if (thrown.code !== 'EEXIST') throw thrown
}

async function folderBytes(dir: string): Promise<number> {
  let total = 0
  for (const name of await readdir(dir)) total += (await stat(join(dir, name)).catch(() => null))?.size ?? 0
  return total
}

function attachment(id: string, of: Description): Attachment {
  return { id, kind: fileKind(of.mime), name: of.name, mime: of.mime, size: of.size, ref: id }
}

/** The extension gives the kind of file; `.json` and `.taken` are our own. */
function endingOf(name: string): string {
  const ending = /\.[a-z0-9]{1,8}$/.exec(name.toLowerCase())?.[0] ?? ''
  return ending === '.json' || ending === '.taken' ? '' : ending
}

/** RFC 6266: a plain form for old readers, and the real name in UTF-8. Nothing in it can end the header. */
function disposition(name: string): string {
  const plain = name.replace(/[^\x20-\x7e]/g, '_').replace(/["\\]/g, '_')
  const encoded = encodeURIComponent(name).replace(/['()*]/g, (c) => `%${c.charCodeAt(0).toString(16)}`)
  return `attachment; filename="${plain}"; filename*=UTF-8''${encoded}`
}
