// An answer that is shown while it is written has one outbox row: born with its beginning, `sending` while it is shown and
// not finished, and finished by the final text in the commit of that. A beginning that was never shown becomes the whole.
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

/** Null: nothing of it is on its way to be shown, so it is a message of its own. `idem`: as the column holds it. */
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
  // One that is just being posted is queued again by whoever posts it, once it is known where it stands.
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

/** Whether the op, as it is stored, is the beginning of an answer. */
export function isPartial(op: string | null): boolean {
  const parsed = op === null ? null : (JSON.parse(op) as OutboundOp)
  return parsed?.kind === 'text' && parsed.partial === true
}
