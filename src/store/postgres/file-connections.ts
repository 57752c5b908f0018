// Separate connections for large data (files), so that neither commits nor reads wait behind it. They open on demand
// and close when idle.
import type { Steps } from '../statement.ts'
import { createPool, inTransaction, SNAPSHOT } from './connection.ts'

export interface FileConnections {
  write(steps: Steps<void>): Promise<void>
  read<Result>(steps: Steps<Result>): Promise<Result>
  close(): Promise<void>
}

/** The number of files transferred at once. Others wait. */
const CONNECTIONS = 2
/** Includes the wait for earlier files. */
const CONNECT_TIMEOUT_MS = 15_000

export function createFileConnections(url: string): FileConnections {
  const pool = createPool(url, {
    max: CONNECTIONS,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    application_name: 'switchboard-files',
  })
  pool.on('error', () => undefined)
  return {
    write: (steps) => inTransaction(pool, 'BEGIN', steps),
    read: (steps) => inTransaction(pool, SNAPSHOT, steps),
    close: () => pool.end(),
  }
}
