// Ensures that exactly one daemon owns a data folder. The lock is SQLite's exclusive file lock on an empty file. The
// kernel releases it when the process ends, even after kill -9, so no stale lock can remain.
import { DatabaseSync } from '@photostructure/sqlite'
import { SwitchboardError } from '../../contract/index.ts'
import { sqliteError } from './errors.ts'

export interface FolderLock {
  release(): void
}

/** A check holds the lock briefly as a reader. A new owner waits for that. */
const LOOK_MS = 100

/**
 * Takes the lock. Returns null when another process holds it. Throws `store_unavailable` when the lock file cannot be
 * opened.
 */
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

/** Returns whether the folder is locked, without taking the lock. A check is never mistaken for an owner. */
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
