// The end of a log and what comes after it, line by line: what `switchboard logs` reads. One position, so that no line falls between.
import { closeSync, fstatSync, openSync, readSync, statSync } from 'node:fs'

export interface LogTail {
  /** The whole lines since the last call; at first those of the log's end. A log that was put aside is read to its end first. */
  next(): readonly string[]
  close(): void
}

/** So much of the end is read at first: a log may be large. */
const TAIL_BYTES = 4 * 1024 * 1024
const CHUNK_BYTES = 256 * 1024
const NEWLINE = 10

/** Throws where there is no such file. */
export function openLogTail(file: string, tailBytes = TAIL_BYTES): LogTail {
  let handle = openSync(file, 'r')
  let at = Math.max(0, fstatSync(handle).size - tailBytes)
  // Bytes and not text: a character may stand on both sides of a cut.
  let begun = Buffer.alloc(0)
  let skipping = at > 0

  function readOn(lines: string[]): void {
    // Cut short in place, as by `logrotate` with copytruncate.
    if (fstatSync(handle).size < at) [at, begun, skipping] = [0, Buffer.alloc(0), false]
    const chunk = Buffer.alloc(CHUNK_BYTES)
    for (let read = readSync(handle, chunk, 0, CHUNK_BYTES, at); read > 0; ) {
      at += read
      const bytes = Buffer.concat([begun, chunk.subarray(0, read)])
      const end = bytes.lastIndexOf(NEWLINE)
      begun = bytes.subarray(end + 1)
      if (end >= 0) {
        const whole = bytes.subarray(0, end).toString('utf8').split('\n')
        if (skipping) whole.shift()
        skipping = false
        for (const line of whole) if (line !== '') lines.push(line)
      }
      read = readSync(handle, chunk, 0, CHUNK_BYTES, at)
    }
  }

  return {
    next() {
      const lines: string[] = []
      readOn(lines)
      const named = statSync(file, { throwIfNoEntry: false })
      if (named !== undefined && named.ino !== fstatSync(handle).ino) {
        // Another may have been written to between the reading and the look.
        readOn(lines)
        closeSync(handle)
        handle = openSync(file, 'r')
        ;[at, begun, skipping] = [0, Buffer.alloc(0), false]
        readOn(lines)
      }
      return lines
    },
    close: () => closeSync(handle),
  }
}
