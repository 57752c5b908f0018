// Parses the page's requests strictly: every field is checked, and an error names it.
import {
  type Attachment,
  type InboundDelete,
  type InboundMessage,
  type InboundTap,
  type InboundUnparsable,
  SwitchboardError,
  withoutNulls,
} from '../../contract/index.ts'
import type { WebConfig } from './config.ts'

/** Marks taps among the platform message ids. A page's own ids cannot contain ':'. */
export const TAP_PREFIX = 'tap:'

export interface MessageOrder {
  readonly clientId: string
  readonly text: string
  readonly attachments: readonly string[]
  readonly replyTo: string | null
}

export interface TapOrder {
  readonly clientId: string
  readonly on: string
  readonly value: string
}

export interface Speaker {
  readonly sender: string
  readonly name: string | null
}

/** The body as a JSON object. Throws `input_invalid` or `unsupported_media`. */
export function parseJson(body: Uint8Array, contentType: string | null): Readonly<Record<string, unknown>> {
  if (contentType === null || !/^application\/json\s*(;|$)/i.test(contentType)) {
    throw new SwitchboardError('unsupported_media', 'the body must be application/json')
  }
  let value: unknown
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body))
  } catch {
    throw new SwitchboardError('input_invalid', 'the body is not JSON')
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new SwitchboardError('input_invalid', 'the body must be a JSON object')
  }
  return value as Readonly<Record<string, unknown>>
}

export function parseMessage(body: Readonly<Record<string, unknown>>, config: WebConfig): MessageOrder {
  const text = body.text === undefined ? '' : body.text
  if (typeof text !== 'string') throw invalid('text', 'must be a string')
  if (codePoints(text) > config.maxTextChars) {
    throw new SwitchboardError('too_large', `text is longer than ${config.maxTextChars} characters`)
  }
  const attachments = body.attachments === undefined ? [] : body.attachments
  if (!Array.isArray(attachments) || attachments.some((id) => !isFileId(id))) {
    throw invalid('attachments', 'must be a list of ids from /chat/upload')
  }
  if (attachments.length > config.maxAttachments) {
    throw new SwitchboardError('too_large', `attachments: at most ${config.maxAttachments} a message`)
  }
  if (text.trim() === '' && attachments.length === 0) throw invalid('text', 'is empty')
  if (new Set(attachments).size !== attachments.length) throw invalid('attachments', 'names a file twice')
  const replyTo = body.replyTo === undefined || body.replyTo === null ? null : short(body.replyTo, 'replyTo')
  return { clientId: clientId(body.clientId), text: wellFormed(text), attachments, replyTo }
}

export function parseTap(body: Readonly<Record<string, unknown>>): TapOrder {
  return {
    clientId: clientId(body.clientId),
    on: short(body.on, 'on'),
    value: short(body.value, 'value'),
  }
}

/** The id of an own message. */
export function parseDeletion(body: Readonly<Record<string, unknown>>): string {
  return clientId(body.id, 'id')
}

export function parseTicket(body: Readonly<Record<string, unknown>>): string {
  return short(body.ticket, 'ticket')
}

/** The chat is the sender's own: one conversation per person in all windows. */
export function toInboundMessage(
  order: MessageOrder,
  speaker: Speaker,
  facts: { readonly at: number; readonly attachments: readonly Attachment[] },
): InboundMessage {
  return {
    kind: 'message',
    conversation: speaker.sender,
    chat: 'direct',
    sender: { id: speaker.sender, ...withoutNulls({ name: speaker.name }) },
    at: facts.at,
    messageId: order.clientId,
    text: order.text,
    ...(order.replyTo === null ? {} : { replyTo: { messageId: order.replyTo } }),
    ...(facts.attachments.length === 0 ? {} : { attachments: facts.attachments }),
  }
}

/** An unreadable body of a person's page. It is recorded. */
export function toUnparsable(problem: string, speaker: Speaker, at: number): InboundUnparsable {
  return {
    kind: 'unparsable',
    conversation: speaker.sender,
    chat: 'direct',
    sender: { id: speaker.sender, ...withoutNulls({ name: speaker.name }) },
    at,
    problem,
  }
}

export function toInboundDeletion(messageId: string, { sender, name }: Speaker, at: number): InboundDelete {
  return {
    kind: 'delete',
    conversation: sender,
    chat: 'direct',
    sender: { id: sender, ...withoutNulls({ name }) },
    at,
    messageId,
  }
}

export function toInboundTap(order: TapOrder, speaker: Speaker, at: number): InboundTap {
  return {
    kind: 'tap',
    conversation: speaker.sender,
    chat: 'direct',
    sender: { id: speaker.sender, ...withoutNulls({ name: speaker.name }) },
    at,
    messageId: TAP_PREFIX + order.clientId,
    on: order.on,
    value: order.value,
  }
}

/** 32 hex digits, as `/chat/upload` returns them. */
export function isFileId(value: unknown): value is string {
  return typeof value === 'string' && /^[0-9a-f]{32}$/.test(value)
}

/**
 * Returns a file name that is safe to show and to store: no path, no control, bidi or invisible characters, no leading
 * dots, at most 120 code points with the extension kept.
 */
export function safeFileName(raw: string): string {
  const base = raw.slice(0, 4_096).normalize('NFC').split(/[/\\]/).at(-1) ?? ''
  const visible = base
    .replace(LONE_SURROGATE, '\uFFFD')
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}]/gu, '')
    .replace(/[<>:"|?*]/g, '_')
    .replace(/\s+/g, ' ')
    .replace(/^[.\s]+/, '')
    .replace(/(?<![.\s])[.\s]+$/, '')
  if (visible === '') return 'file'
  const ending = /\.[A-Za-z0-9]{1,10}$/.exec(visible)?.[0] ?? ''
  const stem = [...visible.slice(0, visible.length - ending.length)]
  return stem.slice(0, 120 - ending.length).join('') + ending
}

export function codePoints(text: string): number {
  let count = text.length
  for (let i = 0; i < text.length - 1; i += 1) {
    const unit = text.charCodeAt(i)
    if (unit >= 0xd800 && unit <= 0xdbff) {
      const next = text.charCodeAt(i + 1)
      if (next >= 0xdc00 && next <= 0xdfff) {
        count -= 1
        i += 1
      }
    }
  }
  return count
}

function clientId(value: unknown, field = 'clientId'): string {
  if (typeof value === 'string' && /^[A-Za-z0-9_-]{8,64}$/.test(value)) return value
  throw invalid(field, 'must be 8 to 64 letters, digits, _ or -')
}

function short(value: unknown, field: string): string {
  if (typeof value !== 'string' || value === '') throw invalid(field, 'must be a non-empty string')
  if (value.length > 256) throw invalid(field, 'is too long')
  return wellFormed(value)
}

// UTF-8 has no lone surrogates, and not every store keeps U+0000. Both become the replacement character, so that the
// message is not lost.
function wellFormed(text: string): string {
  return text.replaceAll('\u0000', '\uFFFD').replace(LONE_SURROGATE, '\uFFFD')
}

const LONE_SURROGATE = /[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/g

function invalid(field: string, problem: string): SwitchboardError {
  return new SwitchboardError('input_invalid', `${field} ${problem}`)
}
