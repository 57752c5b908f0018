// Turns an outbound op into Discord's parameters: content, buttons, and no mention that pings.
import { createHash } from 'node:crypto'
import { type Choice, type OutboundOp, SwitchboardError, type TextLimit } from '../../contract/index.ts'
import { cutToFit, type Said, sentForm, wholeForm } from '../../kit/markdown/index.ts'
import { wordsIn } from '../../words/index.ts'
import { cutShort } from './inbound-text.ts'
import { discordMarkdown } from './markdown.ts'

/** Discord's limit. Its unit is not documented; in UTF-16 units nothing is too long. */
export const TEXT_LIMIT: TextLimit = { size: 2_000, unit: 'utf-16' }
/** On every post and edit, because an edit without it would ping the named people. */
export const NO_MENTIONS = { parse: [], replied_user: false } as const
const LABEL_LENGTH = 80
const VALUE_LENGTH = 100
const IN_A_ROW = 5
const MOST_BUTTONS = 25
const SILENT = 1 << 12

type Fields = Readonly<Record<string, unknown>>

export function wholeOf(said: Said): string {
  return wholeForm(said, TEXT_LIMIT, discordMarkdown, 'Discord: ').text
}

/** For texts of our own. */
export function cutOf(said: Said): string {
  return sentForm(cutToFit(said, TEXT_LIMIT, discordMarkdown), discordMarkdown).text
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

/** An urgent message gets a coloured bar. A quiet one makes no sound. */
export function urgencyOf(op: OutboundOp): Fields {
  if (op.kind !== 'text' || op.urgency === undefined || op.urgency === 'normal') return {}
  return op.urgency === 'low'
    ? { flags: SILENT }
    : { embeds: [{ description: wordsIn().platforms.urgent, color: 0xe01e5a }] }
}

/** Identifies a post by its row. At most 25 characters, and the same each time. */
export function nonceOf(key: string): string {
  return createHash('sha256').update(key).digest('base64url').slice(0, 25)
}

export function fileMessage(caption: string | undefined): Fields {
  return caption === undefined || caption.trim() === '' ? {} : { content: cutOf({ text: caption }) }
}
