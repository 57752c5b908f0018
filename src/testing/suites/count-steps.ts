// Counts what a piece of code does instead of how long it takes: V8 counts how often each block of source was entered,
// and a busy machine does not change that. What happens inside V8 (a pattern, `indexOf`, `join`) is one step.
import { Session } from 'node:inspector/promises'

/** What `growthOf` says of linear work is below this. */
export const LINEAR = 2.7
const LEAST = 20_000
const MOST_BLIND = 0.3
/** Node itself, the runner that waits meanwhile, and this file. */
const NOT_COUNTED = /^$|^node:|[/]node_modules[/](?:@?vitest|vite)[/]|[/]count-steps[.][jt]s(?:$|[?])/

let counting: Promise<Session> | null = null

/** Once for the process: to begin counting costs more than to count. */
async function begun(): Promise<Session> {
  const session = new Session()
  session.connect()
  await session.post('Profiler.enable')
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true })
  return session
}

/**
 * How often blocks of source were entered while `run` ran: in all modules, those of packages too. What ran in this
 * process before the first count was compiled without counters, and less and less of it is seen as it is optimised:
 * rather than return a number that means nothing this throws. A file that counts needs a process of its own
 * (`*.steps.test.ts`).
 */
export async function countSteps(run: () => void): Promise<number> {
  counting ??= begun()
  const session = await counting
  // What was counted until now.
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
 * How much the steps grow when the input is doubled: 2 for linear work, 4 for quadratic. What has a bound may look
 * superlinear just below it; what is superlinear is so at the next size too, and that is looked at then. `LEAST` steps
 * are taken for granted, so that a handful more does not look like growth.
 */
export async function growthOf(work: (size: number) => () => void, size: number): Promise<number> {
  const steps = [await countSteps(work(size)), await countSteps(work(2 * size))]
  const found = growth(steps)
  if (found < LINEAR) return found
  return Math.min(found, growth([steps[1] ?? 0, await countSteps(work(4 * size))]))
}

const growth = ([before = 0, after = 0]: readonly number[]) => after / Math.max(before, LEAST)

/** The processor's time, in milliseconds: for what happens inside V8, where it takes moments or minutes. */
export function processorMs(run: () => void): number {
  const began = process.cpuUsage()
  run()
  return process.cpuUsage(began).user / 1_000
}
