// Maps SQLite errors to SwitchboardErrors with a remedy for the operator.
import { SwitchboardError } from '../../contract/index.ts'

const CORRUPT = new Set([11, 26]) // SQLITE_CORRUPT, SQLITE_NOTADB
const AWAY: Readonly<Record<number, string>> = {
  5: 'another process holds the database: close it (a backup tool, a database browser), it is tried again by itself',
  6: 'another process holds the database: close it, it is tried again by itself',
  8: 'the database or its folder is not writable: check permissions and the mount',
  10: 'the disk reported a fault: check the disk and the folder, it is tried again by itself',
  13: 'the disk is full: free some space, it goes on by itself',
  14: 'the database file cannot be opened: check that its folder exists and is writable',
}

/** Returns the driver's error as a SwitchboardError; null when the database is not the cause. */
export function sqliteError(thrown: unknown): SwitchboardError | null {
  if (thrown instanceof SwitchboardError) return thrown.code.startsWith('store_') ? thrown : null
  const code = primaryCode(thrown)
  if (code === null) return null
  const said = thrown instanceof Error ? thrown.message : String(thrown)
  if (CORRUPT.has(code)) return damaged(said, thrown)
  const hint = AWAY[code]
  if (hint === undefined) return null
  return new SwitchboardError('store_unavailable', `the database cannot be used now: ${said}`, {
    hint,
    retryAfterMs: 1000,
    cause: thrown,
  })
}

export function damaged(said: string, cause?: unknown): SwitchboardError {
  return new SwitchboardError('store_corrupt', `the database is damaged: ${said}`, {
    hint: 'stop Switchboard, keep a copy of the file and its -wal, then restore a backup (or try: sqlite3 FILE .recover)',
    cause,
  })
}

function primaryCode(thrown: unknown): number | null {
  if (typeof thrown !== 'object' || thrown === null) return null
  for (const name of ['sqliteCode', 'errcode', 'sqliteExtendedCode'] as const) {
    const value = (thrown as Record<string, unknown>)[name]
    if (typeof value === 'number') return value & 0xff
  }
  const message = thrown instanceof Error ? thrown.message : ''
  if (/malformed|not a database/i.test(message)) return 11
  if (/database is locked|database table is locked/i.test(message)) return 5
  if (/disk is full|database or disk is full/i.test(message)) return 13
  if (/disk I\/O error/i.test(message)) return 10
  if (/unable to open/i.test(message)) return 14
  return null
}
