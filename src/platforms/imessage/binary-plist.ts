// Reads a binary property list, as far as `message_summary_info` needs it: what was edited, and which parts were
// unsent. A damaged list is null, and no list costs much time.

export type PlistValue =
  | null
  | boolean
  | number
  | string
  | Uint8Array
  | readonly PlistValue[]
  | ReadonlyMap<string, PlistValue>

const MOST_OBJECTS = 10_000
const MOST_DEPTH = 16
const MOST_NUMBER_BYTES = 16
/** How often the bytes of a list may be read. */
const MOST_COPIES = 4

export function readBinaryPlist(blob: Uint8Array): PlistValue | undefined {
  const bytes = Buffer.from(blob.buffer, blob.byteOffset, blob.byteLength)
  if (bytes.length < 40 || bytes.toString('latin1', 0, 6) !== 'bplist') return undefined
  const trailer = bytes.subarray(-32)
  const [offsetSize, refSize] = [trailer[6] ?? 0, trailer[7] ?? 0]
  const count = Number(trailer.readBigUInt64BE(8))
  const top = Number(trailer.readBigUInt64BE(16))
  const table = Number(trailer.readBigUInt64BE(24))
  const fits = count <= MOST_OBJECTS && offsetSize > 0 && offsetSize <= 6 && refSize > 0 && refSize <= 6
  if (!fits || table + count * offsetSize > bytes.length) return undefined
  let visited = 0
  // A value that is referenced a thousand times is built a thousand times.
  let left = bytes.length * MOST_COPIES
  const spend = (size: number): number => {
    left -= size
    if (left < 0) throw new Error('damaged')
    return size
  }

  const objectAt = (ref: number, depth: number): PlistValue => {
    if (ref >= count || depth > MOST_DEPTH || ++visited > MOST_OBJECTS) throw new Error('damaged')
    const at = bytes.readUIntBE(table + ref * offsetSize, offsetSize)
    const marker = bytes[at] ?? 0
    const low = marker & 0x0f
    switch (marker >> 4) {
      case 0x0:
        return low === 8 ? false : low === 9 ? true : null
      case 0x1:
        if (2 ** low > MOST_NUMBER_BYTES) throw new Error('damaged')
        return Number(BigInt(`0x${bytes.toString('hex', at + 1, at + 1 + 2 ** low) || '0'}`))
      case 0x2:
        return low === 3 ? bytes.readDoubleBE(at + 1) : bytes.readFloatBE(at + 1)
      case 0x3:
        return bytes.readDoubleBE(at + 1)
      case 0x4: {
        const { size, from } = sized(at, low)
        return bytes.subarray(from, from + size)
      }
      case 0x5: {
        const { size, from } = sized(at, low)
        return bytes.toString('latin1', from, from + spend(size))
      }
      case 0x6: {
        const { size, from } = sized(at, low)
        return Buffer.from(bytes.subarray(from, from + spend(size * 2)))
          .swap16()
          .toString('utf16le')
      }
      case 0xa: {
        const { size, from } = sized(at, low)
        return refs(from, size).map((one) => objectAt(one, depth + 1))
      }
      case 0xd: {
        const { size, from } = sized(at, low)
        const keys = refs(from, size)
        const values = refs(from + size * refSize, size)
        return new Map(
          keys.map((key, index) => [
            String(objectAt(key, depth + 1)),
            objectAt(values[index] ?? 0, depth + 1),
          ]),
        )
      }
      default:
        return null
    }
  }
  const sized = (at: number, low: number): { readonly size: number; readonly from: number } => {
    if (low < 15) return { size: low, from: at + 1 }
    const wide = 2 ** ((bytes[at + 1] ?? 0) & 0x0f)
    if (wide > 4) throw new Error('damaged')
    return { size: bytes.readUIntBE(at + 2, wide), from: at + 2 + wide }
  }
  const refs = (from: number, size: number): readonly number[] => {
    if (size > MOST_OBJECTS || from + spend(size * refSize) > bytes.length) throw new Error('damaged')
    return Array.from({ length: size }, (_, index) => bytes.readUIntBE(from + index * refSize, refSize))
  }
  try {
    return objectAt(top, 0)
  } catch {
    return undefined
  }
}
