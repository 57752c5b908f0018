// The journal of a turn's tool calls: begun and done. After a crash it says which calls must not run again. Steps are
// written in order, and the answer to a permission waits until the call is stored.
import { createSerial, type TurnJournal, type TurnStep } from '../../contract/index.ts'
import { type AnewStanding, anewStanding } from '../../kit/index.ts'
import type { LeftOver } from './prompt-blocks.ts'
import type { ToolCallView } from './tool-calls.ts'

export interface TurnSteps {
  /** Each resolves when the step is stored. Repeating a step changes nothing. */
  begun(call: ToolCallView): Promise<void>
  /** A person is asked. The call does not run until it is allowed. */
  asked(call: ToolCallView): Promise<void>
  allowed(call: ToolCallView): Promise<void>
  done(call: ToolCallView): Promise<void>
  /** Records that a person is asked whether the turn is begun again, or that it was begun. */
  anew(what: 'asked' | 'begun'): Promise<void>
  readonly anewBefore: AnewStanding
  /** The steps of earlier runs. */
  readonly before: LeftOver
}

interface StepBody {
  readonly id: string
  readonly name: string
  readonly permission?: 'asked' | 'allowed'
}

/** The most steps of a turn that are stored. */
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
    // If the number is taken, another run wrote it. That step counts, and this run loses its lane.
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

/** A call whose permission never came did not run. */
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
