// Files that an ACP agent may read or write through its client, if the configuration allows it. Access is limited to
// the agent's folder by real paths and by size. Links that lead outside are refused.
import { constants, type Stats } from 'node:fs'
import { mkdir, open, realpath } from 'node:fs/promises'
import { basename, dirname, isAbsolute, join, relative, sep } from 'node:path'
import { RequestError } from '@agentclientprotocol/sdk'
import type { ClientMethods } from './agent-link.ts'

const MOST_BYTES = 10 * 1_048_576
const NOT_FOUND = -32_002

export function clientFiles(folder: string, access: 'read' | 'write'): ClientMethods {
  const reading: ClientMethods = {
    'fs/read_text_file': async ({ path, line, limit }) => {
      const real = await within(folder, path, 'there')
      const text = await readText(real)
      return { content: linesOf(text, line, limit) }
    },
  }
  if (access === 'read') return reading
  return {
    ...reading,
    'fs/write_text_file': async ({ path, content }) => {
      if (typeof content !== 'string')
        throw RequestError.invalidParams(undefined, 'content: a text is needed')
      if (Buffer.byteLength(content) > MOST_BYTES)
        throw RequestError.invalidParams(undefined, `content: at most ${MOST_BYTES} bytes`)
      const real = await within(folder, path, 'or new')
      await writeText(real, content)
      return {}
    },
  }
}

/** Returns the real path inside the folder. Throws the error for the agent. */
async function within(folder: string, path: unknown, wanted: 'there' | 'or new'): Promise<string> {
  if (typeof path !== 'string' || !isAbsolute(path) || path.includes('\0'))
    throw RequestError.invalidParams(undefined, 'path: an absolute path is needed')
  const root = await realpath(folder)
  const found = await realpath(path).catch(() => null)
  if (found !== null) return inside(root, found)
  if (wanted === 'there') throw missing(path)
  // A missing folder is created only below a parent that is inside.
  const parent = await firstRealParent(dirname(path))
  inside(root, parent.real)
  await mkdir(dirname(path), { recursive: true })
  return join(inside(root, await realpath(dirname(path))), basename(path))
}

async function firstRealParent(path: string): Promise<{ real: string }> {
  for (let at = path; ; at = dirname(at)) {
    const real = await realpath(at).catch(() => null)
    if (real !== null) return { real }
    if (dirname(at) === at) throw missing(path)
  }
}

function inside(root: string, real: string): string {
  const way = relative(root, real)
  if (way === '..' || way.startsWith(`..${sep}`) || isAbsolute(way))
    throw RequestError.invalidParams(undefined, 'path: it is outside of the folder that is open to you')
  return real
}

async function readText(path: string): Promise<string> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  try {
    ordinary(await file.stat())
    return await file.readFile('utf8')
  } finally {
    await file.close()
  }
}

async function writeText(path: string, content: string): Promise<void> {
  const { O_WRONLY, O_CREAT, O_NOFOLLOW, O_NONBLOCK } = constants
  const file = await open(path, O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK, 0o644)
  try {
    ordinary(await file.stat())
    await file.truncate(0)
    await file.writeFile(content)
  } finally {
    await file.close()
  }
}

/** Refuses pipes and devices, which would never end. */
function ordinary(stats: Stats): void {
  if (!stats.isFile()) throw RequestError.invalidParams(undefined, 'path: it is no ordinary file')
  if (stats.size > MOST_BYTES)
    throw RequestError.invalidParams(undefined, `path: the file has more than ${MOST_BYTES} bytes`)
}

function linesOf(text: string, line: unknown, limit: unknown): string {
  const from = typeof line === 'number' && line > 1 ? Math.floor(line) - 1 : 0
  const most = typeof limit === 'number' && limit >= 0 ? Math.floor(limit) : null
  if (from === 0 && most === null) return text
  const lines = text.split('\n')
  return lines.slice(from, most === null ? undefined : from + most).join('\n')
}

function missing(path: string): RequestError {
  return new RequestError(NOT_FOUND, `not found: ${path.slice(0, 300)}`)
}
