// Turns an outbound op into parameters of the Bot API: the place, the form and the buttons.
import type { InlineKeyboardMarkup } from 'grammy/types'
import {
  type Address,
  type Choice,
  type OutboundOp,
  type RenderedText,
  SwitchboardError,
  type TextLimit,
} from '../../contract/index.ts'
import { cutToFit, type Said, sentForm, wholeForm } from '../../kit/markdown/index.ts'
import { telegramMarkdown, visibleText } from './markdown.ts'

/** Telegram's own limit: UTF-16 units of the text without its markup. */
export const TEXT_LIMIT: TextLimit = { size: 4096, unit: 'utf-16' }
const MAX_CAPTION_UNITS = 1024
const MAX_CALLBACK_BYTES = 64

/** One message: as HTML, and as plain text if Telegram refuses the HTML. */
export interface Part {
  readonly html: string
  readonly plain: string
}

const partOf = ({ text, plain }: RenderedText): Part => ({ html: text, plain })

export function wholeOf(said: Said): Part {
  return partOf(wholeForm(said, TEXT_LIMIT, telegramMarkdown, 'Telegram: '))
}

/** For texts of our own. */
export function cutOf(said: Said, units = TEXT_LIMIT.size): Part {
  const cut = cutToFit(said, { ...TEXT_LIMIT, size: units }, telegramMarkdown)
  return partOf(sentForm(cut, telegramMarkdown))
}

export function captionOf(caption: string): Part {
  return cutOf({ text: caption }, MAX_CAPTION_UNITS)
}

export interface Place {
  readonly chat_id: number | string
  readonly message_thread_id?: number
}

/** Throws `platform_rejected` for an address that is no Telegram chat or topic. */
export function placeOf(to: Address): Place {
  const thread = to.thread === undefined ? undefined : messageNumber(to.thread, 'topic')
  return {
    chat_id: chatOf(to.conversation),
    // 1 is the General topic, which the Bot API does not accept as a thread.
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

/** Two buttons are side by side, more are below each other, so that labels stay readable on a phone. */
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

const URGENT_MARK = '❗ '

/** Telegram has no louder sound, so an urgent text gets a mark if there is room. */
export function marked(part: Part, op: OutboundOp): Part {
  if (op.kind !== 'text' || op.urgency !== 'high') return part
  if (visibleText(part.html).length + URGENT_MARK.length > TEXT_LIMIT.size) return part
  return { html: URGENT_MARK + part.html, plain: URGENT_MARK + part.plain }
}

/** A quiet message makes no sound. */
export function loudness(op: OutboundOp): { disable_notification?: true } {
  return op.kind === 'text' && op.urgency === 'low' ? { disable_notification: true } : {}
}

const PHOTO_TYPES = new Set(['image/jpeg', 'image/png', 'image/webp'])
const MAX_PHOTO_BYTES = 10 * 1_048_576

/** Pictures are shown, everything else is attached. */
export function isPhoto(mime: string, size: number): boolean {
  return PHOTO_TYPES.has(mime) && size <= MAX_PHOTO_BYTES
}
