// Ensures that exactly one daemon writes to a database file, whichever folders lead to it. The lock is like the folder
// lock and lies beside the file's real path. A small file next to it names the holder for people.
import { readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { SwitchboardError } from '../../contract/index.ts'
import { type FolderLock, takeFolderLock } from './folder-lock.ts'

export interface DatabaseHolder {
  /** The data folder whose daemon holds the lock. */
  readonly data: string
  readonly pid: number
}

/** Takes the lock. Throws `data_folder_held` with the name of the other holder. */
export function takeDatabaseLock(file: string, holder: DatabaseHolder): FolderLock {
  const real = realPath(file)
  const lock = takeFolderLock(`${real}.lock`)
  const note = `${real}.holder`
  if (!lock) throw held(file, readHolder(note))
  // For people only: the lock holds even if this cannot be written.
  attempt(() => writeFileSync(note, `${JSON.stringify(holder)}\n`, { mode: 0o600 }))
  return {
    release() {
      attempt(() => rmSync(note, { force: true }))
      lock.release()
    },
  }
}

/** Returns the path with all links resolved. A missing file is resolved by its folder. */
export function realPath(file: string): string {
  for (const [known, rest] of [
    [file, ''],
    [dirname(file), basename(file)],
  ] as const) {
    try {
      return join(realpathSync(known), rest)
    } catch {
      // Tries the folder next. Opening the file reports any problem.
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
    // As explained above.
  }
}
