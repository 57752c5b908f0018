// The state of a verb during one commit: time, identity, and collected ledger entries, counter changes and hints. All
// of it is discarded when the commit fails, so memory never runs ahead of the disk.
import {
  type BoundedMap,
  createBoundedMap,
  type Hint,
  type Random,
  type ReasonCode,
} from '../contract/index.ts'
import type { Steps, Value } from './statement.ts'

export interface NewEntry {
  readonly kind: string
  readonly ref: string
  readonly integration: string
  readonly from: string
  readonly to: string
  readonly reason: string
  readonly count: number
  readonly digest: string
  readonly detail: string
}

export interface LaneState {
  readonly owner: string | null
  readonly token: number
  readonly until: number
  readonly notBefore: number
}

export interface KnownSession {
  readonly id: string
  /** The session's position. Its turns carry it as their lane. */
  readonly seq: number
  readonly generation: number
}

export interface SessionFacts {
  readonly agent: string
  readonly seq: number
}

/** Facts that outlive a commit. Only facts on disk get in: see `adopt`. */
export interface WriterMemory {
  /** Session key → current session. Null where other nodes may raise a generation. */
  readonly sessions: BoundedMap<string, KnownSession> | null
  /** Session id → agent and position. They never change, so every node may cache them. */
  readonly sessionFacts: BoundedMap<string, SessionFacts>
  /** Kind and lane → its row, or null where there is none. Null where other nodes write to them. */
  readonly lanes: BoundedMap<string, LaneState | null> | null
  /** There is no claim and no route, and only this node could make one. */
  claimless: boolean
  /** No conversation was ever taken over, and only this node could take one over. */
  heldless: boolean
  chain: ChainHead | null
}

export interface ChainHead {
  readonly id: number
  readonly n: number
  readonly head: string
  readonly prevChain: number
  readonly prevN: number
  readonly prevMac: string
}

export interface Drop {
  readonly integration: string
  readonly state: string
  readonly reason: string
  readonly detail: string
  count: number
}

/** A row that is written at the end of the commit: see verbs/turns/pending-inserts.ts. */
export interface BornRow {
  /** In the order of the insert's columns. */
  readonly values: Value[]
  attempts: number
}

export interface VerbContext {
  readonly now: number
  readonly node: string
  /** `<node>/<boot>`: owner of lanes and leases, and name of the ledger's chain. */
  readonly owner: string
  readonly tag: string
  readonly random: Random
  readonly memory: WriterMemory
  /** Sessions used in this commit; adopted into memory after it. */
  readonly freshSessions: Map<string, KnownSession>
  /** Lanes used or changed in this commit; adopted likewise. */
  readonly freshLanes: Map<string, LaneState | null>
  /** By position. */
  readonly born: { readonly turns: Map<number, BornRow>; readonly sends: Map<number, BornRow> }
  readonly entries: NewEntry[]
  /** Dropped messages without a row, by integration, reason and key: one entry per commit. */
  readonly drops: Map<string, Drop>
  readonly counts: Map<string, { integration: string; name: string; reason: string; delta: number }>
  readonly hints: Map<string, Hint>
  /** Observed in this commit; adopted likewise. */
  claimless: boolean
  heldless: boolean
  chain: ChainHead | null
}

/** A verb for many calls at once: neighbours in a commit share statements. It returns one result per call. */
export type Verb<Args, Result> = (context: VerbContext, calls: readonly Args[]) => Steps<readonly Result[]>

/** Wraps a verb that gains nothing from sharing. */
export function oneByOne<Args, Result>(
  verb: (context: VerbContext, call: Args) => Steps<Result>,
): Verb<Args, Result> {
  return function* (context, calls) {
    const results: Result[] = []
    for (const call of calls) results.push(yield* verb(context, call))
    return results
  }
}

const REMEMBERED = 20_000

/** `alone`: no other node writes, so cached sessions and lanes stay valid. */
export function createWriterMemory(alone: boolean): WriterMemory {
  return {
    sessions: alone ? createBoundedMap(REMEMBERED) : null,
    sessionFacts: createBoundedMap(REMEMBERED),
    lanes: alone ? createBoundedMap(REMEMBERED) : null,
    ...{ claimless: false, heldless: false, chain: null },
  }
}

/** Keeps the facts of a successful commit in memory. */
export function adopt(context: VerbContext): void {
  const { memory } = context
  memory.chain = context.chain
  memory.claimless = context.claimless
  memory.heldless = context.heldless
  if (memory.lanes) for (const [key, lane] of context.freshLanes) memory.lanes.set(key, lane)
  if (memory.sessions) for (const [key, session] of context.freshSessions) memory.sessions.set(key, session)
}

export function count(context: VerbContext, change: Change): void {
  const key = `${change.name}\n${change.reason}\n${change.integration}`
  const known = context.counts.get(key)
  if (known) known.delta += change.delta
  else context.counts.set(key, { ...change })
}

/** Messages that were missed and found in a history. They are counted beside their states. */
export const FOUND_LATE = 'found:late'

export interface Change {
  readonly integration: string
  /** `received`, a turn state, or `send:` + a send state. */
  readonly name: string
  readonly reason: string
  readonly delta: number
}

/** States whose counters are split by reason. All others are counted under ''. */
const REASONED = new Set(['refused', 'consumed', 'failed', 'expired', 'unknown', 'deduplicated', 'sending'])

export function countedReason(state: string, reason: string | null): string {
  return REASONED.has(state) ? (reason ?? '') : ''
}

export function hint(context: VerbContext, told: Hint): void {
  const about = 'lane' in told ? told.lane : 'id' in told ? told.id : ''
  addHint(context.hints, `${told.kind}\n${about}`, told)
}

/** Adds a hint. Of two hints for one lane, the one that asks for work wins. */
export function addHint(hints: Map<string, Hint>, key: string, told: Hint): void {
  if (told.kind === 'sends' && told.settled && hints.has(key)) return
  hints.set(key, told)
}

export interface Moved {
  readonly kind: 'turn' | 'send'
  readonly id: string
  readonly integration: string
  readonly from: string
  readonly fromReason: string | null
  readonly to: string
  readonly reason: ReasonCode | null
  readonly digest?: string
  readonly detail?: Readonly<Record<string, string>>
}

/** Records the ledger entry and the counters of one move of a turn or a send. */
export function recordMove(context: VerbContext, moved: Moved): void {
  const prefix = moved.kind === 'send' ? 'send:' : ''
  const was = countedReason(moved.from, moved.fromReason)
  const detail = was === '' ? moved.detail : { ...moved.detail, was }
  context.entries.push({
    kind: moved.kind,
    ref: moved.id,
    integration: moved.integration,
    from: moved.from,
    to: moved.to,
    reason: moved.reason ?? '',
    count: 1,
    digest: moved.digest ?? '',
    detail: detail === undefined ? '' : JSON.stringify(detail),
  })
  const { integration } = moved
  count(context, { integration, name: prefix + moved.from, reason: was, delta: -1 })
  const reason = countedReason(moved.to, moved.reason)
  count(context, { integration, name: prefix + moved.to, reason, delta: 1 })
}

/** Records an entry that moves no counter: approvals, access, notes. */
export function recordFact(
  context: VerbContext,
  fact: { kind: string; ref: string; integration?: string; from?: string; to?: string; digest?: string },
  detail: Readonly<Record<string, string>> = {},
): void {
  context.entries.push({
    kind: fact.kind,
    ref: fact.ref,
    integration: fact.integration ?? '',
    from: fact.from ?? '',
    to: fact.to ?? '',
    reason: '',
    count: 1,
    digest: fact.digest ?? '',
    detail: Object.keys(detail).length === 0 ? '' : JSON.stringify(detail),
  })
}

/** Splits the results of merged calls by call. */
export function divide<Result>(
  results: readonly Result[],
  calls: readonly { readonly length: number }[],
): (readonly Result[])[] {
  let from = 0
  return calls.map((call) => {
    const part = results.slice(from, from + call.length)
    from += call.length
    return part
  })
}
