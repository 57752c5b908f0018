// Copies a database page by page while others write to it, without holding up the loop.
import { backup, DatabaseSync, type DatabaseSyncInstance } from '@photostructure/sqlite'
import type { CopyProgress } from '../../contract/index.ts'
import { sqliteError } from './errors.ts'

/** Pages per step: some MiB, so that whoever shares the handle waits for milliseconds. */
const STEP_PAGES = 512

/** Whatever this handle sees, also when its file has no name any more. Nobody may write through it meanwhile. */
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

/** One snapshot of the file, whoever writes to it meanwhile. */
export async function copyFromFile(file: string, to: string, onProgress?: CopyProgress): Promise<void> {
  const database = new DatabaseSync(file, { readOnly: true, timeout: 2000 })
  try {
    // A read that stays open: every step copies from what it saw.
    database.exec('BEGIN')
    database.exec('SELECT count(*) FROM sqlite_master')
    await copyFromHandle(database, to, onProgress)
  } finally {
    if (database.isTransaction) database.exec('ROLLBACK')
    database.close()
  }
}
