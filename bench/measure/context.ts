// The context of every measurement.
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Load } from '../load/load.ts'
import type { BenchOptions } from '../options.ts'
import type { Rounds } from '../rounds.ts'
import type { Weather } from '../weather.ts'

export interface BenchContext {
  readonly options: BenchOptions
  readonly load: Load
  readonly secret: string
  /** Makes a fresh folder on the measured disk. It is removed at the end of the run. */
  freshFolder(name: string): string
  /** The other load of the machine during a round. */
  readonly weather: Weather
  /** How many rounds there is time for. */
  readonly rounds: Rounds
  /** Writes one line of progress to stderr. */
  say(text: string): void
}

export interface Workspace {
  readonly path: string
  freshFolder(name: string): string
  remove(): void
}

export function openWorkspace(dir: string): Workspace {
  mkdirSync(dir, { recursive: true })
  const path = mkdtempSync(join(dir, 'bench-'))
  let count = 0
  return {
    path,
    freshFolder(name) {
      const folder = join(path, `${++count}-${name}`)
      mkdirSync(folder)
      return folder
    },
    remove: () => rmSync(path, { recursive: true, force: true }),
  }
}
