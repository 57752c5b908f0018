// Holds an embedded database before it is opened for writing: no other daemon has it, and no rescued copy is left over.
import { existsSync } from 'node:fs'
import type { DataFolder } from '../../config/instance/data-folder.ts'
import { readLastRun } from '../../config/instance/last-run.ts'
import { shellWord } from '../../config/instance/shell-word.ts'
import { type Logger, SwitchboardError } from '../../contract/index.ts'
import { realPath, takeDatabaseLock } from '../../store/sqlite/database-lock.ts'
import { damagedLog, neededRescue, rescuePlaces, tagOf } from '../../store/sqlite/rescued.ts'
import { removeCutRestore } from '../backup/cut-short.ts'

export interface HeldDatabase {
  /** The targets of a copy if the file is removed while it is open. */
  readonly rescuePlaces: readonly string[]
  release(): void
}

const NOTHING_TO_HOLD: HeldDatabase = { rescuePlaces: [], release: () => undefined }

/** Returns the file of an embedded store, or null for other stores. */
export function databasePath(store: string): string | null {
  const path = store.startsWith('sqlite:') ? store.slice('sqlite:'.length) : ''
  return path === '' || path.startsWith(':') ? null : path
}

/**
 * Throws `data_folder_held` if another daemon has the database. Throws `config_invalid` if a rescued copy has more than
 * the database, or if it is not the folder's database.
 */
export function holdDatabase(store: string, folder: DataFolder, log: Logger): HeldDatabase {
  const file = databasePath(store)
  if (file === null) return NOTHING_TO_HOLD
  const lock = takeDatabaseLock(file, { data: folder.path, pid: process.pid })
  for (const path of removeCutRestore(folder, file))
    log.info({ path }, 'a restore was cut short: what it left was removed')
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
  try {
    demandOwnDatabase(file, folder, log)
  } catch (thrown) {
    lock.release()
    throw thrown
  }
  return { rescuePlaces: places, release: () => lock.release() }
}

/** Refuses an empty or foreign database where there was one, because its content would be lost silently. */
function demandOwnDatabase(file: string, folder: DataFolder, log: Logger): void {
  const own = shellWord(folder.path)
  const aside = damagedLog(file)
  if (aside !== null)
    throw new SwitchboardError(
      'config_invalid',
      `the database ${file} was written over while a daemon ran: what that had not folded into it yet is in ${aside}`,
      {
        hint: `put a backup back with: switchboard restore BACKUP --replace --data ${own} (or, to go on with what is there, move ${shellWord(aside)} elsewhere)`,
      },
    )
  const known = readLastRun(folder)?.database
  // The keys prove nothing here, because this start has created them.
  if (known === undefined && !existsSync(file) && existsSync(folder.lastLifeFile))
    log.warn({ file }, 'this data folder was used before, but its database is not there: starting with none')
  if (known === undefined || known.file !== realPath(file)) return
  const tag = existsSync(file) ? tagOf(file) : null
  if (tag === known.tag || (tag === null && existsSync(file))) return
  const what = tag === null ? 'is not there' : 'is another one'
  throw new SwitchboardError(
    'config_invalid',
    `this data folder was used before, but its database ${file} ${what}: nothing is started beside what is missing`,
    {
      hint:
        `put it back, or a backup of it: switchboard restore BACKUP${tag === null ? '' : ' --replace'} --data ${own}; ` +
        `or, to begin anew ${tag === null ? 'with none' : 'with that one'}, remove ${shellWord(folder.lastLifeFile)}`,
    },
  )
}
