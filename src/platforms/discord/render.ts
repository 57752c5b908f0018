// From an outbound op to what Discord takes: content, buttons, and never a ping.
import { createHash } from 'node:crypto'
import { type Choice, type OutboundOp, SwitchboardError, type TextLimit } from '../../contract/index.ts'
import { readMarkdown, splitMarkdown } from '../../kit/markdown/index.ts'
import { cutShort } from './inbound-text.ts'
import { discordMarkdown, escapeDiscord } from './markdown.ts'

/** Discord's own limit. Which unit it counts in it does not say: this is the one in which nothing is too long. */
export const TEXT_LIMIT: TextLimit = { size: 2_000, unit: 'utf-16' }
/** On every post and every edit: an edit without it would ping whoever is named. */
export const NO_MENTIONS = { parse: [], replied_user: false } as const
const LABEL_LENGTH = 80
const VALUE_LENGTH = 100
const IN_A_ROW = 5
const MOST_BUTTONS = 25
const CUT_NOTE = '\n\n…'
const SILENT = 1 << 12

type Fields = Readonly<Record<string, unknown>>

/** A text as it is said: Markdown, or shown as it is written. */
export interface Said {
  readonly text: string
  readonly plain?: true
}

function contentOf({ text, plain }: Said): string {
  const rendered = plain ? plainContent(text) : discordMarkdown.render(readMarkdown(text)).text
  if (rendered.trim() !== '') return rendered
  // Nothing but markup (an empty fence): better shown as it was written than refused as empty.
  return text.trim() === '' ? '…' : escapeDiscord(text)
}

/** The outlet cut it by what is written: where the marks that keep it so do not fit, it goes without them. Nothing pings. */
function plainContent(text: string): string {
  const escaped = escapeDiscord(text)
  return escaped.length <= TEXT_LIMIT.size ? escaped : text
}

/** Throws `platform_rejected` naming the limit: nobody is shown a part as the whole. */
export function wholeOf(said: Said): string {
  const content = contentOf(said)
  if (content.length <= TEXT_LIMIT.size) return content
  throw new SwitchboardError(
    'platform_rejected',
    `Discord: a message may have ${TEXT_LIMIT.size} characters, this one has ${content.length}`,
    { hint: 'make it shorter, or say the rest in a new message' },
  )
}

/** One message, cut where it is too long, with a mark that it is: for words of our own. */
export function cutToFit(said: Said): string {
  const whole = contentOf(said)
  if (whole.length <= TEXT_LIMIT.size) return whole
  const limit = { ...TEXT_LIMIT, size: TEXT_LIMIT.size - CUT_NOTE.length }
  const [first = ''] = splitMarkdown(said.text, limit, said.plain ? 'plain' : discordMarkdown)
  return contentOf({ ...said, text: first }).slice(0, limit.size) + CUT_NOTE
}

/** `styled`: the first choice is the good one, the second the bad one. */
export function componentsOf(choices: readonly Choice[] | undefined, styled: boolean): readonly Fields[] {
  if (choices === undefined || choices.length === 0) return []
  if (choices.length > MOST_BUTTONS)
    throw new SwitchboardError('platform_rejected', `Discord: a message may have ${MOST_BUTTONS} buttons`)
  const buttons = choices.map(({ label, value }, at) => {
    if (value.length > VALUE_LENGTH || value === '')
      throw new SwitchboardError(
        'platform_rejected',
        `Discord: the value of the button "${label.slice(0, 80)}" is empty or over ${VALUE_LENGTH} characters`,
      )
    const style = styled && at < 2 ? (at === 0 ? 3 : 4) : 2
    const shown = cutShort(label.trim(), LABEL_LENGTH).trim()
    return { type: 2, style, label: shown === '' ? '…' : shown, custom_id: value }
  })
  const rows: Fields[] = []
  for (let at = 0; at < buttons.length; at += IN_A_ROW)
    rows.push({ type: 1, components: buttons.slice(at, at + IN_A_ROW) })
  return rows
}

/** Something urgent has a bar of colour below it; something that can wait makes no sound. */
export function urgencyOf(op: OutboundOp): Fields {
  if (op.kind !== 'text' || op.urgency === undefined || op.urgency === 'normal') return {}
  return op.urgency === 'low'
    ? { flags: SILENT }
    : { embeds: [{ description: '❗ urgent', color: 0xe01e5a }] }
}

/** What a post is known by: the row that it was made from. At most 25 characters, and the same each time. */
export function nonceOf(key: string): string {
  return createHash('sha256').update(key).digest('base64url').slice(0, 25)
}

export function fileMessage(caption: string | undefined): Fields {
  return caption === undefined || caption.trim() === '' ? {} : { content: cutToFit({ text: caption }) }
}
