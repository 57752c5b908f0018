// A platform's later report about a send, in the commit of the event that brought it. A bounce makes the send failed,
// for good. A report that it was sent, delivered or read is its receipt, which only moves forward. A receipt settles a
// send whose answer was lost. Only the row is locked: no other verb moves sent rows, and a later settlement finds it
// settled.
import {
  type Effect,
  type NewSend,
  rowSeq,
  SEND_RECEIPTS,
  type SendReceipt,
  type SendRow,
  sendMayMove,
  type Unnoticed,
  withoutNulls,
} from '../../../contract/index.ts'
import { SEND_COLUMNS, sendRow } from '../../codec.ts'
import { firstRow, rows, run, type Steps, whole, wholeOrNull } from '../../statement.ts'
import { hint, oneByOne, recordFact, type VerbContext } from '../../verb-context.ts'
import { offerClaim } from '../receive/claims.ts'
import { enqueueSends } from './enqueue.ts'
import { writeSend } from './move-sends.ts'

type LaterWord = Extract<Effect, { kind: 'later_word' }>

/** Applies a report. False: no such send of this integration, a send to someone else, or no change. */
export function* hearLaterWord(context: VerbContext, integration: string, word: LaterWord): Steps<boolean> {
  const seq = rowSeq('o', context.tag, word.send)
  if (seq === null) return false
  const row = yield* firstRow(
    `SELECT ${SEND_COLUMNS} FROM outbox WHERE seq = $1 AND integration = $2 @lock`,
    [seq, integration],
  )
  if (!row) return false
  const send = sendRow(context.tag, row)
  if (word.sentTo && !word.sentTo.includes(send.conversation.toLowerCase())) return false
  return word.outcome === 'failed'
    ? yield* failLater(context, send, word)
    : yield* noteReceipt(context, send, word.outcome, word.platformId)
}

/** A send that is still on its way, or will be sent again, is not the one that bounced. */
function* failLater(context: VerbContext, send: SendRow, word: LaterWord): Steps<boolean> {
  if (send.state === 'queued' || send.state === 'failed' || !sendMayMove(send.state, 'failed')) return false
  const detail = withoutNulls({ detail: word.detail })
  yield* writeSend(context, send, { to: 'failed', reason: 'platform_rejected', ...detail })
  if (send.agent !== null && send.session !== null)
    yield* run('UPDATE outbox SET untold = 1 WHERE seq = $1', [send.seq])
  if (word.words.length > 0) yield* enqueueSends(context, word.words)
  return true
}

/** Each receipt includes the earlier ones, and none is ever taken back. */
function* noteReceipt(
  context: VerbContext,
  send: SendRow,
  receipt: SendReceipt,
  platformId: string | undefined,
): Steps<boolean> {
  if (send.state === 'failed' || send.state === 'deduplicated') return false
  // The send was never attempted, so the report is about something else.
  if (send.state === 'queued' && send.attempts === 0) return false
  const settled = send.state !== 'sent' && (yield* settleByWord(context, send, platformId))
  const before = send.receipt === null ? -1 : SEND_RECEIPTS.indexOf(send.receipt)
  if (SEND_RECEIPTS.indexOf(receipt) <= before) return settled
  yield* run('UPDATE outbox SET receipt = $2 WHERE seq = $1', [send.seq, receipt])
  recordFact(context, { kind: 'receipt', ref: send.id, integration: send.integration, to: receipt }, {})
  hint(context, { kind: 'sends', lane: send.lane, scope: send.integration, settled: true })
  return true
}

/** The send's answer was lost or is still on its way. A shown beginning is not the whole answer and stays open. */
function* settleByWord(context: VerbContext, send: SendRow, platformId: string | undefined): Steps<boolean> {
  if (platformId === undefined || !sendMayMove(send.state, 'sent')) return false
  if (send.op?.kind === 'text' && send.op.partial) return false
  const platformIds = [platformId]
  yield* writeSend(context, send, { to: 'sent', reason: null, platformIds })
  if (send.claim) yield* offerClaim(context, send, send.claim, { platformIds })
  return true
}

const MOST_TOLD = 20

/** Returns undelivered sends of a session that its agent has not heard of, oldest first. */
export function* readUnreported(tag: string, session: string | null): Steps<readonly SendRow[]> {
  const found =
    session === null
      ? yield* rows(`SELECT ${SEND_COLUMNS} FROM outbox WHERE untold = 1 LIMIT 1`)
      : yield* rows(
          `SELECT ${SEND_COLUMNS} FROM outbox WHERE session = $1 AND untold = 1 ORDER BY seq LIMIT ${MOST_TOLD}`,
          [session],
        )
  return found.map((row) => sendRow(tag, row))
}

export const markReported = oneByOne(function* (context: VerbContext, ids: readonly string[]): Steps<void> {
  const seqs = ids.flatMap((id) => rowSeq('o', context.tag, id) ?? [])
  if (seqs.length > 0) yield* run('UPDATE outbox SET untold = 0 WHERE seq @any($1) AND untold = 1', [seqs])
})

/** Returns undelivered sends that the person has not heard of. */
export function* readUnnoticed(tag: string, afterSeq: number): Steps<readonly Unnoticed[]> {
  const found = yield* rows(
    `SELECT ${SEND_COLUMNS}, (SELECT max(n.noticed_at) FROM outbox n WHERE n.integration = outbox.integration
       AND n.conversation = outbox.conversation AND n.noticed_at > 0) AS told_at
     FROM outbox WHERE noticed_at = 0 AND seq > $1 ORDER BY seq LIMIT ${UNNOTICED_PAGE}`,
    [afterSeq],
  )
  return found.map((row) => ({ send: sendRow(tag, row), noticedAt: wholeOrNull(row, 'told_at') }))
}

const UNNOTICED_PAGE = 500

export interface NoticeCall {
  readonly ids: readonly string[]
  readonly notice: NewSend | null
}

export const noticeSends = oneByOne(function* (
  context: VerbContext,
  { ids, notice }: NoticeCall,
): Steps<boolean> {
  const seqs = ids.flatMap((id) => rowSeq('o', context.tag, id) ?? [])
  const open = yield* rows(
    'SELECT seq FROM outbox WHERE seq @any($1) AND noticed_at = 0 ORDER BY seq @lock',
    [seqs],
  )
  if (open.length === 0) return false
  yield* run('UPDATE outbox SET noticed_at = $2 WHERE seq @any($1)', [
    open.map((row) => whole(row, 'seq')),
    notice === null ? null : context.now,
  ])
  if (notice) yield* enqueueSends(context, [notice])
  return true
})
