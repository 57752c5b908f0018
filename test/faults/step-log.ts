// The steps of a turn, as an agent in a test notes them in a file that outlives every process, and where it is held.
import { appendFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pause } from './until.ts'

export interface StepLog {
  readonly folder: string
  /** All so far, in order. */
  names(): readonly string[]
  /** The processes that noted one, those of the test left out. */
  pids(): readonly number[]
  /** Who comes to this step waits there. Null: nobody does. */
  hold(name: string | null): void
  /** Notes it, and waits where it is held. For agents that live in the test. */
  step(name: string): Promise<void>
}

export function createStepLog(folder: string): StepLog {
  mkdirSync(folder, { recursive: true })
  const [log, held] = [join(folder, 'steps.log'), join(folder, 'hold')]
  const lines = () =>
    existsSync(log)
      ? readFileSync(log, 'utf8')
          .trim()
          .split('\n')
          .map((line) => line.split(' '))
      : []
  return {
    folder,
    names: () => lines().map(([name = '']) => name),
    pids: () => [...new Set(lines().map(([, pid]) => Number(pid)))].filter((pid) => pid !== process.pid),
    hold(name) {
      if (name === null) rmSync(held, { force: true })
      else writeFileSync(held, name)
    },
    async step(name) {
      appendFileSync(log, `${name} ${process.pid}\n`)
      while (existsSync(held) && readFileSync(held, 'utf8') === name) await pause(10)
    },
  }
}
