// What the running daemon leaves in its data folder for others to read: who holds it, and where it listens.
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import type { DataFolder } from './data-folder.ts'

export interface DaemonNote {
  readonly pid: number
  readonly url: string
  readonly startedAt: number
  readonly version: string
  /** The file that it runs, links followed; null: the embedded default. Absent: an older daemon. */
  readonly config?: string | null
  /** It ends by itself when nobody needs it, and gives way to an `up` that does not. */
  readonly idleExit?: boolean
  /** A service manager runs it: the name of its unit, empty where that is not known. */
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

/** What a daemon says of itself from when it holds the folder until it is ready. */
export type StartingNote = Pick<DaemonNote, 'pid' | 'config' | 'idleExit' | 'service'>

function readStartingNote(folder: DataFolder): StartingNote | null {
  try {
    const note = JSON.parse(readFileSync(folder.startingFile, 'utf8')) as StartingNote
    return Number.isInteger(note.pid) && note.pid > 0 ? note : null
  } catch {
    return null // absent, or torn: then the holder is not known
  }
}

/** What the holder of the folder says of itself; `silent`: it drains, or is a command. */
export type HolderNote =
  | { readonly state: 'starting'; readonly note: StartingNote }
  | { readonly state: 'ready'; readonly note: DaemonNote }
  | { readonly state: 'silent'; readonly note: null }

/** Of a folder that somebody holds: where nobody does, it may be what one who was killed said. */
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
    // `stop` then only knows that somebody holds the folder.
  }
}

export function removeStartingNote(folder: DataFolder): void {
  rmSync(folder.startingFile, { force: true })
}
