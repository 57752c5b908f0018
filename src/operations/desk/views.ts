// Rows as the desk shows them: the field names that scripts rely on, times in ISO 8601.
import {
  type ApprovalRow,
  type ApprovalView,
  defined,
  iso,
  isoOrNull,
  type NotificationRow,
  type NotificationView,
  opText,
  type PairingRow,
  type PairingView,
  type SendRow,
  type SendView,
  type TokenUsage,
  type TurnRow,
  type TurnView,
  type UsageView,
} from '../../contract/index.ts'

export function turnView(row: TurnRow): TurnView {
  return {
    id: row.id,
    session: row.session,
    agent: row.agent,
    integration: row.integration,
    source: row.source,
    address: row.address,
    sender: row.sender,
    state: row.state,
    reason: row.reason,
    attempts: row.attempts,
    received_at: iso(row.receivedAt),
    updated_at: iso(row.updatedAt),
    message_id: row.messageId,
    text: row.body?.text ?? null,
    late: row.lateAt !== null,
    ...defined({ sender_name: row.body?.senderName }),
    ...(row.usage ? { usage: usageView(row.usage) } : {}),
  }
}

function usageView({ input, output, cacheRead, cacheWrite, costMicros }: TokenUsage): UsageView {
  return {
    input_tokens: input,
    output_tokens: output,
    cache_read_tokens: cacheRead,
    cache_write_tokens: cacheWrite,
    ...(costMicros === undefined ? {} : { cost: costMicros / 1_000_000 }),
  }
}

export function sendView(row: SendRow): SendView {
  return {
    id: row.id,
    to: row.to,
    agent: row.agent,
    session: row.session,
    // What is under way now is on its way; what may have arrived already says so.
    state: row.state === 'sending' && row.reason !== 'outcome_open' ? 'queued' : row.state,
    // A try after one that failed is under way: that one's detail stands until this one has ended.
    reason:
      row.state === 'sending' && row.reason === null && row.detail !== null
        ? 'platform_unavailable'
        : row.reason,
    detail: row.detail,
    attempts: row.attempts,
    platform_ids: row.platformIds,
    created_at: iso(row.createdAt),
    updated_at: iso(row.updatedAt),
    cause: row.cause,
    turn: row.turn,
    text: row.op ? opText(row.op) : null,
    receipt: row.receipt,
  }
}

export function notificationView(row: NotificationRow): NotificationView {
  return {
    id: row.id,
    user: row.user,
    agent: row.agent,
    session: row.session,
    channel: row.channel,
    to: row.to,
    message: row.message,
    urgency: row.urgency,
    source: row.source,
    status: row.status,
    error: row.error,
    outbox_id: row.send,
    at: iso(row.at),
  }
}

export function approvalView(row: ApprovalRow): ApprovalView {
  return {
    id: row.id,
    seq: row.seq,
    agent: row.agent,
    session: row.session,
    turn: row.turn,
    tool_name: row.ask.toolName,
    description: row.ask.description,
    input: row.ask.input,
    input_hash: row.inputHash,
    state: row.state,
    behavior: row.behavior,
    cause: row.cause,
    decided_by: row.decidedBy,
    decided_via: row.decidedVia,
    decided_at: isoOrNull(row.decidedAt),
    created_at: iso(row.createdAt),
    expires_at: iso(row.expiresAt),
  }
}

export function pairingView(row: PairingRow): PairingView {
  return {
    code: row.code,
    integration: row.integration,
    sender: row.sender,
    sender_name: row.senderName,
    expires_at: iso(row.expiresAt),
  }
}
