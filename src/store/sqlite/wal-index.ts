// SQLite's own view of its write-ahead log, read from the index beside it (-shm). The layout is part of SQLite's file
// format: a header twice, then how far the log was folded into the file.
//
// The handle is ours and stays open as long as the store. Closing any handle of a file would release all locks of this
// process on it, and in this mode the engine's locks are on this file.
import { closeSync, openSync, readSync } from 'node:fs'
import { endianness } from 'node:os'

export interface WalIndex {
  /** The valid frames of the log. */
  readonly frames: number
  readonly pageBytes: number
  /** They change whenever the log starts again. */
  readonly salts: string
  /** How far the log was folded into the file, and the target of the last fold. */
  readonly folded: number
  readonly foldingTo: number
}

export interface WalIndexFile {
  /** Returns the index; null: it does not exist yet, or is being written. */
  read(): WalIndex | null
  release(): void
}

const HEADER_BYTES = 48
const BYTES = 136
const INITIALISED_AT = 12
const PAGE_BYTES_AT = 14
const FRAMES_AT = 16
const SALTS_AT = 32
const FOLDED_AT = 96
const FOLDING_TO_AT = 128

export function openWalIndex(path: string): WalIndexFile {
  const little = endianness() === 'LE'
  const bytes = Buffer.alloc(BYTES)
  const word = (at: number) => (little ? bytes.readUInt32LE(at) : bytes.readUInt32BE(at))
  let handle: number | null = null
  const open = (): number | null => {
    try {
      handle ??= openSync(path, 'r')
    } catch {
      // The engine creates it with its first read.
    }
    return handle
  }
  return {
    read() {
      const file = open()
      if (file === null || readSync(file, bytes, 0, BYTES, 0) < BYTES) return null
      const first = bytes.subarray(0, HEADER_BYTES)
      if (!first.equals(bytes.subarray(HEADER_BYTES, 2 * HEADER_BYTES)) || first[INITIALISED_AT] === 0)
        return null
      const size = little ? bytes.readUInt16LE(PAGE_BYTES_AT) : bytes.readUInt16BE(PAGE_BYTES_AT)
      return {
        frames: word(FRAMES_AT),
        pageBytes: (size & 0xfe00) | ((size & 1) << 16),
        salts: bytes.toString('latin1', SALTS_AT, SALTS_AT + 8),
        folded: word(FOLDED_AT),
        foldingTo: word(FOLDING_TO_AT),
      }
    },
    release() {
      if (handle !== null) closeSync(handle)
      handle = null
    },
  }
}
