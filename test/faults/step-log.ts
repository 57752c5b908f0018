// The steps of a turn. An agent under test notes them in a file that outlives every process, and can be held at one.
import { appendFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pause } from './until.ts'

export interface StepLog {
  readonly folder: string
  /** All steps so far, in order. */
  names(): readonly string[]
  /** The processes that noted a step, without the test's own. */
  pids(): readonly number[]
  /** Holds every agent at this step. Null holds none. */
  hold(name: string | null): void
  /** Notes a step and waits if it is held. For agents in the test process. */
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
