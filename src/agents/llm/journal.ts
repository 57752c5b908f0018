// The journal of one turn: the model's answers, which calls were started, and their results. After a crash the loop
// knows only what is in it.
import { type NewTurnStep, type TurnJournal, type TurnStep, withoutNulls } from '../../contract/index.ts'
import type { Message, StopReason, ToolAnswer, ToolUse } from './models/model.ts'

export interface ModelStep {
  readonly text: string
  readonly calls: readonly ToolUse[]
  readonly stop: StopReason
  readonly model: string
  readonly raw: { readonly by: string; readonly content: unknown } | null
  /** The tokens it used. */
  readonly tokens: number
}

export interface SummaryStep {
  /** The newest turn that it covers. */
  readonly through: string
  readonly text: string
}

/** Another node works on the turn. The loop that finds this stops at once. */
export const LOST = Symbol('lost')

export interface OpenJournal {
  readonly steps: readonly TurnStep[]
  /** Throws LOST when another node wrote first. */
  add(step: Omit<NewTurnStep, 'turn' | 'n'>): Promise<void>
  modelSteps(): readonly ModelStep[]
  summary(): SummaryStep | null
  /** The tokens that the turn used, input and output. */
  tokens(): number
  isStarted(call: string): boolean
  result(call: string): ToolAnswer | null
  /** The turn's own messages, in the form for the model. */
  messages(): readonly Message[]
}

export async function openJournal(journal: TurnJournal, turn: string): Promise<OpenJournal> {
  const steps: TurnStep[] = [...(await journal.steps(turn))]
  const of = (kind: TurnStep['kind']) => steps.filter((step) => step.kind === kind).map((step) => step.body)
  const modelSteps = () => of('model') as ModelStep[]
  const results = () => of('result') as ToolAnswer[]
  const started = () => of('call') as { readonly id: string }[]
  const result = (call: string) => results().find(({ id }) => id === call) ?? null
  return {
    get steps() {
      return steps
    },
    async add(step) {
      const n = steps.length + 1
      if (!(await journal.add({ ...step, turn, n }))) throw LOST
      steps.push({ kind: step.kind, body: step.body, n, at: 0 })
    },
    modelSteps,
    summary: () => (of('summary').at(-1) as SummaryStep | undefined) ?? null,
    tokens: () => modelSteps().reduce((sum, step) => sum + step.tokens, 0),
    isStarted: (call) => started().some(({ id }) => id === call),
    result,
    messages: () => modelSteps().flatMap((step) => stepMessages(step, result)),
  }
}

/** Returns the answer and the results of its calls. After an interruption some calls have none. */
export function stepMessages(
  step: ModelStep,
  result: (call: string) => ToolAnswer | null,
): readonly Message[] {
  const { text, calls, raw } = step
  const answered = calls.map(
    (call): ToolAnswer => result(call.id) ?? { ...unknownAnswer(call), isError: true },
  )
  return [
    { role: 'assistant', text, calls, ...withoutNulls({ raw }) },
    ...(calls.length === 0 ? [] : [{ role: 'tool' as const, results: answered }]),
  ]
}

/** Returns the result of a call that was begun and whose end is unknown. */
export function unknownAnswer({ id, name }: Pick<ToolUse, 'id' | 'name'>): ToolAnswer {
  return {
    ...{ id, name, isError: true },
    text: 'Outcome unknown: the call was interrupted after it had begun, and it was not run again. It may have worked. Check before you call it again, or tell the person.',
  }
}
