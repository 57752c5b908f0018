// What every measurement is given.
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
  /** A fresh folder on the measured disk; removed at the end of the run. */
  freshFolder(name: string): string
  /** What else went on beside a round. */
  readonly weather: Weather
  /** How many rounds there is time for. */
  readonly rounds: Rounds
  /** One line on stderr: what is going on. */
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
