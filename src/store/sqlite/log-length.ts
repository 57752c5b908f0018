// Whether the write-ahead log of an open SQLite database was cut. The engine goes on behind the cut, at the place that it
// remembers, so the size alone is soon what it was: what a cut leaves behind is a hole, and a hole reads as zeros.
import { closeSync, openSync, readSync } from 'node:fs'

const HEADER_BYTES = 32
const FRAME_HEADER_BYTES = 24
/** The last bit tells the byte order of the checksums. */
const MAGIC = 0x377f0682

export interface LogLength {
  /** To be asked with the size at each look. */
  wasCut(size: number): boolean
}

/** The log is opened and closed for each look: the engine's locks are on the other files, and none is given up. */
export function followLog(path: string): LogLength {
  let known = { salts: '', size: 0 }
  return {
    wasCut(size) {
      // Empty is also what a checkpoint by somebody's own tool leaves: what is written next tells them apart.
      if (size === 0) return false
      const log = openSync(path, 'r')
      try {
        const header = bytesAt(log, 0, HEADER_BYTES)
        if ((header.readUInt32BE(0) & ~1) >>> 0 !== MAGIC) return true
        const salts = header.toString('hex', 16, 24)
        const before = known
        known = { salts, size }
        // With new salts the engine has begun the log anew, and of the old one nothing is needed any more.
        if (salts !== before.salts) return false
        return size < before.size || isHole(log, before.size, header.readUInt32BE(8))
      } finally {
        closeSync(log)
      }
    },
  }
}

/** Whether the last frame that was whole at this size is no longer there: no page of a frame has the number 0. */
function isHole(log: number, size: number, pageBytes: number): boolean {
  const frameBytes = FRAME_HEADER_BYTES + pageBytes
  const frames = Math.floor((size - HEADER_BYTES) / frameBytes)
  return frames > 0 && bytesAt(log, HEADER_BYTES + (frames - 1) * frameBytes, 4).readUInt32BE(0) === 0
}

function bytesAt(file: number, position: number, length: number): Buffer {
  const bytes = Buffer.alloc(length)
  readSync(file, bytes, 0, length, position)
  return bytes
}
