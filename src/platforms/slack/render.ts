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
}

/** A text as it is said: Markdown, or shown as it is written. */
export interface Said {
  readonly text: string
  readonly plain?: true
}

function mrkdwnOf({ text, plain }: Said): string {
  const rendered = plain ? escapeMrkdwn(text) : mrkdwn.render(readMarkdown(text)).text
  if (rendered.trim() !== '') return rendered
  // Nothing but markup (an empty fence): better shown as it was written than refused as empty.
  return text.trim() === '' ? '…' : escapeMrkdwn(text)
}

/** Throws `platform_rejected` naming the limit: nobody is shown a part as the whole. */
export function wholeOf(said: Said): Part {
  const text = mrkdwnOf(said)
  if (text.length <= TEXT_LIMIT.size) return { text, blocks: markdownBlock(said) }
  throw new SwitchboardError(
    'platform_rejected',
    `msg_too_long: a message may have ${TEXT_LIMIT.size} characters, this one has ${text.length}`,
    { hint: 'make it shorter, or say the rest in a new message' },
  )
}

/** One message, cut where it is too long, with a mark that it is: for words of our own. */
export function cutToFit(said: Said): Part {
  const limit = { ...TEXT_LIMIT, size: TEXT_LIMIT.size - CUT_NOTE.length }
  const [first = '', ...rest] = splitMarkdown(said.text, limit, said.plain ? 'plain' : mrkdwn)
  const kept = { ...said, text: rest.length === 0 ? said.text : first + CUT_NOTE }
  return { text: mrkdwnOf(kept), blocks: markdownBlock(kept) }
}

function markdownBlock({ text, plain }: Said): readonly Block[] | null {
  if (plain || !wantsMarkdownBlock(readMarkdown(text))) return null
  const harmless = harmlessMarkdown(text)
  return harmless.length <= MARKDOWN_BLOCK_LENGTH ? [{ type: 'markdown', text: harmless }] : null
}

/** The text as blocks, where a message needs some (buttons, or because others stood there). */
export function textBlocks({ text, blocks }: Part): readonly Block[] {
  return blocks ?? sections(text)
}

/** Cut at lines where there are some; a code fence that is cut is closed and opened again. */
function sections(text: string): readonly Block[] {
  const parts: string[] = []
  let rest = text
  let fence = false
  while (rest.length > 0) {
    const room = SECTION_LENGTH - 10
    let part = rest
    if (rest.length > room) {
      const at = rest.lastIndexOf('\n', room)
      const end = at > room / 2 ? at : wholeCharacters(rest, room)
      part = rest.slice(0, end)
    }
    rest = rest.slice(part.length)
    const opened = fence ? `\`\`\`\n${part}` : part
    if ((part.split('```').length - 1) % 2 === 1) fence = !fence
    parts.push(fence && rest.length > 0 ? `${opened}\n\`\`\`` : opened)
  }
  return parts
    .filter((part) => part.trim() !== '')
    .map((part) => ({ type: 'section', text: { type: 'mrkdwn', text: part } }))
}

/** Neither a pair of surrogates nor an entity is cut in two. */
function wholeCharacters(text: string, end: number): number {
  const entity = text.lastIndexOf('&', end)
  if (entity > end - 6 && entity > 0 && !text.slice(entity, end).includes(';')) return entity
  const code = text.charCodeAt(end - 1)
  return code >= 0xd800 && code <= 0xdbff ? end - 1 : end
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
