// What the running daemon leaves in its data folder for others to read: who holds it, and where it listens.
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { DataFolder } from '../config/index.ts'

export interface DaemonNote {
  readonly pid: number
  readonly url: string
  readonly startedAt: number
  readonly version: string
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
}

export function removeDaemonNote(folder: DataFolder): void {
  rmSync(folder.daemonFile, { force: true })
}

/** The folder where one integration keeps attachments. */
export function attachmentsOf(folder: DataFolder, integration: string): string {
  const path = join(folder.attachments, encodeURIComponent(integration).replaceAll('.', '%2E'))
  mkdirSync(path, { recursive: true, mode: 0o700 })
  return path
}
