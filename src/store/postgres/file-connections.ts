// What is large (files) goes over connections of its own: neither the writer's commits nor the reads of people who wait
// stand behind it. They are opened when needed and end when idle.
import type { Steps } from '../statement.ts'
import { createPool, inTransaction, SNAPSHOT } from './connection.ts'

export interface FileConnections {
  write(steps: Steps<void>): Promise<void>
  read<Result>(steps: Steps<Result>): Promise<Result>
  close(): Promise<void>
}

/** So many files move at a time; the others wait for these. */
const CONNECTIONS = 2
/** Also how long a file waits for those before it. */
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
