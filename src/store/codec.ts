// Converts database rows to contract rows, with the column lists that reading them needs.
import {
  type ApprovalRow,
  type ApprovalState,
  type Ask,
  type ClaimOffer,
  defined,
  formatAddress,
  type LedgerEntry,
  type OpenOutcome,
  type OutboundOp,
  type PairingRow,
  type ReasonCode,
  rowId,
  type SendCause,
  type SendRow,
  type SendState,
  type SessionRow,
  type TokenRow,
  type TokenUsage,
  type TurnBody,
  type TurnRow,
  type TurnState,
  withoutNulls,
} from '../contract/index.ts'
import { type Row, text, textOrNull, whole, wholeOrNull } from './statement.ts'

export const TURN_COLUMNS =
  'seq, integration, conversation, message_id, edit_version, thread, platform, source, agent, session, sender, ' +
  'state, reason, attempts, repeat, resume, body, received_at, updated_at, usage, late_at, takeover'

export function turnRow(tag: string, row: Row): TurnRow {
  const integration = text(row, 'integration')
  const conversation = text(row, 'conversation')
  const thread = textOrNull(row, 'thread')
  const body = textOrNull(row, 'body')
  const usage = parsedUsage(textOrNull(row, 'usage'))
  return {
    seq: whole(row, 'seq'),
    id: rowId('t', tag, whole(row, 'seq')),
    session: textOrNull(row, 'session'),
    agent: textOrNull(row, 'agent'),
    integration,
    platform: text(row, 'platform'),
    conversation,
    thread,
    address: formatAddress(addressOf(integration, conversation, thread)),
    source: text(row, 'source'),
    sender: text(row, 'sender'),
    messageId: text(row, 'message_id'),
    editVersion: whole(row, 'edit_version'),
    state: text(row, 'state') as TurnState,
    reason: textOrNull(row, 'reason') as ReasonCode | null,
    attempts: whole(row, 'attempts'),
    repeat: whole(row, 'repeat') === 1,
    resume: whole(row, 'resume') === 1,
    body: body === null ? null : (JSON.parse(body) as TurnBody),
    receivedAt: whole(row, 'received_at'),
    lateAt: wholeOrNull(row, 'late_at'),
    updatedAt: whole(row, 'updated_at'),
    ...defined({ takeover: textOrNull(row, 'takeover') ?? undefined }),
    ...withoutNulls({ usage }),
  }
}

export function parsedUsage(stored: string | null): TokenUsage | null {
  return stored === null ? null : (JSON.parse(stored) as TokenUsage)
}

export const SEND_COLUMNS =
  'seq, lane, integration, platform, conversation, thread, agent, session, turn, approval, cause, op, state, ' +
  'reason, detail, attempts, platform_ids, grp, part, due_at, created_at, updated_at, claim, receipt, place, takeover, ' +
  'open_outcome, yields_at'

export function sendRow(tag: string, row: Row): SendRow {
  const integration = text(row, 'integration')
  const conversation = text(row, 'conversation')
  const thread = textOrNull(row, 'thread')
  const op = textOrNull(row, 'op')
  const platformIds = textOrNull(row, 'platform_ids')
  const claim = textOrNull(row, 'claim')
  const place = wholeOrNull(row, 'place')
  const open = textOrNull(row, 'open_outcome')
  return {
    seq: whole(row, 'seq'),
    id: rowId('o', tag, whole(row, 'seq')),
    lane: text(row, 'lane'),
    to: formatAddress(addressOf(integration, conversation, thread)),
    integration,
    platform: text(row, 'platform'),
    conversation,
    thread,
    agent: textOrNull(row, 'agent'),
    session: textOrNull(row, 'session'),
    turn: textOrNull(row, 'turn'),
    approval: textOrNull(row, 'approval'),
    cause: text(row, 'cause') as SendCause,
    op: op === null ? null : (JSON.parse(op) as OutboundOp),
    state: text(row, 'state') as SendState,
    reason: textOrNull(row, 'reason') as ReasonCode | null,
    detail: textOrNull(row, 'detail'),
    attempts: whole(row, 'attempts'),
    platformIds: platformIds === null ? [] : (JSON.parse(platformIds) as string[]),
    group: textOrNull(row, 'grp'),
    part: whole(row, 'part'),
    dueAt: whole(row, 'due_at'),
    createdAt: whole(row, 'created_at'),
    updatedAt: whole(row, 'updated_at'),
    ...(claim === null ? {} : { claim: JSON.parse(claim) as ClaimOffer }),
    receipt: textOrNull(row, 'receipt') as SendRow['receipt'],
    ...withoutNulls({ place }),
    ...defined({ takeover: textOrNull(row, 'takeover') ?? undefined }),
    ...(open === null ? {} : { open: JSON.parse(open) as OpenOutcome }),
    ...withoutNulls({ yieldsAt: wholeOrNull(row, 'yields_at') }),
  }
}

export const APPROVAL_COLUMNS =
  'seq, id, host_id, agent, session, turn, ask, input_hash, state, behavior, cause, decided_by, decided_via, ' +
  'decided_at, created_at, expires_at, asker'

export function approvalRow(row: Row): ApprovalRow {
  return {
    seq: whole(row, 'seq'),
    id: text(row, 'id'),
    hostId: textOrNull(row, 'host_id'),
    agent: text(row, 'agent'),
    session: text(row, 'session'),
    turn: textOrNull(row, 'turn'),
    ask: JSON.parse(text(row, 'ask')) as Ask,
    inputHash: text(row, 'input_hash'),
    expiresAt: whole(row, 'expires_at'),
    state: text(row, 'state') as ApprovalState,
    behavior: textOrNull(row, 'behavior') as ApprovalRow['behavior'],
    cause: textOrNull(row, 'cause') as ApprovalRow['cause'],
    decidedBy: textOrNull(row, 'decided_by'),
    decidedVia: textOrNull(row, 'decided_via'),
    decidedAt: wholeOrNull(row, 'decided_at'),
    createdAt: whole(row, 'created_at'),
    asker: textOrNull(row, 'asker'),
  }
}

export function pairingRow(row: Row): PairingRow {
  return {
    code: text(row, 'code'),
    integration: text(row, 'integration'),
    sender: text(row, 'sender'),
    senderName: textOrNull(row, 'sender_name'),
    conversation: text(row, 'conversation'),
    replies: whole(row, 'replies'),
    createdAt: whole(row, 'created_at'),
    expiresAt: whole(row, 'expires_at'),
  }
}

export function tokenRow(row: Row): TokenRow {
  return {
    id: text(row, 'id'),
    hash: text(row, 'hash'),
    kind: text(row, 'kind'),
    scope: JSON.parse(text(row, 'scope')) as Record<string, string>,
    createdAt: whole(row, 'created_at'),
    expiresAt: wholeOrNull(row, 'expires_at'),
    revokedAt: wholeOrNull(row, 'revoked_at'),
    lastUsedAt: wholeOrNull(row, 'last_used_at'),
  }
}

export function sessionRow(row: Row): SessionRow {
  return {
    id: text(row, 'id'),
    key: text(row, 'session_key'),
    agent: text(row, 'agent'),
    address: text(row, 'address'),
    generation: whole(row, 'generation'),
    createdAt: whole(row, 'created_at'),
  }
}

/** `chain` is passed in if the row was read without its chain's name. */
export function ledgerEntry(row: Row, chain = text(row, 'chain_name')): LedgerEntry {
  return {
    seq: whole(row, 'seq'),
    chain,
    n: whole(row, 'n'),
    at: whole(row, 'at'),
    kind: text(row, 'kind'),
    ref: text(row, 'ref'),
    integration: text(row, 'integration'),
    from: text(row, 'from_state'),
    to: text(row, 'to_state'),
    reason: text(row, 'reason'),
    count: whole(row, 'count'),
    digest: text(row, 'digest'),
    detail: text(row, 'detail'),
    mac: text(row, 'mac'),
  }
}

function addressOf(integration: string, conversation: string, thread: string | null) {
  return thread === null ? { integration, conversation } : { integration, conversation, thread }
}
