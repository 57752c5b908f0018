// From an outbound op to what the Web API takes: text for notifications and old clients, blocks for what people see.
import { type Choice, type OutboundOp, SwitchboardError, type TextLimit } from '../../contract/index.ts'
import { escapeMrkdwn, mrkdwn, readMarkdown, splitMarkdown } from '../../kit/markdown/index.ts'
import { harmlessMarkdown, wantsMarkdownBlock } from './markdown-block.ts'

/** What a message can be changed to, and what Slack advises; a longer one is cut by the outlet. */
export const TEXT_LIMIT: TextLimit = { size: 4_000, unit: 'utf-16' }
const SECTION_LENGTH = 3_000
const MARKDOWN_BLOCK_LENGTH = 12_000
const BUTTON_LABEL_LENGTH = 75
const BUTTON_VALUE_LENGTH = 2_000
const MOST_BUTTONS = 25
const CUT_NOTE = '\n\n…'

export type Block = Readonly<Record<string, unknown>>

/** One message: as text, and as blocks where text is not enough. */
export interface Part {
  readonly text: string
  /** Null: the text alone says it. */
  readonly blocks: readonly Block[] | null
  /** What it was made of: a section is cut from this, never from what it became. */
  readonly said: Said
}

/** A text as it is said: Markdown, or shown as it is written. */
export interface Said {
  readonly text: string
  readonly plain?: true
}

function mrkdwnOf({ text, plain }: Said): string {
  return plain ? escapeMrkdwn(text) : mrkdwn.render(readMarkdown(text)).text
}

/** Nothing but markup (an empty fence): better shown as it was written than refused as empty. */
function visible(said: Said): Said {
  if (said.text.trim() === '') return { text: '…', plain: true }
  return mrkdwnOf(said).trim() === '' ? { text: said.text, plain: true } : said
}

function partOf(said: Said): Part {
  const shown = visible(said)
  return { text: mrkdwnOf(shown), blocks: markdownBlock(said), said: shown }
}

/** Throws `platform_rejected` naming the limit: nobody is shown a part as the whole. */
export function wholeOf(said: Said): Part {
  const part = partOf(said)
  if (part.text.length <= TEXT_LIMIT.size) return part
  throw new SwitchboardError(
    'platform_rejected',
    `msg_too_long: a message may have ${TEXT_LIMIT.size} characters, this one has ${part.text.length}`,
    { hint: 'make it shorter, or say the rest in a new message' },
  )
}

/** One message, cut where it is too long, with a mark that it is: for words of our own. */
export function cutToFit(said: Said): Part {
  const [first = '', ...rest] = pieces(said, TEXT_LIMIT.size - CUT_NOTE.length)
  return partOf({ ...said, text: rest.length === 0 ? said.text : first + CUT_NOTE })
}

function markdownBlock({ text, plain }: Said): readonly Block[] | null {
  if (plain || !wantsMarkdownBlock(readMarkdown(text))) return null
  const harmless = harmlessMarkdown(text)
  return harmless.length <= MARKDOWN_BLOCK_LENGTH ? [{ type: 'markdown', text: harmless }] : null
}

/** The text as blocks, where a message needs some (buttons, or because others stood there). */
export function textBlocks({ text, blocks, said }: Part): readonly Block[] {
  if (blocks !== null) return blocks
  const shown = text.length <= SECTION_LENGTH ? [text] : pieces(said, SECTION_LENGTH).map(mrkdwnOfPiece(said))
  return shown
    .filter((piece) => piece.trim() !== '')
    .map((piece) => ({ type: 'section', text: { type: 'mrkdwn', text: piece } }))
}

const mrkdwnOfPiece = (said: Said) => (text: string) => mrkdwnOf({ ...said, text })

/** What is said in pieces that each have at most so many characters as mrkdwn, and are whole. */
function pieces(said: Said, size: number): readonly string[] {
  const limit = { ...TEXT_LIMIT, size }
  return said.plain ? plainPieces(said.text, limit, size) : splitMarkdown(said.text, limit, mrkdwn)
}

/** An escaped character takes up to five: a piece that grew too long is cut again, three times at the most. */
function plainPieces(text: string, limit: TextLimit, most: number): readonly string[] {
  return splitMarkdown(text, limit, 'plain').flatMap((piece) =>
    escapeMrkdwn(piece).length <= most
      ? [piece]
      : plainPieces(piece, { ...limit, size: Math.floor(limit.size / 2) }, most),
  )
}

/** `styled`: the first choice is the good one, the second the bad one. */
export function actionsOf(choices: readonly Choice[] | undefined, styled: boolean): readonly Block[] {
  if (choices === undefined || choices.length === 0) return []
  if (choices.length > MOST_BUTTONS)
    throw new SwitchboardError('platform_rejected', `a message may have ${MOST_BUTTONS} buttons`)
  const elements = choices.map(({ label, value }, at) => {
    if (value.length > BUTTON_VALUE_LENGTH || value === '')
      throw new SwitchboardError(
        'platform_rejected',
        `the value of the button "${label}" is over 2000 characters`,
      )
    const style = styled && at < 2 ? { style: at === 0 ? 'primary' : 'danger' } : {}
    const shown = [...label].slice(0, BUTTON_LABEL_LENGTH).join('')
    return {
      type: 'button',
      action_id: `swb_${at}`,
      text: { type: 'plain_text', text: shown, emoji: true },
      value,
      ...style,
    }
  })
  return [{ type: 'actions', elements }]
}

const COLOURS = {
  high: { color: '#e01e5a', text: '❗ urgent' },
  low: { color: '#9a9a9a', text: 'no hurry' },
} as const

/** Slack's way of showing how urgent something is: a bar of colour below it. */
export function urgencyOf(op: OutboundOp): { readonly attachments?: readonly Block[] } {
  if (op.kind !== 'text' || op.urgency === undefined || op.urgency === 'normal') return {}
  const { color, text } = COLOURS[op.urgency]
  return { attachments: [{ color, text, fallback: text }] }
}
