// Exactly one daemon owns a data folder. The lock is SQLite's own exclusive file lock on a file that holds nothing:
// the kernel frees it when the process ends, kill -9 included, so no stale lock can keep an owner out.
import { DatabaseSync } from '@photostructure/sqlite'
import { SwitchboardError } from '../../contract/index.ts'
import { sqliteError } from './errors.ts'

export interface FolderLock {
  release(): void
}

/** Null when somebody else holds it. */
export function takeFolderLock(file: string): FolderLock | null {
  let database: InstanceType<typeof DatabaseSync>
  try {
    database = new DatabaseSync(file)
    database.exec('PRAGMA busy_timeout = 0; PRAGMA journal_mode = DELETE; PRAGMA locking_mode = EXCLUSIVE')
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

function isBusy(thrown: unknown): boolean {
  return /locked|busy/i.test(String(thrown))
}
