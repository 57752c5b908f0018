// Packs a folder of plain files as one tar archive (POSIX ustar, with pax records for long names) and unpacks it. Only
// regular files with allowed names are accepted. Other entries are refused.
import { createReadStream, createWriteStream } from 'node:fs'
import { mkdir, open, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { SwitchboardError } from '../../contract/index.ts'

const BLOCK = 512
/** Our extended headers contain one path. */
const MAX_EXTENDED = 4_096

export async function packTar(folder: string, paths: readonly string[], to: string): Promise<void> {
  const blocks = Readable.from(archive(folder, paths), { objectMode: false })
  await pipeline(blocks, createWriteStream(to, { flags: 'wx', mode: 0o600, flush: true }))
}

async function* archive(folder: string, paths: readonly string[]): AsyncGenerator<Buffer> {
  for (const path of paths) {
    const { size, mtimeMs } = await stat(join(folder, path))
    const seconds = Math.floor(mtimeMs / 1000)
    if (Buffer.byteLength(path) > 100) {
      const record = paxRecord('path', path)
      yield header({ path: 'path', size: record.byteLength, seconds, type: 'x' })
      yield padded(record)
    }
    yield header({ path: cut(path), size, seconds, type: '0' })
    let written = 0
    for await (const chunk of createReadStream(join(folder, path))) {
      written += (chunk as Buffer).byteLength
      yield chunk as Buffer
    }
    if (written !== size) throw new Error(`${path} changed while it was packed`)
    yield Buffer.alloc((BLOCK - (size % BLOCK)) % BLOCK)
  }
  yield Buffer.alloc(2 * BLOCK)
}

/** Throws `input_invalid` if the archive is cut, changed, or contains a name that `allowed` refuses. */
export async function unpackTar(
  file: string,
  into: string,
  allowed: (path: string) => boolean,
): Promise<void> {
  const handle = await open(file, 'r')
  try {
    let at = 0
    let longPath: string | null = null
    const take = async (size: number): Promise<Buffer> => {
      const { bytesRead, buffer } = await handle.read(Buffer.alloc(size), 0, size, at)
      if (bytesRead !== size) throw notOurs(file, 'it ends too early')
      at += size
      return buffer
    }
    for (;;) {
      const head = await take(BLOCK)
      if (head.every((byte) => byte === 0)) return
      const { path, size, type } = readHeader(head, file)
      const room = Math.ceil(size / BLOCK) * BLOCK
      if (type === 'x') {
        if (size > MAX_EXTENDED) throw notOurs(file, 'a header is too long')
        longPath = pathOf((await take(room)).subarray(0, size))
        continue
      }
      const name = longPath ?? path
      longPath = null
      if (type !== '0' || !allowed(name)) throw notOurs(file, `"${name}" is no file of a backup`)
      const target = join(into, name)
      await mkdir(dirname(target), { recursive: true, mode: 0o700 })
      if ((await handle.stat()).size < at + size) throw notOurs(file, 'it ends too early')
      const out = createWriteStream(target, { flags: 'wx', mode: 0o600, flush: true })
      const content =
        size === 0
          ? Readable.from([])
          : createReadStream(file, { start: at, end: at + size - 1, highWaterMark: 262_144 })
      await pipeline(content, out)
      at += room
    }
  } finally {
    await handle.close()
  }
}

interface Head {
  readonly path: string
  readonly size: number
  readonly type: string
}

function header(of: Head & { readonly seconds: number }): Buffer {
  const block = Buffer.alloc(BLOCK)
  block.write(of.path, 0, 100, 'utf8')
  block.write('0000600\0', 100)
  block.write('0000000\0'.repeat(2), 108)
  block.set(octal(of.size, 11), 124)
  block.set(octal(of.seconds, 11), 136)
  block.write('        ', 148)
  block.write(of.type, 156)
  block.write('ustar\x0000', 257)
  let sum = 0
  for (const byte of block) sum += byte
  block.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148)
  return block
}

function readHeader(block: Buffer, file: string): Head {
  const told = Number.parseInt(field(block, 148, 8), 8)
  let sum = 0
  for (const [at, byte] of block.entries()) sum += at >= 148 && at < 156 ? 32 : byte
  const size = readSize(block)
  if (told !== sum || !Number.isSafeInteger(size) || size < 0) throw notOurs(file, 'a header does not hold')
  return { path: field(block, 0, 100), size, type: field(block, 156, 1) || '0' }
}

/** Over 8 GiB the size is binary, as GNU and POSIX archives write it. */
function octal(value: number, digits: number): Buffer {
  const text = value.toString(8)
  if (text.length <= digits) return Buffer.from(`${text.padStart(digits, '0')}\0`)
  const bytes = Buffer.alloc(digits + 1)
  bytes.writeUInt8(0x80, 0)
  bytes.writeBigUInt64BE(BigInt(value), digits + 1 - 8)
  return bytes
}

function readSize(block: Buffer): number {
  if ((block[124] ?? 0) & 0x80) return Number(block.readBigUInt64BE(128))
  return Number.parseInt(field(block, 124, 12), 8)
}

function field(block: Buffer, at: number, length: number): string {
  const bytes = block.subarray(at, at + length)
  const end = bytes.indexOf(0)
  return bytes
    .subarray(0, end === -1 ? length : end)
    .toString('utf8')
    .trim()
}

/** The length of a pax record counts its own digits. */
function paxRecord(key: string, value: string): Buffer {
  const rest = ` ${key}=${value}\n`
  let length = Buffer.byteLength(rest)
  while (Buffer.byteLength(`${length}${rest}`) !== length) length += 1
  return Buffer.from(`${length}${rest}`)
}

function pathOf(record: Buffer): string {
  return /^\d+ path=([^\n]*)\n$/.exec(record.toString('utf8'))?.[1] ?? ''
}

function padded(bytes: Buffer): Buffer {
  return Buffer.concat([bytes, Buffer.alloc((BLOCK - (bytes.byteLength % BLOCK)) % BLOCK)])
}

/** The shortened name that a reader without pax support sees. */
function cut(path: string): string {
  return Buffer.from(path)
    .subarray(0, 100)
    .toString('utf8')
    .replace(/(?<!�)�+$/u, '')
}

function notOurs(file: string, why: string): SwitchboardError {
  return new SwitchboardError('input_invalid', `the archive ${file} cannot be read: ${why}`, {
    hint: 'nothing was restored: name a .tar that `switchboard backup` made',
  })
}
