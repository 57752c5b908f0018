// Which files of this machine a host may attach to a reply: any that it names by its whole path, but nothing of the data
// folder except what people sent. What a host could read it could also paste; keys and messages of others it could not.
import { constants } from 'node:fs'
import { type FileHandle, open, readdir, realpath, stat } from 'node:fs/promises'
import { basename, extname, isAbsolute, join, sep } from 'node:path'
import { type NewFile, SwitchboardError } from '../contract/index.ts'

export interface SendableFilesConfig {
  /** Nothing in these is sent: the data folder, and the database where it lies elsewhere. */
  readonly never: readonly string[]
  /** Except what is in here: attachments that people sent. */
  readonly attachments: string
  readonly maxBytes?: number
}

const MAX_BYTES = 50 * 1_048_576
// A pipe without a writer must not hold anybody up.
const READ = constants.O_RDONLY | constants.O_NONBLOCK
// What the kernel shows there is about this very process: `/proc/self/environ` is the daemon's secrets.
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

export function createSendableFiles(config: SendableFilesConfig): { read(path: string): Promise<NewFile> } {
  const maxBytes = config.maxBytes ?? MAX_BYTES
  return {
    async read(path) {
      if (!isAbsolute(path)) throw wrong(`files: "${path}" is not an absolute path`)
      // Links are followed before anything is judged.
      const real = await realpath(path).catch(() => null)
      if (real === null) throw wrong(`files: there is no file ${path}`)
      if (await isState(real)) throw wrong(`refusing to send channel state: ${path}`)
      const file = await open(real, READ).catch(() => null)
      if (file === null) throw wrong(`files: ${path} cannot be read`)
      try {
        // Asked of what was opened: whoever changes a link or a folder in between changes nothing.
        const facts = await file.stat()
        if (!facts.isFile()) throw wrong(`files: ${path} is not a file`)
        const opened = await whereIs(file, real)
        if (opened === null) throw wrong(`files: ${path} changed while it was read`)
        if ((await isState(opened)) || (facts.nlink > 1 && (await isAlias(facts))))
          throw wrong(`refusing to send channel state: ${path}`)
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

  async function isState(real: string): Promise<boolean> {
    if (await within(real, config.attachments)) return false
    for (const place of [...OF_THE_KERNEL, ...config.never]) if (await within(real, place)) return true
    return false
  }

  /** Another name for a file of the state: a hard link looks like any file, wherever it lies. */
  async function isAlias(facts: { readonly dev: number; readonly ino: number }): Promise<boolean> {
    for (const place of config.never)
      for (const path of await filesOf(place)) {
        const kept = await stat(path).catch(() => null)
        if (kept?.ino === facts.ino && kept.dev === facts.dev)
          return !(await within(path, config.attachments))
      }
    return false
  }
}

/** What a daemon keeps: its folder, and its database wherever that is. */
export function statePlaces(dataFolder: string, store: string): readonly string[] {
  const database = /^sqlite:(.+)$/.exec(store)?.[1]
  return [dataFolder, ...(database === undefined ? [] : ['', '-wal', '-shm'].map((end) => database + end))]
}

/** Where what was opened lies now; null: it is not what `real` names any more. */
async function whereIs(file: FileHandle, real: string): Promise<string | null> {
  const shown = await realpath(`/proc/self/fd/${file.fd}`).catch(() => null)
  if (shown !== null) return shown
  const [opened, named, again] = await Promise.all([
    file.stat(),
    stat(real).catch(() => null),
    realpath(real).catch(() => null),
  ])
  return named?.ino === opened.ino && named.dev === opened.dev ? again : null
}

async function filesOf(place: string): Promise<readonly string[]> {
  const found = await readdir(place, { recursive: true, withFileTypes: true }).catch(() => null)
  if (found === null) return [place]
  return found.filter((one) => one.isFile()).map((one) => join(one.parentPath, one.name))
}

/** Whether the file is the place, or in it. A place that is not there holds nothing. */
async function within(real: string, place: string): Promise<boolean> {
  const folder = await realpath(place).catch(() => null)
  return folder !== null && (real === folder || real.startsWith(folder + sep))
}

function wrong(message: string): SwitchboardError {
  return new SwitchboardError('input_invalid', message)
}
