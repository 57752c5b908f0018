// The outbox rows of answers that are shown while they are written, where a crash or the end of a turn left them.
import {
  isStreamLane,
  OPEN_TURN_STATES,
  type OutboundOp,
  type PlatformAdapter,
  type SendMove,
  type SendRequest,
  type SendRow,
  type Store,
} from '../../contract/index.ts'
import { incompleteText } from '../notices.ts'
import type { Streams } from './streams.ts'

type Step = Omit<SendMove, 'lane' | 'token' | 'id'>

export function isPartialOp(op: OutboundOp | null): op is Extract<OutboundOp, { kind: 'text' }> {
  return op?.kind === 'text' && op.partial === true
}

/**
 * What becomes of a row of a stream that is found in `sending`. `wait`: its beginning is shown, and its turn goes on.
 * `unknown`: it may stand there, and nobody can tell. Null: it is no row of a stream.
 */
export async function settleStream(
  row: SendRow,
  request: SendRequest,
  deps: {
    readonly adapter: PlatformAdapter
    readonly store: Pick<Store, 'turn'>
    readonly written: Streams['written']
  },
): Promise<Step | 'wait' | 'unknown' | null> {
  if (!isStreamLane(row.lane)) return null
  const isShown = row.platformIds.length > 0
  if (isPartialOp(row.op) && isShown) return (await endOf(row, deps)) ?? 'wait'
  if (isShown) return { to: 'queued' }
  const answer = await deps.adapter.reconcile?.(request).catch(() => null)
  if (answer?.outcome === 'sent') return { to: 'sending', platformIds: answer.receipt.platformIds }
  if (answer?.outcome === 'absent') return { to: 'queued' }
  return isPartialOp(row.op) ? { to: 'unknown', reason: 'unconfirmed', detail: NOT_KNOWN } : 'unknown'
}

const NOT_KNOWN = 'the beginning of an answer may stand there'

/** How a beginning ends whose turn has: as far as it came, marked unless the agent ended it so. Null: the turn goes on. */
export async function endOf(
  row: SendRow,
  deps: {
    readonly store: Pick<Store, 'turn'>
    readonly written: Streams['written']
  },
): Promise<Step | null> {
  const turn = row.turn === null ? null : await deps.store.turn(row.turn)
  if (turn && OPEN_TURN_STATES.some((state) => state === turn.state)) return null
  if (!isPartialOp(row.op)) return null
  const { partial: _begun, ...op } = row.op
  const written = turn ? deps.written(turn.id) : undefined
  // Whoever stopped it, or took the chat over, has read what was shown: nothing comes after that.
  const text = (turn?.reason === 'cancelled' ? written?.shown : written?.latest) || op.text
  return { to: 'queued', op: { ...op, text: turn?.state === 'answered' ? text : incompleteText(text) } }
}
