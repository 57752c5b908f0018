// Writes the two blobs in a row of chat.db: a typedstream with a text, and a binary property list.

/** Writes a typedstream as Messages does. The length is one byte, or a mark and two or four bytes. */
export function typedStream(text: string): Buffer {
  const bytes = Buffer.from(text, 'utf8')
  const head = Buffer.from(
    '\x04\x0bstreamtyped\x81\xe8\x03\x84\x01@\x84\x84\x84\x12NSAttributedString\x00\x84\x84\x08NSObject\x00\x85\x92\x84\x84\x84\x08NSString\x01\x94\x84\x01+',
    'latin1',
  )
  return Buffer.concat([head, lengthOf(bytes.length), bytes, Buffer.from('\x86\x84\x02iI\x01', 'latin1')])
}

function lengthOf(size: number): Buffer {
  if (size < 0x80) return Buffer.from([size])
  const wide = size > 0xffff
  const length = Buffer.alloc(wide ? 5 : 3)
  length[0] = wide ? 0x82 : 0x81
  if (wide) length.writeUInt32LE(size, 1)
  else length.writeUInt16LE(size, 1)
  return length
}

type Plist = number | string | Buffer | readonly Plist[] | { readonly [key: string]: Plist }

/** Writes objects in the order in which they are found, with references of two bytes. */
export function binaryPlist(top: Plist): Buffer {
  const objects: Buffer[] = []
  const add = (value: Plist): number => {
    const at = objects.push(Buffer.alloc(0)) - 1
    objects[at] = encode(value)
    return at
  }
  const encode = (value: Plist): Buffer => {
    if (typeof value === 'number') {
      const bytes = Buffer.alloc(9, 0x13)
      bytes.writeBigInt64BE(BigInt(value), 1)
      return bytes
    }
    if (typeof value === 'string')
      return Buffer.concat([marker(0x50, value.length), Buffer.from(value, 'latin1')])
    if (Buffer.isBuffer(value)) return Buffer.concat([marker(0x40, value.length), value])
    if (Array.isArray(value)) {
      const items = value as readonly Plist[]
      return Buffer.concat([marker(0xa0, items.length), ...items.map((one) => ref(add(one)))])
    }
    const entries = Object.entries(value as { readonly [key: string]: Plist })
    const keys = entries.map(([key]) => ref(add(key)))
    const values = entries.map(([, one]) => ref(add(one)))
    return Buffer.concat([marker(0xd0, entries.length), ...keys, ...values])
  }
  add(top)
  const header = Buffer.from('bplist00')
  let offset = header.length
  const offsets = objects.map((object) => {
    const at = Buffer.alloc(4)
    at.writeUInt32BE(offset)
    offset += object.length
    return at
  })
  const trailer = Buffer.alloc(32)
  trailer[6] = 4
  trailer[7] = 2
  trailer.writeBigUInt64BE(BigInt(objects.length), 8)
  trailer.writeBigUInt64BE(0n, 16)
  trailer.writeBigUInt64BE(BigInt(offset), 24)
  return Buffer.concat([header, ...objects, ...offsets, trailer])
}

function marker(kind: number, size: number): Buffer {
  if (size < 15) return Buffer.from([kind | size])
  const bytes = Buffer.alloc(6)
  bytes[0] = kind | 0x0f
  bytes[1] = 0x12
  bytes.writeUInt32BE(size, 2)
  return bytes
}

function ref(at: number): Buffer {
  const bytes = Buffer.alloc(2)
  bytes.writeUInt16BE(at)
  return bytes
}
