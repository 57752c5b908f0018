// The record of the instances that this user began, in the home folder. A shim may start a daemon only for these files, and
// `switchboard instances` lists them. Each instance has a file of its own, so that concurrent writes lose nothing.
import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { homeFolder, realPath } from './instance.ts'

type Variables = Readonly<Record<string, string | undefined>>

export interface KnownInstance {
  readonly data: string
  /** Null: the embedded default. */
  readonly config: string | null
  /** The owner of the file when it was recorded. Null: the system has no owners. */
  readonly owner: number | null
  readonly at: string
}

/** More than any user has. A folder with more is not our record. */
const MOST_KNOWN = 10_000

/** Notes that this user ran `init` or `up` for it. Throws errors of the file system. */
export function recordInstance(
  instance: { readonly data: string; readonly config: string | null },
  env: Variables,
  now: number,
): void {
  const folder = recordFolder(env)
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const data = realPath(instance.data)
  const config = instance.config === null ? null : realPath(instance.config)
  const record: KnownInstance = { data, config, owner: ownerOf(config), at: new Date(now).toISOString() }
  const file = join(folder, `${createHash('sha256').update(data).digest('hex').slice(0, 32)}.json`)
  const fresh = `${file}.${process.pid}.new`
  writeFileSync(fresh, `${JSON.stringify(record)}\n`, { mode: 0o600 })
  renameSync(fresh, file)
}

/** Notes which program this user ran. The plugin, a copy elsewhere, starts it. Throws errors of the file system. */
export function recordProgram(script: string, env: Variables): void {
  const folder = homeFolder(env)
  const file = join(folder, 'program.json')
  const text = `${JSON.stringify({ node: process.execPath, script })}\n`
  if (readText(file) === text) return
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const fresh = `${file}.${process.pid}.new`
  writeFileSync(fresh, text, { mode: 0o600 })
  renameSync(fresh, file)
}

export function knownInstances(env: Variables): readonly KnownInstance[] {
  const folder = recordFolder(env)
  let names: readonly string[]
  try {
    names = readdirSync(folder)
  } catch {
    return []
  }
  return names
    .filter((name) => name.endsWith('.json'))
    .slice(0, MOST_KNOWN)
    .flatMap((name) => readRecord(join(folder, name)))
}

/** Whether this user ran `init` or `up` on this file, and its owner is the same. */
export function isKnownFile(file: string, env: Variables): boolean {
  const real = realPath(file)
  const owner = ownerOf(real)
  return knownInstances(env).some((known) => known.config === real && known.owner === owner)
}

/** The instance that last ran in a data folder. Null: none is known. */
export function knownInstanceAt(data: string, env: Variables): KnownInstance | null {
  const real = realPath(data)
  return knownInstances(env).find((known) => known.data === real) ?? null
}

function recordFolder(env: Variables): string {
  return join(homeFolder(env), 'known')
}

function ownerOf(file: string | null): number | null {
  if (file === null || process.platform === 'win32') return null
  return statSync(file, { throwIfNoEntry: false })?.uid ?? null
}

function readText(file: string): string | null {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return null
  }
}

function readRecord(file: string): readonly KnownInstance[] {
  try {
    const { data, config, owner, at } = JSON.parse(readFileSync(file, 'utf8')) as Partial<KnownInstance>
    if (typeof data !== 'string' || (config !== null && typeof config !== 'string')) return []
    return [{ data, config, owner: owner ?? null, at: String(at) }]
  } catch {
    return [] // torn, or not ours: it only takes a right away
  }
}
