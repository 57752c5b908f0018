// What happens to turns without a lane's token: an operator's retry or cancel, and the end of waiting too long.
import {
  OPEN_TURN_STATES,
  type ReasonCode,
  rowSeq,
  type TurnRow,
  type TurnState,
} from '../../contract/index.ts'
import { TURN_COLUMNS, turnRow } from '../codec.ts'
import { firstRow, rows, run, type Steps } from '../statement.ts'
import { hint, oneByOne, recordMove, type VerbContext } from '../verb-context.ts'

export interface OperateCall<Word extends string> {
  readonly id: string
  readonly verb: Word
  readonly by: string
}

export const operateTurn = oneByOne(function* (
  context: VerbContext,
  { id, verb, by }: OperateCall<'retry' | 'cancel'>,
): Steps<TurnRow | null> {
  const seq = rowSeq('t', context.tag, id)
  if (seq === null) return null
  const row = yield* firstRow(`SELECT ${TURN_COLUMNS} FROM turns WHERE seq = $1 @lock`, [seq])
  if (!row) return null
  const turn = turnRow(context.tag, row)
  const open = (OPEN_TURN_STATES as readonly TurnState[]).includes(turn.state)
  if (verb === 'cancel') {
    return open ? yield* moveTurn(context, turn, { to: 'failed', reason: 'cancelled', by }) : null
  }
  // Without its body there is nothing to hand over again.
  const gone = turn.state === 'failed' || turn.state === 'expired'
  if (!gone || turn.body === null) return null
  const moved = yield* moveTurn(context, turn, { to: 'queued', reason: 'operator_retry', by })
  // A fresh budget of attempts; what was handed over before is marked as a repeat.
  const repeat = turn.repeat || turn.attempts > 0
  yield* run('UPDATE turns SET attempts = 0, repeat = $2 WHERE seq = $1', [seq, repeat ? 1 : 0])
  if (turn.session !== null && turn.agent !== null) {
    hint(context, { kind: 'turns', lane: turn.session, scope: turn.agent })
  }
  return { ...moved, attempts: 0, repeat }
})

interface OutsideMove {
  readonly to: TurnState
  readonly reason: ReasonCode
  readonly by?: string
}

function* moveTurn(context: VerbContext, turn: TurnRow, { to, reason, by }: OutsideMove): Steps<TurnRow> {
  yield* run('UPDATE turns SET state = $2, reason = $3, updated_at = $4 WHERE seq = $1', [
    turn.seq,
    to,
    reason,
    context.now,
  ])
  recordMove(context, {
    kind: 'turn',
    id: turn.id,
    integration: turn.integration,
    from: turn.state,
    fromReason: turn.reason,
    to,
    reason,
    ...(by === undefined ? {} : { detail: { by } }),
  })
  hint(context, { kind: 'turn', id: turn.id })
  return { ...turn, state: to, reason, updatedAt: context.now }
}

export interface OlderThan {
  readonly olderThanMs: number
  readonly limit: number
}

/** queued for longer than this → expired. What is being taken at this moment has not waited in vain. */
export const expireTurns = oneByOne(function* (
  context: VerbContext,
  { olderThanMs, limit }: OlderThan,
): Steps<readonly TurnRow[]> {
  const waiting = yield* rows(
    `SELECT ${TURN_COLUMNS} FROM turns WHERE state = 'queued'
     AND received_at < $1 LIMIT $2 @skip`,
    [context.now - olderThanMs, limit],
  )
  if (waiting.length === 0) return []
  const turns: TurnRow[] = []
  for (const row of waiting) {
    turns.push(
      yield* moveTurn(context, turnRow(context.tag, row), { to: 'expired', reason: 'queue_expired' }),
    )
  }
  return turns.sort((one, other) => one.seq - other.seq)
})
