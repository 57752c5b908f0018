// An answer that is shown while it is written has one outbox row. The row is created with the beginning, and is
// `sending` while the beginning is shown and unfinished. The commit of the final text finishes it. A beginning that was
// never shown becomes the whole answer.
import {
  type Enqueued,
  type NewSend,
  type OutboundOp,
  type ReasonCode,
  rowId,
  type SendState,
  streamKey,
} from '../../../contract/index.ts'
import { digestOf } from '../../mac.ts'
import { firstRow, run, type Steps, text, textOrNull, whole } from '../../statement.ts'
import { hint, recordMove, type VerbContext } from '../../verb-context.ts'

/**
 * Replaces the beginning with the final text. Null: no beginning is on its way, so the text is a message of its own.
 * `idem`: returns the key as the column stores it.
 */
export function* finishStream(
  context: VerbContext,
  send: NewSend,
  idem: (key: string) => string,
): Steps<Enqueued | null> {
  if (!send.finishes || send.turn === null) return null
  const row = yield* firstRow(
    `SELECT seq, lane, integration, state, reason, op, platform_ids FROM outbox WHERE idem = $1 AND idem IS NOT NULL @lock`,
    [idem(streamKey(send.turn))],
  )
  if (!row) return null
  const from = text(row, 'state') as SendState
  if ((from !== 'queued' && from !== 'sending') || !isPartial(textOrNull(row, 'op'))) return null
  const isShown = (textOrNull(row, 'platform_ids') ?? '[]') !== '[]'
  // A row that is being posted is queued again by its sender, once its message id is known.
  const to = from === 'sending' && isShown ? 'queued' : from
  const seq = whole(row, 'seq')
  // Whether its beginning arrived may still be open.
  const reason = from === 'sending' ? (textOrNull(row, 'reason') as ReasonCode | null) : null
  const op = JSON.stringify(send.op)
  const key = send.idempotencyKey === undefined ? null : idem(send.idempotencyKey)
  yield* run(
    `UPDATE outbox SET op = $2, state = $3, reason = $6, due_at = $4, updated_at = $4, idem = COALESCE($5, idem), attempts = 0
     WHERE seq = $1`,
    [seq, op, to, context.now, key, to === from ? reason : null],
  )
  const id = rowId('o', context.tag, seq)
  const integration = text(row, 'integration')
  recordMove(context, {
    ...{ kind: 'send', id, integration, from, fromReason: reason, to, reason: to === from ? reason : null },
    digest: digestOf(op),
  })
  hint(context, { kind: 'sends', lane: text(row, 'lane'), scope: integration })
  return { id, seq, state: to, repeated: false }
}

/** Whether the stored op is the beginning of an answer. */
export function isPartial(op: string | null): boolean {
  const parsed = op === null ? null : (JSON.parse(op) as OutboundOp)
  return parsed?.kind === 'text' && parsed.partial === true
}
