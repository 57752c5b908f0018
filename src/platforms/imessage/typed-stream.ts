// Reads the text inside `attributedBody`, a typedstream: its first string. Its length is one byte, or a mark and two or
// four bytes, little-endian. Reading the mark as a length would cut every longer text.
import { MOST_BODY_BYTES } from './chat-db.ts'

const HEADER = Buffer.from('\x04\x0bstreamtyped', 'latin1')
const STRING = Buffer.from('NSString', 'latin1')
const MARK = 0x2b
const TWO_BYTES = 0x81
const FOUR_BYTES = 0x82
/** The text begins within this distance after its class name. */
const REACH = 32

/** Null: it has another form, or is damaged. */
export function textOfBody(blob: Uint8Array | null): string | null {
  if (blob === null || blob.length === 0) return null
  const bytes = Buffer.from(blob.buffer, blob.byteOffset, blob.byteLength)
  // Some bodies are plain UTF-16 with a byte order mark.
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return bytes.subarray(2).toString('utf16le')
  if (!bytes.subarray(0, HEADER.length).equals(HEADER)) return null
  const name = bytes.indexOf(STRING)
  if (name === -1) return null
  const mark = bytes.indexOf(MARK, name + STRING.length)
  if (mark === -1 || mark > name + STRING.length + REACH) return null
  const sized = lengthAt(bytes, mark + 1)
  if (sized === null) return null
  // A long body was read only at its beginning.
  if (sized.from + sized.length > bytes.length && bytes.length < MOST_BODY_BYTES) return null
  const text = bytes.subarray(sized.from, sized.from + sized.length).toString('utf8')
  return text.includes('\0') ? text.replaceAll('\0', '\uFFFD') : text
}

function lengthAt(bytes: Buffer, at: number): { readonly length: number; readonly from: number } | null {
  const first = bytes[at]
  if (first === undefined) return null
  if (first < 0x80) return { length: first, from: at + 1 }
  if (first === TWO_BYTES && at + 3 <= bytes.length)
    return { length: bytes.readUInt16LE(at + 1), from: at + 3 }
  if (first === FOUR_BYTES && at + 5 <= bytes.length)
    return { length: bytes.readUInt32LE(at + 1), from: at + 5 }
  return null
}
