// SPLITTER: cuts a long text on its tree into parts that fit a platform. A part fits if both its platform form and its
// plain form do, as the platform counts. A text that fits is sent as it was written.
import {
  type MarkdownBlock,
  type MarkdownInline,
  type MarkdownRenderer,
  nextCodePoint,
  renderedSize,
  type TextLimit,
  textSize,
} from '../../contract/index.ts'
import { blockWeight, cutBlocks } from './cut.ts'
import { bestPlace } from './places.ts'
import { plainText } from './plain-text.ts'
import { readMarkdown } from './read.ts'
import { literalForm, readForm, type Said } from './sent-form.ts'
import { splitPlain } from './split-plain.ts'
import { writeMarkdown } from './write.ts'

/**
 * The most times that a form is longer than its text. The worst cases are an address that is defined once and used
 * often, and the escaped marks of 32 nested quotes before every line.
 */
const MOST_GROWTH = 200

/** The room of one message. */
interface Room {
  readonly size: number
  treeSize(blocks: readonly MarkdownBlock[]): number
  /** Whether a part fits, as it is sent and as it is then read. */
  part(text: string, read: readonly MarkdownBlock[]): boolean
}

interface Cut {
  readonly part: string
  readonly rest: readonly MarkdownBlock[]
}

/**
 * Returns parts that together read like the text. None is empty. None is over the limit, unless a single character does
 * not fit in the platform's form.
 */
export function splitText(
  { text, plain }: Said,
  limit: TextLimit,
  markdown: MarkdownRenderer | 'written',
): readonly string[] {
  if (limit.size < 1) throw new RangeError('a text cannot be split into parts of no length')
  if (text.trim() === '') return []
  const growth = markdown === 'written' ? 1 : MOST_GROWTH
  if (textSize(text, limit.unit) * growth <= limit.size) return [text]
  if (!plain) return splitMarkdown(text, limit, markdown)
  if (markdown === 'written') return splitPlain(text, limit, null)
  return splitPlain(
    text,
    limit,
    (part) => renderedSize(literalForm(part, markdown), limit.unit) <= limit.size,
  )
}

function splitMarkdown(
  text: string,
  limit: TextLimit,
  markdown: MarkdownRenderer | 'written',
): readonly string[] {
  const blocks = readMarkdown(text)
  const room = markdown === 'written' ? roomWritten(limit) : roomRendered(limit, markdown)
  if (room.part(text, blocks)) return [text]
  return cutToParts(markdown === 'written' ? blocks : visible(blocks, text), limit, room)
}

/** Drops blocks that show nothing. If no other is left, the source is shown. */
function visible(blocks: readonly MarkdownBlock[], text: string): readonly MarkdownBlock[] {
  const shown = blocks.filter((block) => plainText([block]).trim() !== '')
  return shown.length === 0 ? paragraphOf(text) : shown
}

function roomWritten({ size, unit }: TextLimit): Room {
  return {
    size,
    treeSize: (blocks) => textSize(writeMarkdown(blocks), unit),
    part: (text) => textSize(text, unit) <= size,
  }
}

function roomRendered({ size, unit }: TextLimit, renderer: MarkdownRenderer): Room {
  return {
    size,
    treeSize: (blocks) => renderedSize(renderer.render(blocks), unit),
    part: (text, read) => renderedSize(readForm(text, read, renderer), unit) <= size,
  }
}

function cutToParts(blocks: readonly MarkdownBlock[], limit: TextLimit, room: Room): readonly string[] {
  const parts: string[] = []
  // Every block takes room, and a character of two units counts at least once.
  const window = limit.size * 2 + 2
  let left: readonly MarkdownBlock[] = []
  for (let next = 0; left.length > 0 || next < blocks.length; ) {
    const near = blocks.slice(next, next + Math.max(0, window - left.length))
    next += near.length
    const { part, rest } = onePart([...left, ...near], window, room)
    if (part.trim() !== '') parts.push(part)
    left = rest
  }
  return parts
}

/** The fractions of the room that are tried when a part is not read back as it was meant. */
const TRIES = [1, 0.8, 0.5]

function onePart(blocks: readonly MarkdownBlock[], window: number, room: Room): Cut {
  const whole = weightOf(blocks, window)
  if (whole <= window && room.treeSize(blocks) <= room.size) {
    const part = written(blocks, room)
    if (part !== null) return { part, rest: [] }
  }
  const fitting = mostThatFits(blocks, Math.min(whole, window), room)
  for (const share of fitting === 0 ? [] : TRIES) {
    const most = Math.max(1, Math.floor(fitting * share))
    const [head, rest] = cutBlocks(blocks, bestPlace(blocks, most))
    if (head.length === 0) continue
    const part = written(head, room)
    if (part !== null) return { part, rest }
  }
  return forced(blocks, window, room)
}

/** Returns the part as Markdown that is read back as meant and fits; null: there is none. */
function written(head: readonly MarkdownBlock[], room: Room): string | null {
  const said = squeezed(plainText(head))
  for (const strict of [false, true]) {
    const part = writeMarkdown(head, { strict })
    const read = readMarkdown(part)
    if (squeezed(plainText(read)) === said && room.part(part, read)) return part
  }
  return null
}

function squeezed(text: string): string {
  return text.replace(/\s+/g, ' ').trim()
}

/** No part of the first block fits as Markdown. It is sent plainly, at least one character of it. */
function forced(blocks: readonly MarkdownBlock[], window: number, room: Room): Cut {
  const [first, ...others] = blocks
  if (first === undefined) return { part: '', rest: [] }
  const text = plainText([first])
  const plain = paragraphOf(text)
  if (!isPlain(first)) return onePart([...plain, ...others], window, room)
  const end = nextCodePoint(text, 0)
  return { part: text.slice(0, end), rest: [...paragraphOf(text.slice(end)), ...others] }
}

function isPlain(block: MarkdownBlock): boolean {
  return (
    block.kind === 'paragraph' &&
    block.source === undefined &&
    block.children.every(({ kind }) => kind === 'text' || kind === 'break')
  )
}

function paragraphOf(text: string): readonly MarkdownBlock[] {
  const lines = text.split('\n').map((line) => line.trim())
  const children = lines
    .filter((line) => line !== '')
    .flatMap((line, at): MarkdownInline[] => {
      const said = { kind: 'text', text: line } as const
      return at === 0 ? [said] : [{ kind: 'break' }, said]
    })
  return children.length === 0 ? [] : [{ kind: 'paragraph', children }]
}

function weightOf(blocks: readonly MarkdownBlock[], most: number): number {
  let total = 0
  for (const block of blocks) {
    total += blockWeight(block, most - total)
    if (total > most) break
  }
  return total
}

/**
 * Returns the largest place before which everything fits. Measuring a place means rendering everything before it, so
 * bisection alone is slow. The next guess assumes that the rest takes as much room per character as what was measured.
 */
function mostThatFits(blocks: readonly MarkdownBlock[], upper: number, room: Room): number {
  let good = 0
  let bad = upper + 1
  let place = Math.min(upper, room.size)
  for (let tries = 1; bad - good > 1; tries++) {
    const size = room.treeSize(cutBlocks(blocks, place)[0])
    if (size <= room.size) good = place
    else bad = place
    const isBisected = tries % 3 === 0 || size === 0
    const next = isBisected ? Math.floor((good + bad) / 2) : Math.floor((place * room.size) / size)
    place = Math.min(Math.max(next, good + 1), bad - 1)
  }
  return good
}
