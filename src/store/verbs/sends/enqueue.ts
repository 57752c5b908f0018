// enqueue: new rows in the outbox. A repeated idempotency key of the same agent returns the first row. Equal content
// that is still on its way also returns the first row. Equal content that was just confirmed creates a row in state
// `deduplicated`.
import { type Enqueued, type NewSend, rowId } from '../../../contract/index.ts'
import { digestOf } from '../../mac.ts'
import { insert, reserve, type Steps, sideBySide, type Value } from '../../statement.ts'
import { divide, type Verb, type VerbContext } from '../../verb-context.ts'
import { type HeldBy, heldError, sendsUnderHold } from '../receive/takeover-guard.ts'
import { writeNotification } from './notifications.ts'
import {
  firstOfKey,
  idempotencyKeyOf,
  knownKey,
  OUTBOX_INSERT,
  outboxValues,
  QUEUED,
  recordBirth,
} from './outbox-row.ts'
import { keyLeadsTo, prepareKeys, twinOf } from './send-keys.ts'
import { finishStream } from './streams.ts'

export const enqueue: Verb<readonly NewSend[], readonly Enqueued[]> = function* (context, calls) {
  return divide(yield* enqueueSends(context, calls.flat()), calls)
}

/** Facts read before sends are written: the holders of their places, and positions where they are reserved ahead. */
export interface PreparedSends {
  readonly held: ReadonlyMap<NewSend, HeldBy>
  /** Used up in order. */
  readonly seqs: number[]
  /** No query looks for these sends before the end of the commit. */
  readonly unseen?: true
}

/**
 * Reads both in one round trip. An unused position is only a gap. Where queries cost no round trip, none is reserved
 * ahead.
 */
export function* prepareSends(context: VerbContext, sends: readonly NewSend[]): Steps<PreparedSends> {
  const ahead = context.memory.lanes ? 0 : sends.length
  const [held, seqs] = yield* sideBySide(sendsUnderHold(context, sends), reserve('outbox', ahead))
  return { held, seqs: [...seqs] }
}

/** Takes the remaining prepared positions, and reserves more if needed. */
function* positions(prepared: PreparedSends, count: number): Steps<readonly number[]> {
  const ready = prepared.seqs.splice(0, count)
  return ready.length === count ? ready : [...ready, ...(yield* reserve('outbox', count - ready.length))]
}

/**
 * Enqueues in order and returns one result each. Sends without a content key share their statements. Throws `held`
 * where a person holds the place of the agent.
 */
export function* enqueueSends(context: VerbContext, sends: readonly NewSend[]): Steps<readonly Enqueued[]> {
  const prepared = yield* prepareSends(context, sends)
  for (const [send, by] of prepared.held) throw heldError(send.to, by)
  return yield* enqueueAllowed(context, sends, prepared)
}

/**
 * Enqueues messages with the end of a turn. A held answer of the agent is refused, and the end with it. Other held
 * messages about the turn are stored as failed. `prepared` may cover more sends than these.
 */
export function* enqueueWithEnd(
  context: VerbContext,
  sends: readonly NewSend[],
  prepared: PreparedSends,
): Steps<readonly Enqueued[]> {
  const held = sends.filter((send) => prepared.held.has(send))
  if (held.length === 0) return yield* enqueueAllowed(context, sends, prepared)
  for (const send of held)
    if (send.cause === 'reply') throw heldError(send.to, prepared.held.get(send) as HeldBy)
  const results: Enqueued[] = []
  for (const send of sends) {
    const by = prepared.held.get(send)
    if (by) results.push(yield* enqueueFailed(context, send, by))
    else results.push(...(yield* enqueueAllowed(context, [send], prepared)))
  }
  return results
}

function* enqueueFailed(context: VerbContext, send: NewSend, by: HeldBy): Steps<Enqueued> {
  const known = yield* knownKey(context, send)
  if (known) return known
  const [seq = 0] = yield* reserve('outbox', 1)
  const op = JSON.stringify(send.op)
  const birth = { state: 'failed', detail: `held by ${by.name}` } as const
  const [written] = yield* insert(OUTBOX_INSERT, [outboxValues(context, send, { seq, op, birth })])
  if (!written) return yield* firstOfKey(context, send)
  const id = rowId('o', context.tag, seq)
  recordBirth(context, send, { id, digest: digestOf(op), birth })
  yield* logAttempt(context, send, seq, 'queued')
  return { id, seq, state: 'failed', repeated: false }
}

function* enqueueAllowed(
  context: VerbContext,
  sends: readonly NewSend[],
  prepared: PreparedSends,
): Steps<readonly Enqueued[]> {
  const keys = sends.flatMap((send) => (send.dedupKey === undefined ? [] : [send.dedupKey]))
  if (keys.length === 0) return yield* enqueuePlain(context, sends, prepared)
  yield* prepareKeys(context, keys)
  // Equal content needs to find the row of the previous one.
  const { unseen: _, ...seen } = prepared
  const results: Enqueued[] = []
  for (const send of sends) {
    if (send.dedupKey === undefined) results.push(...(yield* enqueuePlain(context, [send], seen)))
    else results.push(yield* enqueueKeyed(context, send, send.dedupKey, seen))
  }
  return results
}

function* enqueuePlain(
  context: VerbContext,
  sends: readonly NewSend[],
  prepared: PreparedSends,
): Steps<readonly Enqueued[]> {
  if (sends.length === 0) return []
  // A reaction or a notice may come before the finishing text.
  const at = sends.findIndex((send) => send.finishes)
  const last = sends[at]
  const finished = last
    ? yield* finishStream(context, last, (key) => idempotencyKeyOf(last.agent, key))
    : null
  if (!finished) return yield* enqueueNew(context, sends, prepared)
  const before = yield* enqueuePlain(context, sends.slice(0, at), prepared)
  return [...before, finished, ...(yield* enqueuePlain(context, sends.slice(at + 1), prepared))]
}

function* enqueueNew(
  context: VerbContext,
  sends: readonly NewSend[],
  prepared: PreparedSends,
): Steps<readonly Enqueued[]> {
  const seqs = yield* positions(prepared, sends.length)
  const digests: string[] = []
  const values = sends.map((send, at) => {
    const op = JSON.stringify(send.op)
    digests.push(digestOf(op))
    return outboxValues(context, send, { seq: seqs[at] as number, op, birth: QUEUED })
  })
  // Without a key, none of them can be a repeat.
  const isBorn =
    prepared.unseen && !context.memory.lanes && sends.every((send) => send.idempotencyKey === undefined)
  if (isBorn)
    for (const [at, row] of values.entries())
      context.born.sends.set(seqs[at] as number, { values: row, attempts: 0 })
  const written = isBorn ? null : yield* insertByKey(values)
  const isWritten = (at: number) => !written || written[at] === true
  // All are recorded before any other query. A take within this commit records its move after that.
  const ids = seqs.map((seq) => rowId('o', context.tag, seq))
  for (const [at, send] of sends.entries())
    if (isWritten(at))
      recordBirth(context, send, { id: ids[at] as string, digest: digests[at] ?? '', birth: QUEUED })
  const results: Enqueued[] = []
  for (const [at, send] of sends.entries()) {
    if (isWritten(at)) {
      const seq = seqs[at] as number
      yield* logAttempt(context, send, seq, 'queued')
      results.push({ id: ids[at] as string, seq, state: 'queued', repeated: false })
    } else results.push(yield* firstOfKey(context, send))
  }
  return results
}

const IDEM = OUTBOX_INSERT.columns.indexOf('idem')

/**
 * Keys go in one order on every node. Otherwise nodes that notify the same people at once would wait for each other's
 * rows crosswise, until the database aborts one of them. Of equal keys, the first one given still counts.
 */
function* insertByKey(values: readonly Value[][]): Steps<readonly boolean[]> {
  const keyOf = (at: number) => String(values[at]?.[IDEM] ?? '')
  const order = [...values.keys()].sort((one, other) => {
    const [left, right] = [keyOf(one), keyOf(other)]
    return left < right ? -1 : left > right ? 1 : 0
  })
  const inOrder = yield* insert(
    OUTBOX_INSERT,
    order.map((at) => values[at] as Value[]),
  )
  const written: boolean[] = []
  for (const [nth, at] of order.entries()) written[at] = inOrder[nth] ?? false
  return written
}

/** Checks the idempotency key first, then the content. */
function* enqueueKeyed(
  context: VerbContext,
  send: NewSend,
  key: string,
  prepared: PreparedSends,
): Steps<Enqueued> {
  const known = yield* knownKey(context, send)
  if (known) return known
  const twin = yield* twinOf(context, key)
  if (twin?.is === 'open') {
    yield* logAttempt(context, send, twin.seq, 'queued')
    return { id: twin.id, seq: twin.seq, state: twin.state, repeated: true }
  }
  if (!twin) {
    const [fresh] = yield* enqueuePlain(context, [send], prepared)
    if (!fresh) throw new Error('a send was not enqueued')
    if (!fresh.repeated) yield* keyLeadsTo(context, key, fresh.seq)
    return fresh
  }
  const [seq = 0] = yield* positions(prepared, 1)
  const op = JSON.stringify(send.op)
  const birth = { state: 'deduplicated', first: twin.id, platformIds: twin.platformIds } as const
  const [written] = yield* insert(OUTBOX_INSERT, [outboxValues(context, send, { seq, op, birth })])
  if (!written) return yield* firstOfKey(context, send)
  const id = rowId('o', context.tag, seq)
  recordBirth(context, send, { id, digest: digestOf(op), birth })
  yield* logAttempt(context, send, seq, 'deduplicated')
  return { id, seq, state: 'deduplicated', repeated: false, first: twin.id }
}

function* logAttempt(
  context: VerbContext,
  send: NewSend,
  seq: number,
  status: 'queued' | 'deduplicated',
): Steps<void> {
  if (!send.notification) return
  yield* writeNotification(context, { ...send.notification, status, error: null, send: seq })
}
