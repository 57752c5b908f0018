// Counts what a piece of code does instead of how long it takes: V8 counts how often each block of source was entered, and
// a busy machine does not change that. What happens inside V8 (a pattern, `indexOf`, `join`) is one step.
import { Session } from 'node:inspector/promises'

let counting: Promise<Session> | null = null

/** Once for the process: to begin counting costs more than to count. */
async function begun(): Promise<Session> {
  const session = new Session()
  session.connect()
  await session.post('Profiler.enable')
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true })
  return session
}

/** How often blocks of source were entered while `run` ran: in all modules, those of packages too. */
export async function countSteps(run: () => void): Promise<number> {
  counting ??= begun()
  const session = await counting
  // What was counted until now.
  await session.post('Profiler.takePreciseCoverage')
  run()
  const { result } = await session.post('Profiler.takePreciseCoverage')
  let steps = 0
  for (const { functions } of result)
    for (const { ranges } of functions) for (const { count } of ranges) steps += count
  return steps
}

/**
 * How much the steps grow when the input is doubled: 2 for linear work, 4 for quadratic. `least` steps are taken for granted,
 * so that a handful more does not look like growth.
 */
export async function growthOf(
  work: (size: number) => () => void,
  size: number,
  least = 20_000,
): Promise<number> {
  const [one, two] = [work(size), work(2 * size)]
  const before = await countSteps(one)
  const after = await countSteps(two)
  return after / Math.max(before, least)
}
