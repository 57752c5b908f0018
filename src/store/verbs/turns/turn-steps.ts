// keepStep: stores one more step of a turn's journal. Its position is the fence: of two nodes that believe they have
// the same turn, only one can write the next step. The same commit counts tokens.
import { type NewTurnStep, NO_TOKENS, rowSeq, type TokenUsage } from '../../../contract/index.ts'
import { parsedUsage } from '../../codec.ts'
import { firstRow, run, type Steps, textOrNull } from '../../statement.ts'
import { storable } from '../../storable.ts'
import { oneByOne, type VerbContext } from '../../verb-context.ts'

/** Stores a step. False: the position is taken, the previous one is missing, or the turn is not in work. */
export const keepStep = oneByOne(function* (context: VerbContext, step: NewTurnStep): Steps<boolean> {
  const turn = rowSeq('t', context.tag, step.turn)
  if (turn === null) return false
  const row = yield* firstRow(
    `SELECT usage FROM turns WHERE seq = $1 AND state IN ('handed','seen') AND
     (SELECT coalesce(max(n), 0) FROM turn_steps WHERE turn = $1) = $2 @lock`,
    [turn, step.n - 1],
  )
  if (!row) return false
  const written = yield* run(
    'INSERT INTO turn_steps (turn, n, at, kind, body) VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING',
    [turn, step.n, context.now, step.kind, storable(JSON.stringify(step.body))],
  )
  if (written === 0) return false
  const { usage } = step
  if (!usage) return true
  const all = added(parsedUsage(textOrNull(row, 'usage')) ?? NO_TOKENS, usage)
  yield* run('UPDATE turns SET usage = $2, updated_at = $3 WHERE seq = $1', [
    turn,
    JSON.stringify(all),
    context.now,
  ])
  const day = new Date(context.now).toISOString().slice(0, 10)
  yield* run(
    `INSERT INTO agent_usage (agent, day, model, calls, input, output, cache_read, cache_write, cost_micros)
     VALUES ($1, $2, $3, 1, $4, $5, $6, $7, $8) ON CONFLICT (agent, day, model) DO UPDATE SET
     calls = agent_usage.calls + 1, input = agent_usage.input + excluded.input,
     output = agent_usage.output + excluded.output, cache_read = agent_usage.cache_read + excluded.cache_read,
     cache_write = agent_usage.cache_write + excluded.cache_write,
     cost_micros = agent_usage.cost_micros + excluded.cost_micros`,
    [
      ...[usage.agent, day, usage.model, usage.input, usage.output, usage.cacheRead, usage.cacheWrite],
      usage.costMicros ?? 0,
    ],
  )
  return true
})

function added(before: TokenUsage, more: TokenUsage): TokenUsage {
  const cost =
    before.costMicros === undefined && more.costMicros === undefined
      ? {}
      : { costMicros: (before.costMicros ?? 0) + (more.costMicros ?? 0) }
  return {
    input: before.input + more.input,
    output: before.output + more.output,
    cacheRead: before.cacheRead + more.cacheRead,
    cacheWrite: before.cacheWrite + more.cacheWrite,
    ...cost,
  }
}

/** Summaries of later turns may describe a person's messages, so they are deleted with them. */
export function* forgetSteps(turns: readonly number[]): Steps<void> {
  if (turns.length === 0) return
  yield* run('DELETE FROM turn_steps WHERE turn @any($1)', [turns])
  yield* run(
    `DELETE FROM turn_steps WHERE kind = 'summary' AND turn IN
     (SELECT later.seq FROM turns later JOIN turns gone ON gone.session = later.session WHERE gone.seq @any($1))`,
    [turns],
  )
}
