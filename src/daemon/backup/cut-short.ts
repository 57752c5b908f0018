// What a backup or a restore that was killed left behind: folders and drafts with everything in them that people said.
import { existsSync, readdirSync, rmSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { DataFolder } from '../../config/index.ts'
import { DATABASE } from './manifest.ts'

/** Under the folder's lock, so that no restore is at work there. Returns what was removed. */
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

/** Files that were being put into the folder of attachments. */
function halfFiles(attachments: string): readonly string[] {
  if (!existsSync(attachments)) return []
  return readdirSync(attachments, { recursive: true, encoding: 'utf8' })
    .filter((path) => /^\..*\.part$/.test(basename(path)))
    .map((path) => join(attachments, path))
}

/** One that is being written was changed within the hour. */
const AT_WORK_MS = 3_600_000

/** Drafts of a backup of this name that nobody finished. */
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
