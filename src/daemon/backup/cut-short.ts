// Removes what a killed backup or restore left behind. These folders and drafts contain people's messages.
import { existsSync, readdirSync, rmSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { DataFolder } from '../../config/index.ts'
import { DATABASE } from './manifest.ts'

/** Call it under the folder's lock, so that no restore is running. Returns the removed paths. */
export function removeCutRestore(folder: DataFolder, database: string): readonly string[] {
  const scratch = namesIn(folder.path).filter((name) => /^\.restore-[0-9a-f]{8}$/.test(name))
  const found = [
    ...scratch.map((name) => join(folder.path, name)),
    ...['', '-wal', '-shm']
      .map((ending) => `${database}.restoring${ending}`)
      .filter((path) => existsSync(path)),
    ...(scratch.length > 0 ? halfFiles(folder.attachments) : []),
  ]
  for (const path of found) rmSync(path, { recursive: true, force: true })
  return found
}

const namesIn = (folder: string) => (existsSync(folder) ? readdirSync(folder) : [])

/** Unfinished files in the folder of attachments. */
function halfFiles(attachments: string): readonly string[] {
  if (!existsSync(attachments)) return []
  return readdirSync(attachments, { recursive: true, encoding: 'utf8' })
    .filter((path) => /^\..*\.part$/.test(basename(path)))
    .map((path) => join(attachments, path))
}

/** A draft that changed within this time may still be written. */
const AT_WORK_MS = 3_600_000

/** Removes unfinished drafts of a backup of this name. */
export function removeCutBackups(path: string, now: number): void {
  const start = `.${basename(path)}.`
  for (const name of namesIn(dirname(path))) {
    if (!name.startsWith(start) || !/^[0-9a-f]{8}\.part(\.tar)?$/.test(name.slice(start.length))) continue
    const draft = join(dirname(path), name)
    const times = [draft, join(draft, DATABASE)].map((at) => statSync(at, { throwIfNoEntry: false })?.mtimeMs)
    if (times.every((time) => time === undefined || time < now - AT_WORK_MS))
      rmSync(draft, { recursive: true, force: true })
  }
}
