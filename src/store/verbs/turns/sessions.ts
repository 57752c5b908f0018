// Sessions: which one an address leads to now, and raising the generation. Part of receive and its effects.
import { type Address, formatAddress, sessionId, sessionKey } from '../../../contract/index.ts'
import {
  firstRow,
  type InsertShape,
  insert,
  reserve,
  rows,
  type Steps,
  text,
  type Value,
  whole,
} from '../../statement.ts'
import type { KnownSession, SessionFacts, VerbContext } from '../../verb-context.ts'

const SESSION_INSERT: InsertShape = {
  table: 'sessions',
  columns: ['seq', 'id', 'session_key', 'agent', 'address', 'generation', 'created_at'],
  numbers: ['seq', 'generation', 'created_at'],
  // Two nodes that see an address at once derive the same id, so the second has nothing to add.
  conflict: 'ON CONFLICT DO NOTHING',
  identity: 'id',
}

export interface SessionBirth {
  readonly key: string
  readonly agent: string
  readonly address: string
  readonly session: KnownSession
}

/** Returns the current session of each key that has one. */
export function* currentSessions(
  context: VerbContext,
  keys: Iterable<string>,
): Steps<ReadonlyMap<string, KnownSession>> {
  const found = new Map<string, KnownSession>()
  const missing: string[] = []
  for (const key of keys) {
    if (found.has(key)) continue
    const known = context.freshSessions.get(key) ?? context.memory.sessions?.get(key)
    if (known) found.set(key, known)
    else missing.push(key)
  }
  if (missing.length === 0) return found
  const stored = yield* rows(
    'SELECT session_key, seq, id, generation, agent FROM sessions WHERE session_key @any($1) ORDER BY generation',
    [missing],
  )
  for (const row of stored) {
    const known = { id: text(row, 'id'), seq: whole(row, 'seq'), generation: whole(row, 'generation') }
    found.set(text(row, 'session_key'), known)
    context.freshSessions.set(text(row, 'session_key'), known)
    // Sessions of this commit are found above, so this one is on the disk.
    context.memory.sessionFacts.set(known.id, { agent: text(row, 'agent'), seq: known.seq })
  }
  return found
}

/** Stores sessions. Returns those that another node stored first, at another position. */
export function* bearSessions(
  context: VerbContext,
  births: readonly SessionBirth[],
): Steps<readonly KnownSession[]> {
  const values: Value[][] = births.map(({ key, agent, address, session }) => [
    session.seq,
    session.id,
    key,
    agent,
    address,
    session.generation,
    context.now,
  ])
  const born = yield* insert(SESSION_INSERT, values)
  const elsewhere: KnownSession[] = []
  for (const [at, { key, session }] of births.entries()) {
    let known = session
    if (!born[at]) {
      const row = yield* firstRow('SELECT seq FROM sessions WHERE id = $1', [session.id])
      if (!row) throw new Error('a session was neither written nor found')
      known = { ...session, seq: whole(row, 'seq') }
      elsewhere.push(known)
    }
    context.freshSessions.set(key, known)
  }
  return elsewhere
}

/** Returns the first session of a key. Every node derives its id without a query. */
export function firstSession(key: string, seq: number): KnownSession {
  return { id: sessionId(key, 1), seq, generation: 1 }
}

/** /new: opens the next generation, or the first one where there is none, and returns its id. */
export function* raiseGeneration(context: VerbContext, agent: string, at: Address): Steps<string> {
  const key = sessionKey(agent, at)
  const current = (yield* currentSessions(context, [key])).get(key)
  const generation = (current?.generation ?? 0) + 1
  const [seq = 0] = yield* reserve('sessions', 1)
  const session = { id: sessionId(key, generation), seq, generation }
  yield* bearSessions(context, [{ key, agent, address: formatAddress(at), session }])
  context.entries.push({
    kind: 'session',
    ref: session.id,
    integration: at.integration,
    from: current?.id ?? '',
    to: 'opened',
    reason: '',
    count: 1,
    digest: '',
    detail: '',
  })
  return session.id
}

/** Returns null when there is no such session. */
export function* factsOfSession(context: VerbContext, id: string): Steps<SessionFacts | null> {
  return (yield* factsOfSessions(context, [id])).get(id) ?? null
}

/**
 * Returns the facts of the sessions that exist. They are read from the disk, so they may be cached whatever happens to
 * the commit.
 */
export function* factsOfSessions(
  context: VerbContext,
  ids: readonly string[],
): Steps<ReadonlyMap<string, SessionFacts>> {
  const found = new Map<string, SessionFacts>()
  const missing: string[] = []
  for (const id of ids) {
    const known = context.memory.sessionFacts.get(id)
    if (known) found.set(id, known)
    else missing.push(id)
  }
  if (missing.length === 0) return found
  const fresh = new Set<string>()
  for (const session of context.freshSessions.values()) fresh.add(session.id)
  for (const row of yield* rows('SELECT id, agent, seq FROM sessions WHERE id @any($1)', [missing])) {
    const id = text(row, 'id')
    const facts = { agent: text(row, 'agent'), seq: whole(row, 'seq') }
    found.set(id, facts)
    if (!fresh.has(id)) context.memory.sessionFacts.set(id, facts)
  }
  return found
}
