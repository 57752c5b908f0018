// Helpers for the scenarios of sending: the caller of a tool, and its outcome while time stands still or passes.
import type { ToolCaller, ToolOutcome } from '../../src/contract/index.ts'
import type { River } from './river.ts'

export function caller(over: Partial<ToolCaller> = {}): ToolCaller {
  return { agent: 'demo', session: null, user: null, turn: null, idempotencyKey: null, ...over }
}

/** Lets the river run until the call has its outcome, at most `withinMs`. */
export async function outcomeOf<T = ToolOutcome>(
  river: River,
  call: Promise<T>,
  withinMs = 60_000,
): Promise<T> {
  let done: { readonly value: T } | null = null
  let failed: { readonly error: unknown } | null = null
  call.then(
    (value) => {
      done = { value }
    },
    (error: unknown) => {
      failed = { error }
    },
  )
  const until = river.now() + withinMs
  await river.settle()
  while (!done && !failed && river.now() < until) await river.pass(250)
  const problem = failed as { readonly error: unknown } | null
  if (problem) throw problem.error
  const found = done as { readonly value: T } | null
  if (!found) throw new Error('the call has no outcome')
  return found.value
}
