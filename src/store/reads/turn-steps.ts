// Reads journals: the steps of a turn, the earlier turns of a session with their steps, and an agent's usage.
import {
  opText,
  type PastTurn,
  rowId,
  rowSeq,
  type TokenUsage,
  type TurnRow,
  type TurnStep,
  type UsageRow,
} from '../../contract/index.ts'
import { type Row, rows, type Steps, text, whole } from '../statement.ts'
import { readSends } from './sends.ts'
import { readTurns } from './turns.ts'

const HANDED = ['handed', 'seen', 'answered', 'failed'] as const

export function* readSteps(tag: string, turn: string): Steps<readonly TurnStep[]> {
  const seq = rowSeq('t', tag, turn)
  if (seq === null) return []
  return (yield* rows('SELECT n, at, kind, body FROM turn_steps WHERE turn = $1 ORDER BY n', [seq])).map(
    stepOf,
  )
}

/** Returns earlier turns, newest first. Turns that never reached the agent are omitted. */
export function* readPast(
  tag: string,
  session: string,
  before: string,
  limit: number,
): Steps<readonly PastTurn[]> {
  const beforeSeq = rowSeq('t', tag, before)
  if (beforeSeq === null) return []
  const all = yield* readTurns(tag, { session, states: HANDED, beforeSeq, limit })
  const found = all.filter((row) => row.attempts > 0)
  if (found.length === 0) return []
  const steps = grouped(
    yield* rows('SELECT turn, n, at, kind, body FROM turn_steps WHERE turn @any($1) ORDER BY turn, n', [
      found.map((row) => row.seq),
    ]),
    (row) => rowId('t', tag, whole(row, 'turn')),
  )
  const said = yield* repliesTo(
    tag,
    found.filter((row) => !steps.has(row.id)),
  )
  return found.map((row) => {
    const name = row.body?.senderName
    return {
      turn: row.id,
      sender: name === undefined ? { id: row.sender } : { id: row.sender, name },
      at: row.receivedAt,
      source: row.source,
      text: row.body?.text ?? null,
      attachments: (row.body?.attachments ?? []).map((file) => file.name ?? file.kind),
      state: row.state,
      steps: (steps.get(row.id) ?? []).map(stepOf),
      said: said.get(row.id) ?? [],
    }
  })
}

/** The replies to turns without a journal, from another connector or from before journals existed. */
function* repliesTo(tag: string, turns: readonly TurnRow[]): Steps<ReadonlyMap<string, readonly string[]>> {
  const said = new Map<string, string[]>()
  for (const { id: turn, integration, conversation, receivedAt: sinceMs } of turns) {
    const sends = yield* readSends(tag, {
      integration,
      conversation,
      turn,
      sinceMs,
      oldestFirst: true,
      limit: 20,
    })
    const texts = sends.flatMap(({ cause, op }) => (cause === 'reply' && op !== null ? [opText(op)] : []))
    said.set(turn, texts)
  }
  return said
}

export function* readSpent(agent: string, day: string): Steps<TokenUsage> {
  const found = yield* rows(
    'SELECT input, output, cache_read, cache_write, cost_micros FROM agent_usage WHERE agent = $1 AND day = $2',
    [agent, day],
  )
  const sum = (name: string) => found.reduce((total, row) => total + whole(row, name), 0)
  return {
    input: sum('input'),
    output: sum('output'),
    cacheRead: sum('cache_read'),
    cacheWrite: sum('cache_write'),
    costMicros: sum('cost_micros'),
  }
}

export function* readUsage(sinceDay: string): Steps<readonly UsageRow[]> {
  const found = yield* rows(
    `SELECT agent, day, model, calls, input, output, cache_read, cache_write, cost_micros FROM agent_usage
     WHERE day >= $1 ORDER BY agent, day, model`,
    [sinceDay],
  )
  return found.map((row) => ({
    agent: text(row, 'agent'),
    day: text(row, 'day'),
    model: text(row, 'model'),
    calls: whole(row, 'calls'),
    input: whole(row, 'input'),
    output: whole(row, 'output'),
    cacheRead: whole(row, 'cache_read'),
    cacheWrite: whole(row, 'cache_write'),
    costMicros: whole(row, 'cost_micros'),
  }))
}

function stepOf(row: Row): TurnStep {
  return {
    n: whole(row, 'n'),
    at: whole(row, 'at'),
    kind: text(row, 'kind') as TurnStep['kind'],
    body: JSON.parse(text(row, 'body')),
  }
}

function grouped(found: readonly Row[], keyOf: (row: Row) => string): ReadonlyMap<string, readonly Row[]> {
  const groups = new Map<string, Row[]>()
  for (const row of found) {
    const group = groups.get(keyOf(row))
    if (group) group.push(row)
    else groups.set(keyOf(row), [row])
  }
  return groups
}
