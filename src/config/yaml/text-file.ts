// Bytes of a configuration file as text: UTF-8, with or without a byte order mark, at most 1 MiB.
import { closeSync, fstatSync, openSync, readSync } from 'node:fs'

const MAX_FILE_BYTES = 1_048_576

/** What may be moved out of it. */
const TOO_LARGE =
  'lists of people can stand in files of their own: access: { file: … }, messaging: { file: … }'

export type ReadFile = (path: string) => Uint8Array

/** Reads at most one byte more than allowed, so that a huge file (or a device) is not swallowed. */
export function readFileBounded(path: string): Uint8Array {
  const handle = openSync(path, 'r')
  try {
    if (fstatSync(handle).isDirectory()) throw new Error('is a folder')
    const buffer = Buffer.alloc(MAX_FILE_BYTES + 1)
    let filled = 0
    while (filled < buffer.length) {
      const read = readSync(handle, buffer, filled, buffer.length - filled, null)
      if (read === 0) break
      filled += read
    }
    return buffer.subarray(0, filled)
  } finally {
    closeSync(handle)
  }
}

export function decodeText(
  bytes: Uint8Array,
): { readonly text: string } | { readonly problem: string; readonly hint: string | null } {
  if (bytes.length > MAX_FILE_BYTES) return { problem: 'the file is larger than 1 MiB', hint: TOO_LARGE }
  if ((bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff)) {
    return { problem: 'the file is UTF-16', hint: 'save it as UTF-8' }
  }
  try {
    return { text: new TextDecoder('utf-8', { fatal: true }).decode(bytes) }
  } catch {
    return { problem: 'the file is not UTF-8 text', hint: 'save it as UTF-8' }
  }
}
