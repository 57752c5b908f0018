// Which configuration file the daemons of a data folder ran, and since when. It tells whether turns were received under a
// file: then a new project that names their integration does not start empty beside them.
import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import type { DataFolder } from './data-folder.ts'

export interface StartRecord {
  /** Null: the embedded default. */
  readonly config: string | null
  readonly at: number
}

/** Starts of the same file in a row are one record. A folder that changed its file more often keeps the newest. */
const MOST_RECORDS = 1_000

/** The oldest first. A folder without records ran only the embedded default, or a version that kept none. */
export function readStarts(folder: Pick<DataFolder, 'startsFile'>): readonly StartRecord[] {
  try {
    const records = JSON.parse(readFileSync(folder.startsFile, 'utf8')) as readonly StartRecord[]
    return records.filter(
      ({ config, at }) => Number.isFinite(at) && (config === null || typeof config === 'string'),
    )
  } catch {
    return [] // absent or torn: then no start is known
  }
}

/** Never throws: a daemon starts without the record too. */
export function recordStart(folder: Pick<DataFolder, 'startsFile'>, start: StartRecord): void {
  const before = readStarts(folder)
  if (before.at(-1)?.config === start.config) return
  // Without a record the folder counts as the embedded default's already.
  if (before.length === 0 && start.config === null) return
  try {
    const fresh = `${folder.startsFile}.${process.pid}`
    writeFileSync(fresh, `${JSON.stringify([...before, start].slice(-MOST_RECORDS))}\n`, { mode: 0o600 })
    renameSync(fresh, folder.startsFile)
  } catch {
    // A folder that cannot be written is reported elsewhere.
  }
}
