// How the last daemon of a data folder listened, and how it ended: whoever revives one gives it the same place, and leaves
// alone what its operator stopped. A crash has no time to write: it leaves `running`.
import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { isAbsolute, relative, resolve } from 'node:path'
import type { DataFolder } from './data-folder.ts'

export interface LastRun {
  readonly host: string
  readonly port: number
  /** `stopped`: by a signal or a command, until the next `up`. `idle`: by itself, for nobody needed it. */
  readonly end: 'running' | 'stopped' | 'idle'
  /** The embedded database that it had: that one, and no other, belongs here. */
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

/** Never throws: a folder that cannot be written is told of elsewhere, and keeps no daemon from ending. */
export function writeLastRun(folder: DataFolder, life: LastRun): void {
  try {
    const fresh = `${folder.lastLifeFile}.${process.pid}`
    writeFileSync(fresh, `${JSON.stringify(inFolder(folder, life))}\n`, { mode: 0o600 })
    renameSync(fresh, folder.lastLifeFile)
  } catch {
    // Revived with what the configuration says, then.
  }
}

/** Another database was put there on purpose. */
export function forgetDatabase(folder: DataFolder): void {
  const life = readLastRun(folder)
  if (life?.database === undefined) return
  const { database: _, ...rest } = life
  writeLastRun(folder, rest)
}

/** Inside the folder by its place there: a folder that is moved keeps its database. */
function inFolder(folder: DataFolder, life: LastRun): LastRun {
  if (life.database === undefined) return life
  const inside = relative(folder.path, life.database.file)
  if (inside.startsWith('..') || isAbsolute(inside)) return life
  return { ...life, database: { ...life.database, file: inside } }
}
