// Counts the steps of a piece of code instead of its time. V8 counts how often each block of source is entered, and a
// busy machine does not change that. Work inside V8 (a pattern, `indexOf`, `join`) is one step.
import { Session } from 'node:inspector/promises'

/** `growthOf` returns less than this for linear work. */
export const LINEAR = 2.7
const LEAST = 20_000
const MOST_BLIND = 0.3
/** Node itself, the waiting test runner, and this file. */
const NOT_COUNTED = /^$|^node:|[/]node_modules[/](?:@?vitest|vite)[/]|[/]count-steps[.][jt]s(?:$|[?])/

let counting: Promise<Session> | null = null

/** Runs once for each process, because starting the counter costs more than counting. */
async function begun(): Promise<Session> {
  const session = new Session()
  session.connect()
  await session.post('Profiler.enable')
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true })
  return session
}

/**
 * Returns how often `run` enters blocks of source, in all modules, packages included. Code that ran in this process
 * before the first count has no counters, and the count misses more of it as V8 optimises it. The function then throws
 * instead of returning a wrong number. So a file that counts needs a process of its own (`*.steps.test.ts`).
 */
export async function countSteps(run: () => void): Promise<number> {
  counting ??= begun()
  const session = await counting
  // Discards the counts so far.
  await session.post('Profiler.takePreciseCoverage')
  run()
  const { result } = await session.post('Profiler.takePreciseCoverage')
  let steps = 0
  let blind = 0
  const uncounted = new Set<string>()
  for (const { url, functions } of result) {
    if (NOT_COUNTED.test(url)) continue
    for (const { functionName, isBlockCoverage, ranges } of functions) {
      const entered = ranges.reduce((sum, { count }) => sum + count, 0)
      steps += entered
      if (isBlockCoverage || entered === 0) continue
      blind += entered
      uncounted.add(`${functionName} of ${url}`)
    }
  }
  // A few small functions of a module run when it is loaded.
  if (blind > steps * MOST_BLIND)
    throw new Error(`ran before steps were counted: ${[...uncounted].slice(0, 3).join(', ')}`)
  return steps
}

/**
 * Returns how much the steps grow when the input doubles: 2 for linear work, 4 for quadratic work. Work with an upper
 * bound may look superlinear just below the bound. So a high result is checked once more at twice the size. At least
 * `LEAST` steps are assumed, so that a few more steps do not look like growth.
 */
export async function growthOf(work: (size: number) => () => void, size: number): Promise<number> {
  const steps = [await countSteps(work(size)), await countSteps(work(2 * size))]
  const found = growth(steps)
  if (found < LINEAR) return found
  return Math.min(found, growth([steps[1] ?? 0, await countSteps(work(4 * size))]))
}

const growth = ([before = 0, after = 0]: readonly number[]) => after / Math.max(before, LEAST)

/** The processor time in milliseconds. It measures work inside V8, which takes either moments or minutes. */
export function processorMs(run: () => void): number {
  const began = process.cpuUsage()
  run()
  return process.cpuUsage(began).user / 1_000
}
