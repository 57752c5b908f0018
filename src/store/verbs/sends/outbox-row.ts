// A new row of the outbox: its columns, its ledger entry, and the idempotency key that identifies it.
import {
  type Enqueued,
  type NewSend,
  type ReasonCode,
  rowId,
  type SendState,
  sendLane,
  withoutNulls,
} from '../../../contract/index.ts'
import { firstRow, type InsertShape, type Steps, text, type Value, whole } from '../../statement.ts'
import { count, countedReason, hint, type VerbContext } from '../../verb-context.ts'

export const OUTBOX_INSERT: InsertShape = {
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
    'reason',
    'detail',
    'platform_ids',
    'claim',
    'grp',
    'part',
    'takeover',
    'idem',
    'due_at',
    'created_at',
    'updated_at',
  ],
  numbers: ['seq', 'part', 'due_at', 'created_at', 'updated_at'],
  conflict: 'ON CONFLICT (idem) WHERE idem IS NOT NULL DO NOTHING',
  identity: 'seq',
}

export type Birth =
  | { readonly state: 'queued' }
  | { readonly state: 'deduplicated'; readonly first: string; readonly platformIds: string }
  /** A person holds the place. */
  | { readonly state: 'failed'; readonly detail: string }

export const QUEUED: Birth = { state: 'queued' }

export function outboxValues(
  context: VerbContext,
  send: NewSend,
  { seq, op, birth }: { readonly seq: number; readonly op: string; readonly birth: Birth },
): Value[] {
  const { now } = context
  const twin = birth.state === 'deduplicated' ? birth : null
  return [
    seq,
    sendLane(send),
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
    birth.state,
    reasonOf(birth),
    birth.state === 'failed' ? birth.detail : (twin?.first ?? null),
    twin?.platformIds ?? null,
    send.claim && !twin ? JSON.stringify(send.claim) : null,
    send.group ?? null,
    send.part ?? 0,
    send.takeover ?? null,
    idempotencyOf(send),
    send.dueAt ?? now,
    now,
    now,
  ]
}

function reasonOf({ state }: Birth): ReasonCode | null {
  if (state === 'failed') return 'held'
  return state === 'deduplicated' ? 'duplicate' : null
}

export function recordBirth(
  context: VerbContext,
  send: NewSend,
  { id, digest, birth }: { readonly id: string; readonly digest: string; readonly birth: Birth },
): void {
  const { integration } = send.to
  const reason = reasonOf(birth) ?? ''
  context.entries.push({
    kind: 'send',
    ref: id,
    integration,
    from: '',
    to: birth.state,
    reason,
    count: 1,
    digest,
    detail: JSON.stringify({
      cause: send.cause,
      conversation: send.to.conversation,
      ...withoutNulls({ agent: send.agent, turn: send.turn }),
      ...(birth.state === 'deduplicated' ? { first: birth.first } : {}),
    }),
  })
  const counted = countedReason(birth.state, reason)
  count(context, { integration, name: `send:${birth.state}`, reason: counted, delta: 1 })
  if (birth.state === 'queued') hint(context, { kind: 'sends', lane: sendLane(send), scope: integration })
}

/** A key belongs to its agent. Another agent's equal key is a different key. */
function idempotencyOf(send: NewSend): string | null {
  return send.idempotencyKey === undefined ? null : idempotencyKeyOf(send.agent, send.idempotencyKey)
}

export function idempotencyKeyOf(agent: string | null, key: string): string {
  return `${encodeURIComponent(agent ?? '')}:${key}`
}

/** Returns the earlier rows of exactly these sends; empty unless all are known by their keys. */
export function* enqueuedBefore(context: VerbContext, sends: readonly NewSend[]): Steps<readonly Enqueued[]> {
  const found: Enqueued[] = []
  for (const send of sends) {
    const known = yield* knownKey(context, send)
    if (!known) return []
    found.push(known)
  }
  return found
}

/** Another send with the same key was first. */
export function* firstOfKey(context: VerbContext, send: NewSend): Steps<Enqueued> {
  const known = yield* knownKey(context, send)
  if (!known) throw new Error('an outbox row was neither written nor found')
  return known
}

/** Returns the earlier row of the send's idempotency key; null: none. */
export function* knownKey(context: VerbContext, send: NewSend): Steps<Enqueued | null> {
  if (send.idempotencyKey === undefined) return null
  const row = yield* firstRow('SELECT seq, state FROM outbox WHERE idem = $1 AND idem IS NOT NULL', [
    idempotencyOf(send),
  ])
  if (!row) return null
  const seq = whole(row, 'seq')
  return {
    id: rowId('o', context.tag, seq),
    seq,
    state: text(row, 'state') as SendState,
    repeated: true,
  }
}
