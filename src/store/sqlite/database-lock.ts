// Exactly one daemon writes to a database file, whichever folders lead to it: a lock of the folder's kind beside the
// file's real path. What is told about its holder lies in a small file next to it, for whoever finds it taken.
import { readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { SwitchboardError } from '../../contract/index.ts'
import { type FolderLock, takeFolderLock } from './folder-lock.ts'

export interface DatabaseHolder {
  /** The data folder whose daemon has it. */
  readonly data: string
  readonly pid: number
}

/** Throws `data_folder_held` with the name of the other. */
export function takeDatabaseLock(file: string, holder: DatabaseHolder): FolderLock {
  const real = realPath(file)
  const lock = takeFolderLock(`${real}.lock`)
  const note = `${real}.holder`
  if (!lock) throw held(file, readHolder(note))
  // Only for people: where it cannot be written the lock still holds.
  attempt(() => writeFileSync(note, `${JSON.stringify(holder)}\n`, { mode: 0o600 }))
  return {
    release() {
      attempt(() => rmSync(note, { force: true }))
      lock.release()
    },
  }
}

/** With every link resolved; a file that is not there yet lies in its folder. */
export function realPath(file: string): string {
  for (const [known, rest] of [
    [file, ''],
    [dirname(file), basename(file)],
  ] as const) {
    try {
      return join(realpathSync(known), rest)
    } catch {
      // Its folder, then; whoever opens the file says what is wrong with that.
    }
  }
  return file
}

function readHolder(note: string): DatabaseHolder | null {
  try {
    return JSON.parse(readFileSync(note, 'utf8')) as DatabaseHolder
  } catch {
    return null
  }
}

function held(file: string, by: DatabaseHolder | null): SwitchboardError {
  const who = by ? `the daemon of the data folder ${by.data} (process ${by.pid})` : 'another daemon'
  return new SwitchboardError('data_folder_held', `the database ${file} is held by ${who}`, {
    hint: 'give each data folder a database of its own (store:), or use PostgreSQL for several nodes',
  })
}

function attempt(work: () => void): void {
  try {
    work()
  } catch {
    // As said above.
  }
}
