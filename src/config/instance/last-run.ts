// How the last daemon of a data folder listened, and how it ended. A shim that revives it uses the same address, and does not
// revive a daemon that its operator stopped. A crash has no time to write: it leaves `running`.
import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { isAbsolute, relative, resolve } from 'node:path'
import type { DataFolder } from './data-folder.ts'

export interface LastRun {
  readonly host: string
  readonly port: number
  /** `stopped`: by a signal or a command, until the next `up`. `idle`: by itself, because no host was attached. */
  readonly end: 'running' | 'stopped' | 'idle'
  /** Its embedded database. No other database belongs here. */
  readonly database?: { readonly file: string; readonly tag: string }
}

export function readLastRun(folder: DataFolder): LastRun | null {
  try {
    const { host, port, end, database } = JSON.parse(readFileSync(folder.lastLifeFile, 'utf8')) as LastRun
    const whole = typeof host === 'string' && Number.isInteger(port) && port > 0 && port < 65_536
    if (!whole || !['running', 'stopped', 'idle'].includes(end)) return null
    const isKnown = typeof database?.file === 'string' && typeof database.tag === 'string'
    const { file = '', tag = '' } = database ?? {}
    return { host, port, end, ...(isKnown ? { database: { file: resolve(folder.path, file), tag } } : {}) }
  } catch {
    return null // the first one, or torn: then nothing is known of it
  }
}

/** Never throws: a folder that cannot be written must not keep a daemon from ending. */
export function writeLastRun(folder: DataFolder, life: LastRun): void {
  try {
    const fresh = `${folder.lastLifeFile}.${process.pid}`
    writeFileSync(fresh, `${JSON.stringify(inFolder(folder, life))}\n`, { mode: 0o600 })
    renameSync(fresh, folder.lastLifeFile)
  } catch {
    // Then it is revived with the values of the configuration.
  }
}

/** For a database that was replaced on purpose. */
export function forgetDatabase(folder: DataFolder): void {
  const life = readLastRun(folder)
  if (life?.database === undefined) return
  const { database: _, ...rest } = life
  writeLastRun(folder, rest)
}

/** A database inside the folder is noted by its relative path, so a folder that is moved keeps it. */
function inFolder(folder: DataFolder, life: LastRun): LastRun {
  if (life.database === undefined) return life
  const inside = relative(folder.path, life.database.file)
  if (inside.startsWith('..') || isAbsolute(inside)) return life
  return { ...life, database: { ...life.database, file: inside } }
}
