// enqueue: new rows in the outbox. The same idempotency key (of the same agent) again returns the first row.
import { conversationLane, type Enqueued, type NewSend, rowId, type SendState } from '../../contract/index.ts'
import { digestOf } from '../mac.ts'
import {
  firstRow,
  type InsertShape,
  insert,
  reserve,
  type Steps,
  text,
  type Value,
  whole,
} from '../statement.ts'
import { count, divide, hint, type Verb, type VerbContext } from '../verb-context.ts'

const OUTBOX_INSERT: InsertShape = {
  table: 'outbox',
  columns: [
    'seq',
    'lane',
    'integration',
    'platform',
    'conversation',
    'thread',
    'agent',
    'session',
    'turn',
    'approval',
    'cause',
    'op',
    'state',
    'grp',
    'part',
    'idem',
    'due_at',
    'created_at',
    'updated_at',
  ],
  conflict: 'ON CONFLICT (idem) WHERE idem IS NOT NULL DO NOTHING',
  identity: 'seq',
}

export const enqueue: Verb<readonly NewSend[], readonly Enqueued[]> = function* (context, calls) {
  return divide(yield* enqueueSends(context, calls.flat()), calls)
}

/** In order; one result each. */
export function* enqueueSends(context: VerbContext, sends: readonly NewSend[]): Steps<readonly Enqueued[]> {
  if (sends.length === 0) return []
  const seqs = yield* reserve('outbox', sends.length)
  const digests: string[] = []
  const values = sends.map((send, at) => {
    const op = JSON.stringify(send.op)
    digests.push(digestOf(op))
    return outboxValues(context, send, seqs[at] as number, op)
  })
  const written = yield* insert(OUTBOX_INSERT, values)
  const results: Enqueued[] = []
  for (const [at, send] of sends.entries()) {
    if (written[at]) {
      const seq = seqs[at] as number
      const id = rowId('o', context.tag, seq)
      recordBirth(context, send, id, digests[at] ?? '')
      results.push({ id, seq, state: 'queued', repeated: false })
    } else results.push(yield* firstOfKey(context, send))
  }
  return results
}

function outboxValues(context: VerbContext, send: NewSend, seq: number, op: string): Value[] {
  const { now } = context
  return [
    seq,
    conversationLane(send.to),
    send.to.integration,
    send.platform,
    send.to.conversation,
    send.to.thread ?? null,
    send.agent,
    send.session,
    send.turn,
    send.approval ?? null,
    send.cause,
    op,
    'queued',
    send.group ?? null,
    send.part ?? 0,
    idempotencyOf(send),
    send.dueAt ?? now,
    now,
    now,
  ]
}

function recordBirth(context: VerbContext, send: NewSend, id: string, digest: string): void {
  const { integration } = send.to
  context.entries.push({
    kind: 'send',
    ref: id,
    integration,
    from: '',
    to: 'queued',
    reason: '',
    count: 1,
    digest,
    detail: JSON.stringify({
      cause: send.cause,
      conversation: send.to.conversation,
      ...(send.agent === null ? {} : { agent: send.agent }),
      ...(send.turn === null ? {} : { turn: send.turn }),
    }),
  })
  count(context, { integration, name: 'send:queued', reason: '', delta: 1 })
  hint(context, { kind: 'sends', lane: conversationLane(send.to), scope: integration })
}

/** The key is the agent's own: another agent's equal key is another key. */
function idempotencyOf(send: NewSend): string | null {
  return send.idempotencyKey === undefined
    ? null
    : `${encodeURIComponent(send.agent ?? '')}:${send.idempotencyKey}`
}

function* firstOfKey(context: VerbContext, send: NewSend): Steps<Enqueued> {
  const row = yield* firstRow('SELECT seq, state FROM outbox WHERE idem = $1 AND idem IS NOT NULL', [
    idempotencyOf(send),
  ])
  if (!row) throw new Error('an outbox row was neither written nor found')
  const seq = whole(row, 'seq')
  return {
    id: rowId('o', context.tag, seq),
    seq,
    state: text(row, 'state') as SendState,
    repeated: true,
  }
}
