// One group: the verbs of one turn of the event loop as one run of statements. Adjacent calls of the same verb become
// one call. On PostgreSQL, independent verbs run side by side.
//
// Work that a commit is about to hint at can be taken within the same group. The same commit then receives a message
// and hands it over, or accepts an answer and starts to send it.
import type { Hint, Random } from '../contract/index.ts'
import { flush } from './ledger-chain.ts'
import type { Mac } from './mac.ts'
import { planParallelVerbs, readsBorn, type VerbRun } from './parallel-verbs.ts'
import { type Steps, sideBySide } from './statement.ts'
import type { Verb, VerbContext, WriterMemory } from './verb-context.ts'
import { accept, moveTurns, settleTurns } from './verbs/turns/move-turns.ts'
import { writePendingInserts } from './verbs/turns/pending-inserts.ts'

type AnyVerb = Verb<unknown, unknown>

export interface Pending {
  readonly verb: AnyVerb
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
    node: identity.node,
    owner: identity.owner,
    tag: identity.tag,
    random: identity.random,
    memory: identity.memory,
    now,
    freshSessions: new Map(),
    freshLanes: new Map(),
    born: { turns: new Map(), sends: new Map() },
    entries: [],
    drops: new Map(),
    counts: new Map(),
    hints: new Map<string, Hint>(),
    claimless: identity.memory.claimless,
    heldless: identity.memory.heldless,
    chain: identity.memory.chain,
  }
}

/** Runs the calls in order and returns the results in the same order. `join` may append calls once. */
export const runGroup = groupOf(runCalls)

/** Verbs whose adjacent calls merge, in any mix. */
const ALIKE = new Map([moveTurns, accept].map((verb) => [verb as AnyVerb, settleTurns as AnyVerb]))

/** Runs the calls that have no result yet. */
function* runCalls(context: VerbContext, calls: readonly Pending[], results: unknown[]): Steps<void> {
  const verbAt = (at: number) => {
    const { verb } = calls[at] as Pending
    return ALIKE.get(verb) ?? verb
  }
  for (let at = results.length; at < calls.length; ) {
    const verb = verbAt(at)
    const args: unknown[] = []
    for (; at < calls.length && verbAt(at) === verb; at++) args.push((calls[at] as Pending).args)
    for (const result of yield* verb(context, args)) results.push(result)
  }
}

export interface CommitListeners {
  add(listen: (hints: readonly Hint[]) => void): void
  /** Returns a function that calls the listeners. Verbs called meanwhile are appended to `calls`. */
  joinerOf(calls: Pending[]): (hints: readonly Hint[]) => void
  /** True: the call joins the commit that is being made. */
  takes(call: Pending): boolean
}

export function createCommitListeners(): CommitListeners {
  const listeners: ((hints: readonly Hint[]) => void)[] = []
  let open: Pending[] | null = null
  return {
    add: (listen) => void listeners.push(listen),
    joinerOf: (calls) => (hints) => {
      open = calls
      try {
        for (const listen of listeners) listen(hints)
      } finally {
        open = null
      }
    },
    takes(call) {
      open?.push(call)
      return open !== null
    },
  }
}

/** The same with as few round trips as the verbs allow, where waiting for answers is expensive. */
export const runGroupInWaves = groupOf(runWaves)

function groupOf(run: typeof runCalls) {
  return function* (
    context: VerbContext,
    calls: readonly Pending[],
    mac: Mac,
    join?: (hints: readonly Hint[]) => void,
  ): Steps<readonly unknown[]> {
    const results: unknown[] = []
    yield* run(context, calls, results)
    if (join && context.hints.size > 0) {
      join([...context.hints.values()])
      yield* run(context, calls, results)
    }
    yield* writePendingInserts(context)
    yield* flush(context, mac)
    return results
  }
}

/** Runs the calls that have no result yet. */
function* runWaves(context: VerbContext, calls: readonly Pending[], results: unknown[]): Steps<void> {
  const before = results.length
  const open = calls.slice(before)
  for (const _ of open) results.push(undefined)
  const runOf = function* ({ verb, at }: VerbRun): Steps<void> {
    const args = at.map((nth) => (open[nth] as Pending).args)
    for (const [nth, result] of (yield* verb(context, args)).entries())
      results[before + (at[nth] as number)] = result
  }
  for (const runs of planParallelVerbs(open)) {
    if (!runs.every(readsBorn)) yield* writePendingInserts(context)
    yield* sideBySide(...runs.map(runOf))
  }
}
