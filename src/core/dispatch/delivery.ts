// A turn's row as the connector sees it.
import {
  type Attachment,
  type Delivery,
  defined,
  MCP_SERVERS_REF,
  SCHEDULE_PLACE,
  type TurnRow,
  withoutNulls,
} from '../../contract/index.ts'

export function toDelivery(row: TurnRow, agent: string, session: string): Delivery {
  const body = row.body
  const name = body?.senderName
  return {
    turn: row.id,
    session,
    agent,
    chatId: row.address,
    integration: row.integration,
    platform: row.platform,
    source: row.source,
    sender: name === undefined ? { id: row.sender } : { id: row.sender, name },
    messageId: row.messageId,
    ...withoutNulls({ thread: row.thread }),
    text: body?.text ?? '',
    meta: channelMeta(row),
    attachments: body?.attachments ?? [],
    ...(body?.replyTo ? { replyTo: body.replyTo } : {}),
    receivedAt: row.receivedAt,
    attempt: row.attempts,
    repeat: row.repeat,
    continuation: row.resume,
  }
}

/** Whether the origin of this turn can take no answer. */
export function takesNoAnswer(
  { integration }: TurnRow,
  { isOneWay }: { readonly isOneWay: (integration: string) => boolean },
): boolean {
  return integration === SCHEDULE_PLACE || isOneWay(integration)
}

/** The meta of every message, where known. All values are strings. Keys from the platform come first. */
function channelMeta(row: TurnRow): Record<string, string> {
  const body = row.body
  const { [MCP_SERVERS_REF]: _kept, ...meta } = body?.meta ?? {}
  return {
    ...meta,
    chat_id: row.address,
    message_id: row.messageId,
    user: body?.senderName ?? row.sender,
    user_id: row.sender,
    ts: new Date(row.lateAt ?? row.receivedAt).toISOString(),
    ...(row.lateAt === null ? {} : { late: 'true' }),
    platform: row.platform,
    integration: row.integration,
    ...withoutNulls({ thread_id: row.thread }),
    ...(body?.replyTo ? { reply_to_message_id: body.replyTo.messageId } : {}),
    ...(row.repeat ? { redelivery: 'true' } : {}),
    ...(row.editVersion !== 0 ? { edited: 'true' } : {}),
    ...attachmentMeta(row),
  }
}

function attachmentMeta(row: TurnRow): Record<string, string> {
  const attachments = row.body?.attachments ?? []
  const first = attachments[0]
  if (!first) return {}
  return {
    attachment_count: String(attachments.length),
    // Lists all attachments if there are several. The fields below describe the first.
    ...(attachments.length > 1 ? { attachments: attachments.map(inWords).join('; ') } : {}),
    attachment_kind: first.kind,
    attachment_file_id: first.id,
    ...defined({ attachment_name: first.name, attachment_mime: first.mime }),
    ...(first.size === undefined ? {} : { attachment_size: String(first.size) }),
  }
}

/** `name (type, NKB)`. Separators are replaced, so that a name cannot look like the next entry. */
function inWords({ name, kind, mime, size }: Attachment): string {
  const shown = (name ?? kind).replace(/[<>[\]\r\n;]/g, '_')
  const kilobytes = size === undefined ? '' : `, ${(size / 1_024).toFixed(0)}KB`
  return `${shown} (${mime ?? kind}${kilobytes})`
}
