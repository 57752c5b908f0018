// Files that only their owner may read: keys and tokens. Written whole or not at all, so that kill -9 leaves no half.
import { randomBytes } from 'node:crypto'
import {
  chmodSync,
  closeSync,
  fchmodSync,
  fstatSync,
  fsyncSync,
  linkSync,
  openSync,
  readFileSync,
  renameSync,
  unlinkSync,
  writeSync,
} from 'node:fs'
import { basename, dirname } from 'node:path'
import { SwitchboardError } from '../../contract/index.ts'
import { shellWord } from '../instance/shell-word.ts'

/** The text of a private file. Null: there is none. Throws `config_invalid` when others can read it, or made it. */
export function readPrivate(path: string): string | null {
  let handle: number
  try {
    handle = openSync(path, 'r')
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw new SwitchboardError('config_invalid', `${path} cannot be read`, { cause: thrown })
  }
  try {
    // Checked on the open handle, so that the checked file is the one that is read.
    const { mode, uid } = fstatSync(handle)
    if (isForeign(uid)) throw foreignFile(path, uid)
    if (process.platform !== 'win32' && (mode & 0o077) !== 0) {
      throw new SwitchboardError(
        'config_invalid',
        `${path} can be read by others (mode ${(mode & 0o777).toString(8)})`,
        {
          hint: `run: chmod 600 ${path} — and if others had access, rotate what it protects`,
        },
      )
    }
    return readFileSync(handle, 'utf8')
  } finally {
    closeSync(handle)
  }
}

/** Somebody else's file: a key in it is no secret of ours. Where there are no owners, none is. */
export function isForeign(uid: number): boolean {
  const own = process.getuid?.()
  return own !== undefined && uid !== own
}

function foreignFile(path: string, uid: number): SwitchboardError {
  return new SwitchboardError('config_invalid', `${path} belongs to another user (uid ${uid})`, {
    hint: `that user knows what is in it. If it was you: chown ${process.getuid?.()} ${shellWord(path)}; if not, remove it`,
  })
}

/** Creates a private file unless it exists. True if this call created it. */
export function createPrivate(path: string, text: string): boolean {
  const draft = writeDraft(path, text)
  try {
    // link fails if the name is taken: O_EXCL for a file that is already complete.
    linkSync(draft, path)
    syncFolder(dirname(path))
    return true
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw thrown
  } finally {
    unlinkSync(draft)
  }
}

/**
 * Makes a file that another program fills (a database) its owner's alone before the first byte is in it. What SQLite
 * puts beside its file takes the mode from it. Where that cannot be done, whoever opens the file says why. Throws
 * `config_invalid` when another user made it: what is in it would be that user's.
 */
export function keepPrivate(path: string): void {
  if (process.platform === 'win32') return
  let foreign: number | null = null
  try {
    const handle = openSync(path, 'a', 0o600)
    try {
      const { mode, uid } = fstatSync(handle)
      if (isForeign(uid)) foreign = uid
      else if ((mode & 0o077) !== 0) fchmodSync(handle, 0o600)
    } finally {
      closeSync(handle)
    }
  } catch {
    // Told by the one that opens it, with the reason.
  }
  if (foreign !== null) throw foreignFile(path, foreign)
}

/** Moves one private file over another, atomically and durably. */
export function movePrivate(from: string, to: string): void {
  renameSync(from, to)
  syncFolder(dirname(to))
}

export function removePrivate(path: string): void {
  try {
    unlinkSync(path)
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code !== 'ENOENT') throw thrown
  }
  syncFolder(dirname(path))
}

function writeDraft(path: string, text: string): string {
  const draft = `${dirname(path)}/.${basename(path)}.${randomBytes(6).toString('hex')}`
  const handle = openSync(draft, 'wx', 0o600)
  try {
    writeSync(handle, text)
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
  chmodSync(draft, 0o600)
  return draft
}

function syncFolder(folder: string): void {
  if (process.platform === 'win32') return
  const handle = openSync(folder, 'r')
  try {
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}
