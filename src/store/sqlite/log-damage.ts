// Whether the write-ahead log of an open SQLite database lacks frames that the engine counts on. It would not notice: it
// writes on behind a cut, at the place that it remembers.
import { type BigIntStats, closeSync, fstatSync, openSync, readSync } from 'node:fs'
import type { WalIndex } from './wal-index.ts'

const HEADER_BYTES = 32
const FRAME_HEADER_BYTES = 24
const FRAME_SALTS_AT = 8

/**
 * True: it was cut, or written over. The log is opened and closed for each look: the engine's locks are on the other files,
 * and none is given up. A log that is not there, or another one, is told
 * elsewhere.
 */
export function isLogDamaged(
  path: string,
  { frames, pageBytes, salts }: WalIndex,
  isOurs: (log: BigIntStats) => boolean,
): boolean {
  // Nothing of it counts: it was folded into the file, and may be empty.
  if (frames === 0) return false
  const frameBytes = FRAME_HEADER_BYTES + pageBytes
  const last = HEADER_BYTES + (frames - 1) * frameBytes
  const bytes = Buffer.alloc(8)
  let log: number
  try {
    log = openSync(path, 'r')
  } catch {
    return false
  }
  try {
    if (!isOurs(fstatSync(log, { bigint: true }))) return false
    // The end of the last frame, and the salts that each frame of this log carries.
    const whole = readSync(log, bytes, 0, 1, last + frameBytes - 1) === 1
    const read = whole ? readSync(log, bytes, 0, 8, last + FRAME_SALTS_AT) : 0
    return read < 8 || bytes.toString('latin1') !== salts
  } finally {
    closeSync(log)
  }
}
