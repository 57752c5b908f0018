// Before an embedded database is opened for writing: nobody else has it, and nothing that was rescued from it is left behind.
import { existsSync } from 'node:fs'
import type { DataFolder } from '../config/data-folder.ts'
import { shellWord } from '../config/shell-word.ts'
import { type Logger, SwitchboardError } from '../contract/index.ts'
import { takeDatabaseLock } from '../store/sqlite/database-lock.ts'
import { neededRescue, rescuePlaces } from '../store/sqlite/rescued.ts'

export interface HeldDatabase {
  /** Where a copy goes if the file is taken away while it is open. */
  readonly rescuePlaces: readonly string[]
  release(): void
}

const NOTHING_TO_HOLD: HeldDatabase = { rescuePlaces: [], release: () => undefined }

/** The path of an embedded store's file; null for every other store. */
export function databasePath(store: string): string | null {
  const path = store.startsWith('sqlite:') ? store.slice('sqlite:'.length) : ''
  return path === '' || path.startsWith(':') ? null : path
}

/** Throws `data_folder_held` (another daemon has it) or `config_invalid` (a rescued copy has more than the database). */
export function holdDatabase(store: string, folder: DataFolder, log: Logger): HeldDatabase {
  const file = databasePath(store)
  if (file === null) return NOTHING_TO_HOLD
  const lock = takeDatabaseLock(file, { data: folder.path, pid: process.pid })
  const places = rescuePlaces(file, folder.path)
  const needed = neededRescue(file, places)
  if (needed !== null) {
    lock.release()
    throw new SwitchboardError(
      'config_invalid',
      `${needed} holds messages that the database ${file} does not: it was rescued when that file was taken away`,
      {
        hint: `put it back with: switchboard restore ${shellWord(needed)} --data ${shellWord(folder.path)} (or, to go on without it, move it elsewhere)`,
      },
    )
  }
  // Not by the keys: this very start has made them.
  if (!existsSync(file) && existsSync(folder.lastLifeFile))
    log.warn({ file }, 'this data folder was used before, but its database is not there: starting with none')
  return { rescuePlaces: places, release: () => lock.release() }
}
