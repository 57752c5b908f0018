// From an outbound op to what the Bot API takes: where it goes, in which parts, with which buttons.
import type { InlineKeyboardMarkup } from 'grammy/types'
import { type Address, type Choice, type OutboundOp, SwitchboardError } from '../../contract/index.ts'
import { splitText, truncate } from '../../kit/index.ts'
import { escapeHtml, toTelegramHtml, visibleLength } from './markdown.ts'

/** Telegram's own limit, in UTF-16 units of the text without its markup. */
export const MAX_UNITS = 4096
/** What the outlet splits at, in code points: leaves room for a note in front and for fences that are repaired. */
export const TEXT_LIMIT = 4000
const MAX_CAPTION_UNITS = 1024
const MAX_CALLBACK_BYTES = 64

export interface Part {
  readonly html: string
  readonly plain: string
}

// From "counts once" to "every character counts double, in repaired fences"; the last one always fits.
const LIMITS = [MAX_UNITS, 3_000, 2_048, 1_500, 1_000]

/** Parts that fit, both as HTML and as plain text. One, unless the text is full of characters that count double. */
export function partsOf(text: string, form: Form = toTelegramHtml): readonly Part[] {
  const split = (limit: number) => splitText(text, { size: limit }).map((part) => partOf(part, form))
  for (const limit of LIMITS) {
    const parts = split(limit)
    if (parts.every(fits)) return parts.length === 0 ? [partOf('…', form)] : parts
  }
  return split(500)
}

/** How a text becomes HTML: as Markdown, or as it is. */
type Form = (text: string) => string

export function formOf({ plain }: { readonly plain?: true }): Form {
  return plain ? escapeHtml : toTelegramHtml
}

function partOf(plain: string, form: Form): Part {
  const html = form(plain)
  // Nothing but markup (an empty fence): better shown as it was written than refused as empty.
  return { plain, html: html.replace(/<[^>]*>/g, '').trim() === '' ? escapeHtml(plain) : html }
}

function fits({ html, plain }: Part): boolean {
  return plain.length <= MAX_UNITS && visibleLength(html) <= MAX_UNITS
}

/** One part with all of the text: an edited message cannot become two. Throws `platform_rejected` naming the limit. */
export function wholeOf(text: string, form: Form): Part {
  const part = partOf(text, form)
  if (fits(part)) return part
  throw new SwitchboardError(
    'platform_rejected',
    `Telegram: an edited message may have ${MAX_UNITS} characters, this one has ${text.length}`,
    { hint: 'make it shorter, or say the rest in a new message' },
  )
}

/** One part, cut where it is too long. */
export function cutToFit(text: string, units = MAX_UNITS, form: Form = toTelegramHtml): Part {
  for (let limit = units; ; limit = Math.floor(limit * 0.8)) {
    const part = partOf(truncate(text, limit), form)
    if (part.plain.length <= units && visibleLength(part.html) <= units) return part
  }
}

export function captionOf(caption: string): Part {
  return cutToFit(caption, MAX_CAPTION_UNITS)
}

export interface Place {
  readonly chat_id: number | string
  readonly message_thread_id?: number
}

/** Throws `platform_rejected` for what is no Telegram chat or topic. */
export function placeOf(to: Address): Place {
  const thread = to.thread === undefined ? undefined : messageNumber(to.thread, 'topic')
  return {
    chat_id: chatOf(to.conversation),
    // 1 is the General topic, which the Bot API does not want to be named.
    ...(thread === undefined || thread === 1 ? {} : { message_thread_id: thread }),
  }
}

function chatOf(conversation: string): number | string {
  if (/^-?\d{1,16}$/.test(conversation)) return Number(conversation)
  if (/^@[A-Za-z]\w{3,}$/.test(conversation)) return conversation
  throw new SwitchboardError('platform_rejected', `"${conversation.slice(0, 60)}" is not a Telegram chat`, {
    hint: 'give the numeric id of a chat (-100… for groups) or @channelname',
  })
}

export function messageNumber(id: string, what: 'message' | 'topic' = 'message'): number {
  if (/^\d{1,15}$/.test(id)) return Number(id)
  throw new SwitchboardError('platform_rejected', `"${id.slice(0, 60)}" is not the id of a Telegram ${what}`)
}

/** Two buttons stand side by side, more stand below each other: labels stay readable on a phone. */
export function keyboardOf(choices: readonly Choice[] | undefined): { reply_markup?: InlineKeyboardMarkup } {
  if (choices === undefined || choices.length === 0) return {}
  const buttons = choices.map(({ label, value }) => {
    if (Buffer.byteLength(value) > MAX_CALLBACK_BYTES || value === '') {
      throw new SwitchboardError('platform_rejected', `the value of the button "${label}" is over 64 bytes`)
    }
    return { text: label, callback_data: value }
  })
  return { reply_markup: { inline_keyboard: buttons.length <= 2 ? [buttons] : buttons.map((one) => [one]) } }
}

/** Telegram's way of not disturbing anybody. */
export function loudness(op: OutboundOp): { disable_notification?: true } {
  return op.kind === 'text' && op.urgency === 'low' ? { disable_notification: true } : {}
}

const PHOTO_TYPES = new Set(['image/jpeg', 'image/png', 'image/webp'])
const MAX_PHOTO_BYTES = 10 * 1_048_576

/** Pictures are shown, everything else is attached. */
export function isPhoto(mime: string, size: number): boolean {
  return PHOTO_TYPES.has(mime) && size <= MAX_PHOTO_BYTES
}
