// What is written out of a person, as a folder: one JSON object a line, and the files they sent beside it. Nobody else may
// read it, and nothing that is there is written over.
import { mkdirSync } from 'node:fs'
import { open, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type PersonLine, SwitchboardError } from '../contract/index.ts'

export interface PersonFolder {
  readonly folder: string
  readonly lines: number
  readonly files: number
  /** Named in a message, and not to be had any more. */
  readonly files_missing: number
}

/** `chunks`: NDJSON, cut anywhere. Throws `conflict` when the folder is there already. */
export async function writePersonFolder(
  folder: string,
  chunks: AsyncIterable<string>,
): Promise<PersonFolder> {
  try {
    mkdirSync(folder, { mode: 0o700 })
  } catch (thrown) {
    const { code } = thrown as NodeJS.ErrnoException
    if (code !== 'EEXIST') throw thrown
    throw new SwitchboardError('conflict', `${folder} is there already`, { hint: 'name a new folder' })
  }
  const counts = { lines: 0, files: 0, files_missing: 0 }
  const list = await open(join(folder, 'person.ndjson'), 'wx', 0o600)
  try {
    for await (const text of linesOf(chunks)) {
      const line = await withoutBytes(folder, JSON.parse(text) as PersonLine, counts)
      await list.write(`${JSON.stringify(line)}\n`)
      counts.lines += 1
    }
    await list.sync()
  } finally {
    await list.close()
  }
  return { folder, ...counts }
}

/** The bytes go into a file of their own; the line says which. */
async function withoutBytes(
  folder: string,
  line: PersonLine,
  counts: { files: number; files_missing: number },
): Promise<PersonLine> {
  if (line.kind !== 'file') return line
  const { base64, ...about } = line
  if (typeof base64 !== 'string') {
    counts.files_missing += 1
    return about
  }
  counts.files += 1
  mkdirSync(join(folder, 'files'), { recursive: true, mode: 0o700 })
  const path = join('files', `${counts.files}-${plainName(String(about.name ?? ''))}`)
  await writeFile(join(folder, path), Buffer.from(base64, 'base64'), { mode: 0o600, flag: 'wx' })
  return { ...about, path }
}

/** Somebody chose it: what leads elsewhere or acts on a terminal is left out. */
function plainName(name: string): string {
  const plain = name.normalize('NFC').replace(/[^\p{L}\p{N}._ -]/gu, '_')
  return [...plain].slice(-60).join('') || 'file'
}

async function* linesOf(chunks: AsyncIterable<string>): AsyncGenerator<string> {
  let parts: string[] = []
  for await (const chunk of chunks) {
    const [first = '', ...more] = chunk.split('\n')
    parts.push(first)
    for (const next of more) {
      const line = parts.join('')
      if (line !== '') yield line
      parts = [next]
    }
  }
  const rest = parts.join('')
  if (rest !== '') yield rest
}
