// The note of a running daemon in its data folder: which process holds it, and where it listens.
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import type { DataFolder } from './data-folder.ts'

export interface DaemonNote {
  readonly pid: number
  readonly url: string
  readonly startedAt: number
  readonly version: string
  /** The file that it runs, with links followed. Null: the embedded default. Absent: an older daemon. */
  readonly config?: string | null
  /** It ends by itself when no host is attached, and gives way to an `up` without that option. */
  readonly idleExit?: boolean
  /** A service manager runs it: the name of its unit, or '' when that is not known. */
  readonly service?: string
}

export function readDaemonNote(folder: DataFolder): DaemonNote | null {
  try {
    const note = JSON.parse(readFileSync(folder.daemonFile, 'utf8')) as DaemonNote
    return typeof note.pid === 'number' && typeof note.url === 'string' ? note : null
  } catch {
    return null // absent, or torn by a crash: it only helps a message
  }
}

export function writeDaemonNote(folder: DataFolder, note: DaemonNote): void {
  const fresh = `${folder.daemonFile}.${note.pid}`
  writeFileSync(fresh, `${JSON.stringify(note)}\n`, { mode: 0o600 })
  renameSync(fresh, folder.daemonFile)
  removeStartingNote(folder)
}

export function removeDaemonNote(folder: DataFolder): void {
  rmSync(folder.daemonFile, { force: true })
}

/** The note while it holds the folder and is not ready. */
export type StartingNote = Pick<DaemonNote, 'pid' | 'config' | 'idleExit' | 'service'>

function readStartingNote(folder: DataFolder): StartingNote | null {
  try {
    const note = JSON.parse(readFileSync(folder.startingFile, 'utf8')) as StartingNote
    return Number.isInteger(note.pid) && note.pid > 0 ? note : null
  } catch {
    return null // absent, or torn: then the holder is not known
  }
}

/** The note of the process that holds the folder. `silent`: it drains, or is a command. */
export type HolderNote =
  | { readonly state: 'starting'; readonly note: StartingNote }
  | { readonly state: 'ready'; readonly note: DaemonNote }
  | { readonly state: 'silent'; readonly note: null }

/** Only for a folder that a process holds. Otherwise it may be the note of a process that was killed. */
export function readHolderNote(folder: DataFolder): HolderNote {
  const starting = readStartingNote(folder)
  if (starting !== null) return { state: 'starting', note: starting }
  const ready = readDaemonNote(folder)
  return ready === null ? { state: 'silent', note: null } : { state: 'ready', note: ready }
}

/** Never throws: a daemon starts without it too. */
export function writeStartingNote(folder: DataFolder, note: StartingNote): void {
  try {
    writeFileSync(folder.startingFile, `${JSON.stringify(note)}\n`, { mode: 0o600 })
  } catch {
    // Then `stop` only knows that a process holds the folder.
  }
}

export function removeStartingNote(folder: DataFolder): void {
  rmSync(folder.startingFile, { force: true })
}
