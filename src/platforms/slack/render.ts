// Turns an outbound op into parameters of the Web API: text for notifications and old clients, blocks for display.
import {
  type Choice,
  type MarkdownBlock,
  type OutboundOp,
  type RenderedText,
  SwitchboardError,
  type TextLimit,
} from '../../contract/index.ts'
import {
  cutToFit,
  mrkdwn,
  readMarkdown,
  type Said,
  sentForm,
  splitText,
  wholeForm,
} from '../../kit/markdown/index.ts'
import { wordsIn } from '../../words/index.ts'

/** Slack's limit for changed messages, and its advice. The outlet cuts longer texts. */
export const TEXT_LIMIT: TextLimit = { size: 4_000, unit: 'utf-16' }
const SECTION_LENGTH = 3_000
const MARKDOWN_BLOCK_LENGTH = 12_000
const BUTTON_LABEL_LENGTH = 75
const BUTTON_VALUE_LENGTH = 2_000
const MOST_BUTTONS = 25

export type Block = Readonly<Record<string, unknown>>

/** One message: as text, and as blocks if text is not enough. */
export interface Part {
  readonly text: string
  /** Null: the text alone is enough. */
  readonly blocks: readonly Block[] | null
  /** The source. A section is cut from this, never from the rendered text. */
  readonly said: Said
}

const partOf = (said: Said, { text }: RenderedText): Part => ({ text, blocks: markdownBlock(said), said })

export function wholeOf(said: Said): Part {
  return partOf(said, wholeForm(said, TEXT_LIMIT, mrkdwn, 'msg_too_long: '))
}

/** For texts of our own. */
export function cutOf(said: Said): Part {
  const cut = cutToFit(said, TEXT_LIMIT, mrkdwn)
  return partOf(cut, sentForm(cut, mrkdwn))
}

function markdownBlock({ text, plain }: Said): readonly Block[] | null {
  if (plain || !wantsMarkdownBlock(readMarkdown(text))) return null
  const harmless = harmlessMarkdown(text)
  return harmless.length <= MARKDOWN_BLOCK_LENGTH ? [{ type: 'markdown', text: harmless }] : null
}

/** The text as blocks, if a message needs some (buttons, or to replace other blocks). */
export function textBlocks({ text, blocks, said }: Part): readonly Block[] {
  if (blocks !== null) return blocks
  const limit = { ...TEXT_LIMIT, size: SECTION_LENGTH }
  const pieces = () => splitText(said, limit, mrkdwn).map((piece) => ({ ...said, text: piece }))
  const shown = text.length <= SECTION_LENGTH ? [text] : pieces().map((piece) => sentForm(piece, mrkdwn).text)
  return shown
    .filter((piece) => piece.trim() !== '')
    .map((piece) => ({ type: 'section', text: { type: 'mrkdwn', text: piece } }))
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

const COLOURS = { high: '#e01e5a', low: '#9a9a9a' } as const

/** Slack shows urgency by a coloured bar below the message. */
export function urgencyOf(op: OutboundOp): { readonly attachments?: readonly Block[] } {
  if (op.kind !== 'text' || op.urgency === undefined || op.urgency === 'normal') return {}
  const { urgent, noHurry } = wordsIn().platforms
  const color = COLOURS[op.urgency]
  const text = op.urgency === 'high' ? urgent : noHurry
  return { attachments: [{ color, text, fallback: text }] }
}

// Slack's `markdown` block: when it is used instead of mrkdwn, and its text without mentions.

/** Whether mrkdwn cannot show it: tables, several levels of headings, nested lists. */
function wantsMarkdownBlock(blocks: readonly MarkdownBlock[]): boolean {
  return blocks.some((block) => {
    if (block.kind === 'table' || block.kind === 'heading') return true
    return (
      block.kind === 'list' &&
      block.items.some(({ children }) => children.some(({ kind }) => kind === 'list' || kind === 'table'))
    )
  })
}

const MENTION_START = /<(?=[!@#])/g
const LOUD_WORD = /@(?=(?:channel|here|everyone)\b)/gi

/** Markdown for Slack's `markdown` block. A zero-width mark breaks everything that would ping. */
function harmlessMarkdown(text: string): string {
  return text.replace(MENTION_START, '<\u200b').replace(LOUD_WORD, '@\u200b')
}
