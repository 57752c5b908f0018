// Turns a row of chat.db into an inbound event. Service rows, our own messages, and parts of other rows make none.
import { type Attachment, cutText, defined, type InboundEvent } from '../../contract/index.ts'
import { safeFileName, safeMime } from '../../kit/index.ts'
import { type PlistValue, readBinaryPlist } from './binary-plist.ts'
import { type FileRow, type MessageRow, MOST_SUMMARY_BYTES, MOST_TEXT } from './chat-db.ts'
import { addressOf, type IMessageConfig } from './config.ts'
import { textOfBody } from './typed-stream.ts'

/** Stands in a text in place of a file. */
const FILE_MARK = '\uFFFC'
const TAPBACKS: Readonly<Record<number, string>> = { 0: '❤️', 1: '👍', 2: '👎', 3: '😂', 4: '‼️', 5: '❓' }
const MOST_ID = 400
const MOST_EMOJI = 64

export interface RowContext {
  readonly config: Pick<IMessageConfig, 'allowSms' | 'own'>
  readonly filesOf: (rowid: number) => readonly FileRow[]
}

/** Returns the row's text without files. Null: it could not be read. */
export function textOfRow(row: Pick<MessageRow, 'text' | 'body' | 'summary'>): string | null {
  const edited = lastEdit(row.summary)
  const text = edited ?? row.text ?? textOfBody(row.body)
  if (text === null) return row.body === null ? '' : null
  return cutText(text.replaceAll(FILE_MARK, '').replaceAll('\0', '\uFFFD').trim(), MOST_TEXT, 'message')
}

/** A chat with one of our own addresses. */
export function isSelfChat({ chat }: MessageRow, { own }: Pick<IMessageConfig, 'own'>): boolean {
  return chat !== null && !chat.group && own.has(addressOf(chat.identifier))
}

/** Null: the row makes no event. It needs its `chat`. */
export function eventOf(row: MessageRow, context: RowContext): InboundEvent | null {
  const { chat, handle } = row
  const { config } = context
  if (chat === null) return unparsable(row, 'the chat of this message was never written')
  const self = isSelfChat(row, config)
  // A message to oneself has two rows on the Mac that sent it. From another device it has only the row from us.
  if (row.fromMe !== self || row.itemType !== 0) return null
  const sender = self ? addressOf(chat.identifier) : handle === null ? null : addressOf(handle)
  if (sender === null || sender === '') return unparsable(row, 'nobody is named as its sender')
  const base = {
    conversation: chat.identifier.slice(0, MOST_ID),
    chat: chat.group ? ('group' as const) : ('direct' as const),
    sender: { id: sender },
    at: row.at,
  }
  if (!isProven(row, config))
    return { kind: 'barred', ...base, messageId: row.guid, reason: 'sender_unproven', key: 'allow_sms' }
  if (row.associatedType >= 2000 && row.associatedType < 4000) return tapback(row, base)
  // A sticker or a vote belongs to another row.
  if (row.associatedType !== 0 && row.associatedType < 4100 && row.associatedGuid !== null) return null
  if (isUnsent(row)) return { kind: 'delete', ...base, messageId: row.guid }
  if (row.summary === null && row.summarySize > 0)
    return unparsable(row, `its edits are longer than ${MOST_SUMMARY_BYTES} bytes`)
  const text = textOfRow(row)
  if (text === null) return unparsable(row, 'attributedBody could not be read')
  const attachments = row.files ? context.filesOf(row.rowid).flatMap(attachmentOf) : []
  if (text === '' && attachments.length === 0) return null
  const version = editVersion(row)
  return {
    ...base,
    kind: version > 0 ? 'edit' : 'message',
    messageId: row.guid,
    ...(version > 0 ? { editVersion: version } : {}),
    text,
    mentioned: !chat.group,
    ...(row.replyTo === null ? {} : { replyTo: { messageId: row.replyTo.slice(0, MOST_ID) } }),
    ...(attachments.length === 0 ? {} : { attachments }),
    meta: { service: row.service, ...(chat.name === null ? {} : { chat_title: chat.name.slice(0, 256) }) },
  }
}

/** 0: never edited. If macOS gives no time, the number of edits distinguishes them. */
function editVersion({ editedAt, summary }: MessageRow): number {
  const edits = editsIn(summary).length
  return editedAt > 0 ? editedAt : edits > 1 ? edits - 1 : 0
}

interface Base {
  readonly conversation: string
  readonly chat: 'direct' | 'group'
  readonly sender: { readonly id: string }
  readonly at: number
}

function tapback(row: MessageRow, base: Base): InboundEvent {
  const removed = row.associatedType >= 3000
  const given = row.associatedEmoji?.slice(0, MOST_EMOJI)
  const emoji = removed ? '' : (given ?? TAPBACKS[row.associatedType % 1000] ?? '•')
  // `p:0/GUID`, `bp:GUID`
  const on = (row.associatedGuid ?? '').replace(/^(p:\d+\/|bp:)/, '').slice(0, MOST_ID)
  return { kind: 'reaction', ...base, messageId: row.guid, on, emoji }
}

function attachmentOf({ guid, mime, name, size, path }: FileRow): readonly Attachment[] {
  const type = mime === null ? undefined : safeMime(mime)
  const kind = /^(image|audio|video)\//.exec(type ?? '')?.[1] as 'image' | 'audio' | 'video' | undefined
  const called = name ?? path?.split('/').at(-1)
  return [
    {
      id: guid,
      kind: kind ?? 'file',
      ...(called === undefined ? {} : { name: safeFileName(called) }),
      ...defined({ mime: type }),
      ...(size > 0 ? { size } : {}),
      ref: guid,
    },
  ]
}

function summaryOf(summary: Uint8Array | null): ReadonlyMap<string, PlistValue> {
  const read = summary === null ? undefined : readBinaryPlist(summary)
  return read instanceof Map ? read : new Map()
}

/** Returns the versions of the first part, oldest first, including the original. */
function editsIn(summary: Uint8Array | null): readonly ReadonlyMap<string, PlistValue>[] {
  const edits = summaryOf(summary).get('ec')
  const [first] = edits instanceof Map ? [...edits.values()] : []
  return Array.isArray(first)
    ? first.filter((one): one is ReadonlyMap<string, PlistValue> => one instanceof Map)
    : []
}

function lastEdit(summary: Uint8Array | null): string | null {
  const typed = editsIn(summary).at(-1)?.get('t')
  return typed instanceof Uint8Array ? textOfBody(typed) : null
}

/** Newer versions of macOS leave out the time and list the parts. */
function isUnsent({ retractedAt, summary, empty }: MessageRow): boolean {
  const parts = summaryOf(summary).get('rp')
  return retractedAt > 0 || (empty && Array.isArray(parts) && parts.length > 0)
}

function unparsable({ guid, at }: MessageRow, problem: string): InboundEvent {
  return {
    kind: 'unparsable',
    conversation: 'unreadable',
    chat: 'direct',
    sender: { id: 'unknown' },
    at,
    messageId: guid,
    problem: `a row of chat.db could not be read: ${problem}`,
  }
}

// Whether a row's sender is proven. Apple proves the sender of an iMessage. The number of an SMS or RCS message can be
// forged.

function isProven({ service }: MessageRow, { allowSms }: Pick<IMessageConfig, 'allowSms'>): boolean {
  return service === 'iMessage' || allowSms
}
