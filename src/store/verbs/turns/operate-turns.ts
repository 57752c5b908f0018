// Changes to turns without a lane's token: an operator's retry or cancel, and expiry.
import {
  type NewSend,
  OPEN_TURN_STATES,
  type ReasonCode,
  rowSeq,
  type TurnRow,
  type TurnState,
} from '../../../contract/index.ts'
import { TURN_COLUMNS, turnRow } from '../../codec.ts'
import { ONE_WAY } from '../../in-flight.ts'
import { firstRow, rows, run, type Steps } from '../../statement.ts'
import { hint, oneByOne, recordMove, type VerbContext } from '../../verb-context.ts'
import { enqueueSends } from '../sends/enqueue.ts'

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
  // Without its body a turn cannot be handed over again.
  const gone = turn.state === 'failed' || turn.state === 'expired'
  if (!gone || turn.body === null) return null
  const moved = yield* moveTurn(context, turn, { to: 'queued', reason: 'operator_retry', by })
  // The turn gets a new budget of attempts and time. If it was handed over before, it is marked as a repeat.
  const repeat = turn.repeat || turn.attempts > 0
  yield* run('UPDATE turns SET attempts = 0, repeat = $2, retried_at = $3, takeover = NULL WHERE seq = $1', [
    seq,
    repeat ? 1 : 0,
    context.now,
  ])
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

// A one-way turn without a sign of being read waits like a queued one.
const UNREAD = [`state = 'queued'`, `${ONE_WAY} AND state = 'handed'`]
const OVERDUE = 'COALESCE(retried_at, received_at) < $1'

export function* readOverdueTurns(tag: string, before: number, limit: number): Steps<readonly TurnRow[]> {
  const overdue = UNREAD.map((state) => `SELECT seq FROM turns WHERE ${state} AND ${OVERDUE}`)
  const found = yield* rows(
    `SELECT ${TURN_COLUMNS} FROM turns WHERE seq IN (${overdue.join(' UNION ALL ')} LIMIT $2)`,
    [before, limit],
  )
  return found.map((row) => turnRow(tag, row))
}

export interface ExpireCall {
  readonly olderThanMs: number
  readonly turns: readonly { readonly id: string; readonly words: readonly NewSend[] }[]
}

/**
 * Moves turns queued for longer than this → expired, with the notices in the same commit. Turns that are being taken
 * now are skipped.
 */
export const expireTurns = oneByOne(function* (
  context: VerbContext,
  { olderThanMs, turns }: ExpireCall,
): Steps<readonly TurnRow[]> {
  const words = new Map<number, readonly NewSend[]>()
  for (const turn of turns) {
    const seq = rowSeq('t', context.tag, turn.id)
    if (seq !== null) words.set(seq, turn.words)
  }
  const overdue = yield* rows(
    `SELECT ${TURN_COLUMNS} FROM turns WHERE (${UNREAD.join(' OR ')}) AND ${OVERDUE} AND seq @any($2) ORDER BY seq @skip`,
    [context.now - olderThanMs, [...words.keys()]],
  )
  const moved: TurnRow[] = []
  for (const row of overdue) {
    const turn = turnRow(context.tag, row)
    moved.push(yield* moveTurn(context, turn, { to: 'expired', reason: 'queue_expired' }))
  }
  yield* enqueueSends(
    context,
    moved.flatMap((turn) => words.get(turn.seq) ?? []),
  )
  return moved
})
