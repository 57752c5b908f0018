// What a turn's tools did, in the turn's journal: begun and done, so that after a crash the agent is told which must not run
// again. Written one after the other; the answer to a permission waits until the call stands there.
import { createSerial, type TurnJournal, type TurnStep } from '../../contract/index.ts'
import { type AnewStanding, anewStanding } from '../../kit/index.ts'
import type { LeftOver } from './prompt-blocks.ts'
import type { ToolCallView } from './tool-calls.ts'

export interface TurnSteps {
  /** Each resolves when it stands there; the same again is the same step. */
  begun(call: ToolCallView): Promise<void>
  /** A person is asked whether it may run: until it is allowed it does not. */
  asked(call: ToolCallView): Promise<void>
  allowed(call: ToolCallView): Promise<void>
  done(call: ToolCallView): Promise<void>
  /** A person is asked whether it is begun anew; it is. */
  anew(what: 'asked' | 'begun'): Promise<void>
  readonly anewBefore: AnewStanding
  /** What stood there before this life of the turn. */
  readonly before: LeftOver
}

interface StepBody {
  readonly id: string
  readonly name: string
  readonly permission?: 'asked' | 'allowed'
}

/** The agent may tell of more than that; it is not all written down. */
const MOST_STEPS = 500
const RESULT_CHARS = 2_000

export async function openSteps(journal: TurnJournal | undefined, turn: string): Promise<TurnSteps> {
  const steps: readonly TurnStep[] = (await journal?.steps(turn)) ?? []
  let n = steps.length
  const known = new Set<string>()
  const inOrder = createSerial()
  const add = (kind: 'call' | 'result', body: unknown, key: string): Promise<void> => {
    if (!journal || (n >= MOST_STEPS && !key.startsWith('anew')) || known.has(key))
      return inOrder(() => undefined)
    known.add(key)
    n += 1
    const at = n
    // A place that is taken is another life's: what it wrote counts, and this one is told by its lane.
    return inOrder(async () => void (await journal.add({ turn, n: at, kind, body })))
  }
  return {
    begun: ({ id, title }) => add('call', { id, name: title }, `call ${id}`),
    asked: ({ id, title }) => add('call', { id, name: title, permission: 'asked' }, `asked ${id}`),
    allowed: ({ id, title }) => add('call', { id, name: title, permission: 'allowed' }, `allowed ${id}`),
    done: ({ id, title, status, rawOutput }) => {
      const text = typeof rawOutput === 'string' ? rawOutput.slice(0, RESULT_CHARS) : ''
      return add('result', { id, name: title, text, isError: status === 'failed' }, `result ${id}`)
    },
    anew: (what) => add('call', { anew: what }, `anew ${what}`),
    anewBefore: anewStanding(steps),
    before: leftOver(steps),
  }
}

/** A call that waited for a permission which never came did not run. */
function leftOver(steps: readonly TurnStep[]): LeftOver {
  const of = (kind: TurnStep['kind']) =>
    steps
      .filter((step) => step.kind === kind)
      .map(({ body }) => body as StepBody)
      .filter(({ id }) => typeof id === 'string')
  const results = of('result')
  const finished = new Set(results.map(({ id }) => id))
  const calls = new Map<string, StepBody>()
  for (const call of of('call')) calls.set(call.id, call)
  return {
    done: results.map(({ name }) => name),
    unknown: [...calls.values()]
      .filter(({ id, permission }) => !finished.has(id) && permission !== 'asked')
      .map(({ name }) => name),
  }
}
