// Which files of this machine a host may attach to a reply: any that it names by its whole path, but nothing of the data
// folder except what people sent. What a host could read it could also paste; keys and messages of others it could not.
import { constants } from 'node:fs'
import { open, realpath } from 'node:fs/promises'
import { basename, extname, isAbsolute, sep } from 'node:path'
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
        // Asked of what was opened: nobody can change it in between.
        const facts = await file.stat()
        if (!facts.isFile()) throw wrong(`files: ${path} is not a file`)
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
    for (const place of config.never) if (await within(real, place)) return true
    return false
  }
}

/** What a daemon keeps: its folder, and its database wherever that is. */
export function statePlaces(dataFolder: string, store: string): readonly string[] {
  const database = /^sqlite:(.+)$/.exec(store)?.[1]
  return [dataFolder, ...(database === undefined ? [] : ['', '-wal', '-shm'].map((end) => database + end))]
}

/** Whether the file is the place, or in it. A place that is not there holds nothing. */
async function within(real: string, place: string): Promise<boolean> {
  const folder = await realpath(place).catch(() => null)
  return folder !== null && (real === folder || real.startsWith(folder + sep))
}

function wrong(message: string): SwitchboardError {
  return new SwitchboardError('input_invalid', message)
}
