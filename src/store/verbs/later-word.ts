// A platform's later word on a send, in the commit of the event that brought it: a bounce makes it failed, for good; that it
// arrived or was read is its receipt. Nothing but the row is locked: no other verb moves what was sent.
import { type Effect, rowSeq, type SendRow, sendMayMove } from '../../contract/index.ts'
import { SEND_COLUMNS, sendRow } from '../codec.ts'
import { firstRow, rows, run, type Steps } from '../statement.ts'
import { hint, oneByOne, recordFact, type VerbContext } from '../verb-context.ts'
import { enqueueSends } from './enqueue.ts'
import { writeSend } from './move-sends.ts'

type LaterWord = Extract<Effect, { kind: 'later_word' }>

/** False: no such send of this integration, or nothing that the word could change. */
export function* hearLaterWord(context: VerbContext, integration: string, word: LaterWord): Steps<boolean> {
  const seq = rowSeq('o', context.tag, word.send)
  if (seq === null) return false
  const row = yield* firstRow(
    `SELECT ${SEND_COLUMNS} FROM outbox WHERE seq = $1 AND integration = $2 @lock`,
    [seq, integration],
  )
  if (!row) return false
  const send = sendRow(context.tag, row)
  return word.outcome === 'failed'
    ? yield* failLater(context, send, word)
    : yield* noteReceipt(context, send, word.outcome)
}

/** What is still on its way, or to be sent again, was not what bounced. */
function* failLater(context: VerbContext, send: SendRow, word: LaterWord): Steps<boolean> {
  if (send.state === 'queued' || send.state === 'failed' || !sendMayMove(send.state, 'failed')) return false
  const detail = word.detail === null ? {} : { detail: word.detail }
  yield* writeSend(context, send, { to: 'failed', reason: 'platform_rejected', ...detail })
  if (send.agent !== null && send.session !== null)
    yield* run('UPDATE outbox SET untold = 1 WHERE seq = $1', [send.seq])
  if (word.words.length > 0) yield* enqueueSends(context, word.words)
  return true
}

/** Read includes delivered, and is never taken back. */
function* noteReceipt(context: VerbContext, send: SendRow, receipt: 'delivered' | 'read'): Steps<boolean> {
  if (send.state === 'failed' || send.receipt === 'read' || send.receipt === receipt) return false
  yield* run('UPDATE outbox SET receipt = $2 WHERE seq = $1', [send.seq, receipt])
  recordFact(context, { kind: 'receipt', ref: send.id, integration: send.integration, to: receipt }, {})
  hint(context, { kind: 'sends', lane: send.lane, scope: send.integration, settled: true })
  return true
}

const MOST_TOLD = 20

/** Sends of a session that failed after they were confirmed, and of which its agent has not heard. Oldest first. */
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
