// Which local files a host may attach to a reply: those under the folders of `send_roots`, and people's attachments.
// Never the state, the configuration, its secrets, or dot-files in the owner's home.
import { constants } from 'node:fs'
import { type FileHandle, open, readdir, realpath, stat } from 'node:fs/promises'
import { basename, extname, isAbsolute, join, sep } from 'node:path'
import { type NewFile, SwitchboardError } from '../../contract/index.ts'

export interface SendableFilesConfig {
  /** Never sent: the data folder, the database, the configuration and secret files. */
  readonly never: () => readonly string[]
  /** The exception: attachments that people sent. */
  readonly attachments: string
  /** The allowed folders, for a host that works in this one. */
  readonly roots: (hostFolder: string | null) => readonly string[]
  /** The owner's home, whose dot-files are never sent. */
  readonly home: string
  readonly maxBytes?: number
}

const MAX_BYTES = 50 * 1_048_576
// A pipe without a writer must not block.
const READ = constants.O_RDONLY | constants.O_NONBLOCK
// These paths show the present process: `/proc/self/environ` contains the daemon's secrets.
const OF_THE_KERNEL = ['/proc', '/sys', '/dev']

const TYPES: Readonly<Record<string, string>> = {
  ...{
    '.jpg': 'image/jpeg',
    '.jpeg': 'image/jpeg',
    '.png': 'image/png',
    '.gif': 'image/gif',
    '.webp': 'image/webp',
  },
  ...{
    '.pdf': 'application/pdf',
    '.zip': 'application/zip',
    '.json': 'application/json',
    '.csv': 'text/csv',
  },
  ...{ '.txt': 'text/plain', '.md': 'text/markdown', '.log': 'text/plain', '.html': 'text/html' },
  ...{
    '.mp3': 'audio/mpeg',
    '.ogg': 'audio/ogg',
    '.wav': 'audio/wav',
    '.mp4': 'video/mp4',
    '.webm': 'video/webm',
  },
}

export function createSendableFiles(config: SendableFilesConfig) {
  const maxBytes = config.maxBytes ?? MAX_BYTES
  return {
    async read(path: string, folder: string | null = null): Promise<NewFile> {
      if (!isAbsolute(path)) throw wrong(`files: "${path}" is not an absolute path`)
      // Links are resolved before any check.
      const real = await realpath(path).catch(() => null)
      if (real === null) throw wrong(`files: there is no file ${path}`)
      const places = { never: config.never(), roots: config.roots(folder) }
      await demandSendable(real, path, places)
      const file = await open(real, READ).catch(() => null)
      if (file === null) throw wrong(`files: ${path} cannot be read`)
      try {
        // Checks the opened file, so a link or folder changed meanwhile has no effect.
        const facts = await file.stat()
        if (!facts.isFile()) throw wrong(`files: ${path} is not a file`)
        const opened = await whereIs(file, real)
        if (opened === null) throw wrong(`files: ${path} changed while it was read`)
        await demandSendable(opened.path, path, places)
        if (await isAlias(facts, { never: places.never, everywhere: facts.nlink > 1 || !opened.sure }))
          throw state(path)
        if (facts.size > maxBytes)
          throw new SwitchboardError('too_large', `files: ${path} is over ${maxBytes} bytes`)
        const name = basename(path)
        const mime = TYPES[extname(name).toLowerCase()] ?? 'application/octet-stream'
        return { name, mime, bytes: await file.readFile() }
      } finally {
        await file.close()
      }
    },
  }

  /** Throws unless it may be sent. `real` is checked; `path` is the host's name for it. */
  async function demandSendable(real: string, path: string, { never, roots }: Places): Promise<void> {
    if (await within(real, config.attachments)) return
    for (const place of [...OF_THE_KERNEL, ...never]) if (await within(real, place)) throw state(path)
    if (await isHidden(real, config.home))
      throw wrong(`files: ${path} lies in a dot-folder of your home, and nothing there is sent`)
    for (const root of roots) if (await within(real, root)) return
    throw new SwitchboardError('input_invalid', `files: ${path} is outside of tunables.send_roots`, {
      hint: `files may be sent from: ${roots.join(', ') || 'nowhere'}`,
    })
  }

  /** Whether it is another name of a state file. A hard link looks like any file, wherever it is. */
  async function isAlias(
    facts: Inode,
    { never, everywhere }: { readonly never: readonly string[]; readonly everywhere: boolean },
  ): Promise<boolean> {
    for (const place of never)
      for (const path of everywhere ? await filesOf(place) : [place]) {
        const kept = await stat(path).catch(() => null)
        if (kept?.ino === facts.ino && kept.dev === facts.dev)
          return !(await within(path, config.attachments))
      }
    return false
  }
}

interface Places {
  readonly never: readonly string[]
  readonly roots: readonly string[]
}

interface Inode {
  readonly dev: number
  readonly ino: number
}

/** Returns the daemon's state: its folder, and its database wherever it is. */
export function statePlaces(dataFolder: string, store: string): readonly string[] {
  const database = databaseFile(store)
  return [dataFolder, ...(database === null ? [] : ['', '-wal', '-shm'].map((end) => database + end))]
}

/** Null: the store is not a file. */
export function databaseFile(store: string): string | null {
  return /^sqlite:(.+)$/.exec(store)?.[1] ?? null
}

/** Returns the present path of the opened file; null: `real` no longer names it. `sure`: the kernel confirms it. */
async function whereIs(
  file: FileHandle,
  real: string,
): Promise<{ readonly path: string; readonly sure: boolean } | null> {
  const shown = await realpath(`/proc/self/fd/${file.fd}`).catch(() => null)
  if (shown !== null) return { path: shown, sure: true }
  const path = await realpath(real).catch(() => null)
  if (path === null) return null
  const [opened, named] = await Promise.all([file.stat(), stat(path).catch(() => null)])
  if (named?.ino !== opened.ino || named.dev !== opened.dev) return null
  return (await realpath(real).catch(() => null)) === path ? { path, sure: false } : null
}

/** `~/.ssh/…`, `~/.netrc`: where programs keep private data. */
async function isHidden(real: string, home: string): Promise<boolean> {
  const folder = await realpath(home).catch(() => null)
  if (folder === null) return false
  const inside = folder.endsWith(sep) ? folder : folder + sep
  return real.startsWith(`${inside}.`)
}

async function filesOf(place: string): Promise<readonly string[]> {
  const found = await readdir(place, { recursive: true, withFileTypes: true }).catch(() => null)
  if (found === null) return [place]
  return found.filter((one) => one.isFile()).map((one) => join(one.parentPath, one.name))
}

/** Whether the file is the place, or inside it. A missing place contains nothing. */
async function within(real: string, place: string): Promise<boolean> {
  const folder = await realpath(place).catch(() => null)
  if (folder === null) return false
  return real === folder || real.startsWith(folder.endsWith(sep) ? folder : folder + sep)
}

function state(path: string): SwitchboardError {
  return wrong(`refusing to send channel state: ${path}`)
}

function wrong(message: string): SwitchboardError {
  return new SwitchboardError('input_invalid', message)
}
