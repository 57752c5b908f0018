// Detects missing frames in the write-ahead log of an open SQLite database. The engine does not notice: it continues to
// write after the cut, at its remembered place.
import { type BigIntStats, closeSync, fstatSync, openSync, readSync } from 'node:fs'
import type { WalIndex } from './wal-index.ts'

const HEADER_BYTES = 32
const FRAME_HEADER_BYTES = 24
const FRAME_SALTS_AT = 8
const SALTS_BYTES = 8

export interface LogFile {
  /** True: the log was cut or overwritten. A missing or replaced log is reported elsewhere. */
  isDamaged(index: WalIndex): boolean
  release(): void
}

/**
 * Opens the log once, when it is known to be ours. From then on the handle reads the engine's own content, whatever is
 * at its path. The engine's locks are on other files, so closing this handle releases none.
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
      // An empty log: everything was folded into the file.
      if (frames === 0) return false
      const log = open()
      if (log === null) return false
      const frameBytes = FRAME_HEADER_BYTES + pageBytes
      const last = HEADER_BYTES + (frames - 1) * frameBytes
      // Reads from the salts, which each frame of this log carries, to the end of the last frame. One call, because a
      // call costs more than a page.
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
