// The outbox rows of answers that are shown while they are written, as a crash or the end of a turn left them.
import {
  OPEN_TURN_STATES,
  type OutboundOp,
  type SendMove,
  type SendRow,
  type Store,
} from '../../contract/index.ts'
import { wordsIn } from '../../words/index.ts'
import type { Streams } from './streams.ts'

type Step = Omit<SendMove, 'lane' | 'token' | 'id'>

export function isPartialOp(op: OutboundOp | null): op is Extract<OutboundOp, { kind: 'text' }> {
  return op?.kind === 'text' && op.partial === true
}

/**
 * Returns the step that ends a beginning whose turn has ended: its text so far, marked as incomplete unless the agent
 * ended it there. Null: the turn goes on.
 */
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
  // The person who stopped the turn or took over has read the shown text. No further text follows it.
  const text = (turn?.reason === 'cancelled' ? written?.shown : written?.latest) || op.text
  return {
    to: 'queued',
    op: { ...op, text: turn?.state === 'answered' ? text : wordsIn().notices.incomplete({ text }) },
  }
}
