// Exactly one daemon owns a data folder. The lock is SQLite's own exclusive file lock on a file that holds nothing:
// the kernel frees it when the process ends, kill -9 included, so no stale lock can keep an owner out.
import { DatabaseSync } from '@photostructure/sqlite'
import { SwitchboardError } from '../../contract/index.ts'
import { sqliteError } from './errors.ts'

export interface FolderLock {
  release(): void
}

/** Who looks holds it for an instant as a reader: an owner to be waits for that. */
const LOOK_MS = 100

/** Null when somebody else holds it. */
export function takeFolderLock(file: string): FolderLock | null {
  let database: InstanceType<typeof DatabaseSync>
  try {
    database = new DatabaseSync(file)
    database.exec(
      `PRAGMA busy_timeout = ${LOOK_MS}; PRAGMA journal_mode = DELETE; PRAGMA locking_mode = EXCLUSIVE`,
    )
  } catch (thrown) {
    if (isBusy(thrown)) return null
    throw new SwitchboardError('store_unavailable', `the lock file cannot be opened: ${String(thrown)}`, {
      hint: 'check that the data folder exists and is writable',
      cause: thrown,
    })
  }
  try {
    database.exec('BEGIN EXCLUSIVE')
  } catch (thrown) {
    database.close()
    if (isBusy(thrown)) return null
    throw sqliteError(thrown) ?? thrown
  }
  return {
    release() {
      database.exec('ROLLBACK')
      database.close()
    },
  }
}

/** Asked without taking it: who looks is never mistaken for an owner, by another who looks or by one who takes it. */
export function isFolderLocked(file: string): boolean {
  let database: InstanceType<typeof DatabaseSync> | null = null
  try {
    database = new DatabaseSync(file, { readOnly: true })
    database.exec('PRAGMA busy_timeout = 0')
    database.prepare('SELECT count(*) FROM sqlite_master').get()
    return false
  } catch (thrown) {
    if (isBusy(thrown)) return true
    throw sqliteError(thrown) ?? thrown
  } finally {
    database?.close()
  }
}

function isBusy(thrown: unknown): boolean {
  return /locked|busy/i.test(String(thrown))
}
