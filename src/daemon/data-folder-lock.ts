// The lock on a data folder: taking it, naming the node that owns it, and refusing it while another daemon holds it.
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { hostname } from 'node:os'
import {
  type HolderNote,
  readHolderNote,
  removeDaemonNote,
  removeStartingNote,
  type StartingNote,
  writeStartingNote,
} from '../config/instance/daemon-note.ts'
import type { DataFolder } from '../config/instance/data-folder.ts'
import { SwitchboardError } from '../contract/index.ts'
import { type FolderLock, isFolderLocked, takeFolderLock } from '../store/sqlite/folder-lock.ts'

/**
 * Returns null if the lock is taken. Removes the notes of a killed daemon, so that no command takes them for the new
 * holder's. `daemon` is the note until the daemon is ready. A command passes none.
 */
export function lockDataFolder(folder: DataFolder, daemon?: StartingNote): FolderLock | null {
  const lock = takeFolderLock(folder.lockFile)
  if (lock === null) return null
  try {
    removeDaemonNote(folder)
    removeStartingNote(folder)
    if (daemon !== undefined) writeStartingNote(folder, daemon)
  } catch (thrown) {
    lock.release()
    throw thrown
  }
  return {
    release() {
      try {
        removeStartingNote(folder)
      } finally {
        lock.release()
      }
    },
  }
}

/** Returns null if the folder is free. */
export function folderHolder(folder: DataFolder): HolderNote | null {
  if (!existsSync(folder.lockFile)) return null
  if (!isFolderLocked(folder.lockFile)) return null
  return readHolderNote(folder)
}

/** The error for a process that did not get the folder. */
export function dataFolderInUse(
  folder: DataFolder,
  hint = 'stop that one first, or choose another folder with --data',
): SwitchboardError {
  const who = whoHolds(readHolderNote(folder))
  return new SwitchboardError('data_folder_held', `the data folder ${folder.path} is held by ${who}`, {
    hint,
  })
}

function whoHolds({ state, note }: HolderNote): string {
  if (state === 'starting') return `process ${note.pid}, which is starting`
  if (state === 'ready')
    return `process ${note.pid} at ${note.url}, since ${new Date(note.startedAt).toISOString()}`
  return 'a daemon that stops, or by a command'
}

/** The name stays the same after a restart and differs between two folders of one machine. */
export function nodeName(folder: DataFolder): string {
  return `${hostname()}-${createHash('sha256').update(folder.path).digest('hex').slice(0, 6)}`
}
