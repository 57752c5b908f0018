// Sessions: which one an address leads to now, and raising the generation. Part of receive and its effects.
import { type Address, formatAddress, sessionId, sessionKey } from '../../contract/index.ts'
import {
  firstRow,
  type InsertShape,
  insert,
  rows,
  type Steps,
  text,
  type Value,
  whole,
} from '../statement.ts'
import type { KnownSession, VerbContext } from '../verb-context.ts'

const SESSION_INSERT: InsertShape = {
  table: 'sessions',
  columns: ['id', 'session_key', 'agent', 'address', 'generation', 'created_at'],
  // Two nodes that meet an address at once derive the same id: whoever is second has nothing to add.
  conflict: 'ON CONFLICT DO NOTHING',
  identity: 'id',
}

export interface SessionBirth {
  readonly key: string
  readonly agent: string
  readonly address: string
  readonly session: KnownSession
}

/** The current session of each key that has one. */
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
    'SELECT session_key, id, generation FROM sessions WHERE session_key @any($1) ORDER BY generation',
    [missing],
  )
  for (const row of stored) {
    const known = { id: text(row, 'id'), generation: whole(row, 'generation') }
    found.set(text(row, 'session_key'), known)
    context.freshSessions.set(text(row, 'session_key'), known)
  }
  return found
}

/** Returns which of them were new to the database. */
export function* bearSessions(
  context: VerbContext,
  births: readonly SessionBirth[],
): Steps<readonly boolean[]> {
  const values: Value[][] = births.map(({ key, agent, address, session }) => [
    session.id,
    key,
    agent,
    address,
    session.generation,
    context.now,
  ])
  const born = yield* insert(SESSION_INSERT, values)
  for (const { key, session } of births) context.freshSessions.set(key, session)
  return born
}

/** The first session of a key: known to every node without asking. */
export function firstSession(key: string): KnownSession {
  return { id: sessionId(key, 1), generation: 1 }
}

/** /new: the next generation, or the first one where nobody ever spoke. */
export function* raiseGeneration(context: VerbContext, agent: string, at: Address): Steps<string> {
  const key = sessionKey(agent, at)
  const current = (yield* currentSessions(context, [key])).get(key)
  const generation = (current?.generation ?? 0) + 1
  const session = { id: sessionId(key, generation), generation }
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

/** The agent of a session id, or null when there is no such session. Never changes, so it is remembered. */
export function* agentOfSession(context: VerbContext, id: string): Steps<string | null> {
  const known = context.memory.sessionAgents.get(id)
  if (known !== undefined) return known
  const row = yield* firstRow('SELECT agent FROM sessions WHERE id = $1', [id])
  if (!row) return null
  const agent = text(row, 'agent')
  context.memory.sessionAgents.set(id, agent)
  return agent
}
