// How the last daemon of a data folder listened, and how it ended: whoever revives one gives it the same place, and leaves
// alone what its operator stopped. A crash has no time to write: it leaves `running`.
import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import type { DataFolder } from './data-folder.ts'

export interface LastLife {
  readonly host: string
  readonly port: number
  /** `stopped`: by a signal or a command, until the next `up`. `idle`: by itself, for nobody needed it. */
  readonly end: 'running' | 'stopped' | 'idle'
}

export function readLastLife(folder: DataFolder): LastLife | null {
  try {
    const { host, port, end } = JSON.parse(readFileSync(folder.lastLifeFile, 'utf8')) as LastLife
    const whole = typeof host === 'string' && Number.isInteger(port) && port > 0 && port < 65_536
    return whole && ['running', 'stopped', 'idle'].includes(end) ? { host, port, end } : null
  } catch {
    return null // the first one, or torn: then nothing is known of it
  }
}

/** Never throws: a folder that cannot be written is told of elsewhere, and keeps no daemon from ending. */
export function writeLastLife(folder: DataFolder, life: LastLife): void {
  try {
    const fresh = `${folder.lastLifeFile}.${process.pid}`
    writeFileSync(fresh, `${JSON.stringify(life)}\n`, { mode: 0o600 })
    renameSync(fresh, folder.lastLifeFile)
  } catch {
    // Revived with what the configuration says, then.
  }
}
