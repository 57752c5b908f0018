// Whether the write-ahead log of an open SQLite database lacks frames that the engine counts on. It would not notice: it
// writes on behind a cut, at the place that it remembers.
import { type BigIntStats, closeSync, fstatSync, openSync, readSync } from 'node:fs'
import type { WalIndex } from './wal-index.ts'

const HEADER_BYTES = 32
const FRAME_HEADER_BYTES = 24
const FRAME_SALTS_AT = 8
const SALTS_BYTES = 8

export interface LogFile {
  /** True: it was cut, or written over. A log that is not there, or another one, is told elsewhere. */
  isDamaged(index: WalIndex): boolean
  release(): void
}

/**
 * The log is opened once, when it is known to be ours, and its content is the engine's own from then on, whatever lies at
 * its path. The engine's locks are on the other files: none is given up when it is closed.
 */
export function openLogFile(path: string, isOurs: (log: BigIntStats) => boolean): LogFile {
  let bytes = Buffer.alloc(0)
  let handle: number | null = null
  const open = (): number | null => {
    if (handle !== null) return handle
    let log: number
    try {
      log = openSync(path, 'r')
    } catch {
      return null
    }
    if (isOurs(fstatSync(log, { bigint: true }))) handle = log
    else closeSync(log)
    return handle
  }
  return {
    isDamaged({ frames, pageBytes, salts }) {
      // Nothing of it counts: it was folded into the file, and may be empty.
      if (frames === 0) return false
      const log = open()
      if (log === null) return false
      const frameBytes = FRAME_HEADER_BYTES + pageBytes
      const last = HEADER_BYTES + (frames - 1) * frameBytes
      // To the end of the last frame, from the salts on that each frame of this log carries: one call, for a call costs more
      // than a page.
      const wanted = frameBytes - FRAME_SALTS_AT
      if (bytes.length !== wanted) bytes = Buffer.alloc(wanted)
      const read = readSync(log, bytes, 0, wanted, last + FRAME_SALTS_AT)
      return read < wanted || bytes.toString('latin1', 0, SALTS_BYTES) !== salts
    },
    release() {
      if (handle !== null) closeSync(handle)
      handle = null
    },
  }
}
