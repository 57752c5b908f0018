// Attachments of the web chat: kept under a random name beside a small description, never under the name they came with.
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
import { createSharedFolder } from '../../kit/index.ts'
import { isFileId, safeFileName } from './parse.ts'
import { fileKind } from './render.ts'

export interface FileShelf {
  /** Resolves when every node has it. Throws `too_large` when the folder is full, `store_unavailable`. */
  save(upload: {
    readonly sender: string
    readonly name: string
    readonly mime: string | null
    readonly bytes: Uint8Array
  }): Promise<Attachment>
  /** Whether it was kept, by whichever node. */
  has(id: string): Promise<boolean>
  /** The file as an attachment, if this sender uploaded it. */
  own(sender: string, id: string): Promise<Attachment | null>
  /** As a download that can do nothing in our origin; null when there is no such file. */
  reply(id: string): Promise<HttpReply | null>
  /** Removes what this sender uploaded. Returns how many files. */
  forget(sender: string): Promise<number>
  /** Where it lies, for an agent that may read it; null when there is no such file. */
  locate(id: string): Promise<DownloadedFile | null>
}

interface Description {
  readonly name: string
  readonly mime: string
  readonly size: number
  readonly sender: string
  /** The name on disk, with the ending that programs go by; absent: the id. */
  readonly stored?: string
}

// Only these keep their type when served: a browser draws them and runs nothing in them.
const DRAWN = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp', 'image/avif', 'text/plain'])

/** What one web integration may keep: a session holder must not be able to fill the disk. */
const QUOTA_BYTES = 1_073_741_824

export interface FileShelfDeps {
  readonly dir: string
  readonly random: Random
  readonly mirror?: FileMirror | undefined
  readonly quotaBytes?: number
}

export function createFileShelf(deps: FileShelfDeps): FileShelf {
  const { dir, random, quotaBytes = QUOTA_BYTES } = deps
  // Counted once, then kept up to date: this process is the only writer of the folder.
  let kept: Promise<number> | null = null
  /** Room was given for so much that is not on the disk yet. */
  let writing = 0
  const count = (bytes: number) => {
    kept = kept?.then((used) => used + bytes) ?? null
  }
  // What other nodes took is never refused, but leaves less room for new ones.
  const folder = createSharedFolder({ ...deps, onFetched: count })

  /** Reserves the room at once, so that two uploads cannot both take the last of it. */
  function room(bytes: number): Promise<number> {
    const before = kept ?? folderBytes(dir)
    const after = before.then(async (used) => {
      // Retention and erasure remove files behind our back.
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

  return {
    async save({ sender, name, mime, bytes }) {
      const id = Buffer.from(random.bytes(16)).toString('hex')
      const shown = safeFileName(name)
      const stored = id + endingOf(shown)
      const description: Description = {
        name: shown,
        stored,
        mime: safeMime(mime),
        size: bytes.byteLength,
        sender,
      }
      await mkdir(dir, { recursive: true, mode: 0o700 })
      await room(bytes.byteLength)
      // The description comes last: a crash in between leaves bytes that nobody can name, not a broken file.
      const described = { name: `${id}.json`, bytes: Buffer.from(JSON.stringify(description)) }
      try {
        await folder.save([{ name: stored, bytes }, described])
      } catch (thrown) {
        count(-bytes.byteLength)
        throw thrown
      } finally {
        writing -= bytes.byteLength
      }
      return attachment(id, description)
    },
    has: async (id) => (await describe(id)) !== null,
    async own(sender, id) {
      const found = await describe(id)
      return found !== null && found.sender === sender ? attachment(id, found) : null
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
    async forget(sender) {
      let removed = 0
      const names = await readdir(dir).catch(() => [])
      for (const name of names) {
        const id = name.endsWith('.json') ? name.slice(0, -'.json'.length) : ''
        const found = id === '' ? null : await describe(id)
        if (found === null || found.sender !== sender) continue
        // The description last: a crash in between leaves what leads to the rest.
        await folder.remove(found.stored ?? id)
        await folder.remove(name)
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

async function folderBytes(dir: string): Promise<number> {
  let total = 0
  for (const name of await readdir(dir)) total += (await stat(join(dir, name)).catch(() => null))?.size ?? 0
  return total
}

function attachment(id: string, of: Description): Attachment {
  return { id, kind: fileKind(of.mime), name: of.name, mime: of.mime, size: of.size, ref: id }
}

/** The kind of file is told by its ending; `.json` is the description's own. */
function endingOf(name: string): string {
  const ending = /\.[a-z0-9]{1,8}$/.exec(name.toLowerCase())?.[0] ?? ''
  return ending === '.json' ? '' : ending
}

function safeMime(mime: string | null): string {
  const bare = (mime ?? '').split(';')[0]?.trim().toLowerCase() ?? ''
  return /^[a-z0-9.+-]{1,60}\/[a-z0-9.+-]{1,80}$/.test(bare) ? bare : 'application/octet-stream'
}

/** RFC 6266: a plain form for old readers, the real name in UTF-8. Nothing in it can end the header. */
function disposition(name: string): string {
  const plain = name.replace(/[^\x20-\x7e]/g, '_').replace(/["\\]/g, '_')
  const encoded = encodeURIComponent(name).replace(/['()*]/g, (c) => `%${c.charCodeAt(0).toString(16)}`)
  return `attachment; filename="${plain}"; filename*=UTF-8''${encoded}`
}
