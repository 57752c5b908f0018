// Whose data folder it is: who takes it, the name of the node that owns it, and the refusal when another daemon does.
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { hostname } from 'node:os'
import {
  readDaemonNote,
  readStartingNote,
  removeDaemonNote,
  removeStartingNote,
  type StartingNote,
  writeStartingNote,
} from '../config/daemon-note.ts'
import type { DataFolder } from '../config/data-folder.ts'
import { SwitchboardError } from '../contract/index.ts'
import { type FolderLock, isFolderLocked, takeFolderLock } from '../store/sqlite/folder-lock.ts'

/**
 * Null when somebody else holds it. What a daemon that was killed said of itself is then gone: no command takes it for the
 * new holder's. `daemon`: what is said until it is ready; absent: a command, which has nothing to say.
 */
export function holdFolder(folder: DataFolder, daemon?: StartingNote): FolderLock | null {
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

/** Null: nobody holds the folder. `note` is null where the holder is a command, or a daemon that drains. */
export function folderHolder(folder: DataFolder): { readonly note: StartingNote | null } | null {
  if (!existsSync(folder.lockFile)) return null
  if (!isFolderLocked(folder.lockFile)) return null
  return { note: readStartingNote(folder) ?? readDaemonNote(folder) }
}

export function folderHeld(
  folder: DataFolder,
  holder: { pid: number; url: string; startedAt: number } | null,
): SwitchboardError {
  const who = holder
    ? `process ${holder.pid} at ${holder.url}, since ${new Date(holder.startedAt).toISOString()}`
    : 'another daemon'
  return new SwitchboardError('data_folder_held', `the data folder ${folder.path} is held by ${who}`, {
    hint: 'stop that one first, or choose another folder with --data',
  })
}

/** The same after a restart, different for two folders of one machine. */
export function nodeName(folder: DataFolder): string {
  return `${hostname()}-${createHash('sha256').update(folder.path).digest('hex').slice(0, 6)}`
}
