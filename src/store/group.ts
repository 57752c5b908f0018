// One group: the verbs of a loop turn as one run of statements. Neighbouring calls of the same verb become one call; on
// PostgreSQL, verbs that need nothing of each other are asked side by side.
import type { Hint, Random } from '../contract/index.ts'
import { flush } from './ledger-chain.ts'
import type { Mac } from './mac.ts'
import { type Steps, sideBySide } from './statement.ts'
import type { Verb, VerbContext, WriterMemory } from './verb-context.ts'
import { planWaves, type VerbRun } from './waves.ts'

export interface Pending {
  readonly verb: Verb<unknown, unknown>
  readonly args: unknown
  readonly resolve: (result: unknown) => void
  readonly reject: (error: unknown) => void
}

export interface GroupIdentity {
  readonly node: string
  readonly owner: string
  readonly tag: string
  readonly random: Random
  readonly memory: WriterMemory
}

export function newContext(identity: GroupIdentity, now: number): VerbContext {
  return {
    ...identity,
    now,
    freshSessions: new Map(),
    freshLanes: new Map(),
    entries: [],
    drops: new Map(),
    counts: new Map(),
    hints: new Map<string, Hint>(),
    claimless: identity.memory.claimless,
    heldless: identity.memory.heldless,
    chain: identity.memory.chain,
  }
}

/** Runs the calls in order; the results are in the same order. */
export function* runGroup(
  context: VerbContext,
  calls: readonly Pending[],
  mac: Mac,
): Steps<readonly unknown[]> {
  const results: unknown[] = []
  for (let at = 0; at < calls.length; ) {
    const verb = (calls[at] as Pending).verb
    const args: unknown[] = []
    for (; at < calls.length && (calls[at] as Pending).verb === verb; at++)
      args.push((calls[at] as Pending).args)
    for (const result of yield* verb(context, args)) results.push(result)
  }
  yield* flush(context, mac)
  return results
}

/** The same, where waiting for answers is what costs: as few round trips as the verbs allow. */
export function* runGroupInWaves(
  context: VerbContext,
  calls: readonly Pending[],
  mac: Mac,
): Steps<readonly unknown[]> {
  const results: unknown[] = calls.map(() => undefined)
  const runOf = function* ({ verb, at }: VerbRun): Steps<void> {
    const args = at.map((nth) => (calls[nth] as Pending).args)
    for (const [nth, result] of (yield* verb(context, args)).entries()) results[at[nth] as number] = result
  }
  for (const runs of planWaves(calls)) yield* sideBySide(...runs.map(runOf))
  yield* flush(context, mac)
  return results
}
