// Copies a database page by page during other writes, without blocking the event loop.
import { backup, DatabaseSync, type DatabaseSyncInstance } from '@photostructure/sqlite'
import type { CopyProgress } from '../../contract/index.ts'
import { sqliteError } from './errors.ts'

/** Pages per step: some MiB, so other users of the handle wait for milliseconds. */
const STEP_PAGES = 512

/**
 * Copies everything this handle sees, even when its file has no name any more. No writes may run through it meanwhile.
 * Throws a SwitchboardError for a database error.
 */
export async function copyFromHandle(
  database: DatabaseSyncInstance,
  to: string,
  onProgress?: CopyProgress,
): Promise<void> {
  try {
    await backup(database, to, {
      rate: STEP_PAGES,
      progress: ({ totalPages, remainingPages }) => onProgress?.(totalPages - remainingPages, totalPages),
    })
  } catch (thrown) {
    throw sqliteError(thrown) ?? thrown
  }
}

/** Copies one snapshot of the file, whatever is written meanwhile. Throws likewise. */
export async function copyFromFile(file: string, to: string, onProgress?: CopyProgress): Promise<void> {
  const database = new DatabaseSync(file, { readOnly: true, timeout: 2000 })
  try {
    // An open read transaction, so every step copies the same snapshot.
    database.exec('BEGIN')
    database.exec('SELECT count(*) FROM sqlite_master')
    await copyFromHandle(database, to, onProgress)
  } finally {
    if (database.isTransaction) database.exec('ROLLBACK')
    database.close()
  }
}
