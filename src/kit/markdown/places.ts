// Finds where a text may be cut, and how good each place is: between blocks is best, inside a word is worst.
import type { MarkdownBlock, MarkdownInline } from '../../contract/message/markdown.ts'
import { blockWeight, itemWeight, rowWeight } from './cut.ts'

/** A higher rank is a better place. */
const BLOCK = 5
const PART = 4
const LINE = 3
const SPACE = 1

interface Found {
  readonly at: number
  readonly rank: number
}

/** Created when a text is first cut, because it takes a tenth of the start-up time. */
let graphemes: Intl.Segmenter | undefined
/** Longer clusters are cut between code points. They do not occur in real text. */
const LONGEST_GRAPHEME = 64

/** Returns the best place at or before `most`, in the second half if there is one. 0: there is none. */
export function bestPlace(blocks: readonly MarkdownBlock[], most: number): number {
  const least = most / 2
  let best: Found | null = null
  let row = 0
  const offer = (at: number, rank: number) => {
    if (at <= 0 || at > most) return
    if (rank === PART) row = at
    if (at >= least && rank >= (best?.rank ?? 0)) best = { at, rank }
  }
  const leaf = walkBlocks(blocks, 0, most, BLOCK, offer)
  const found = best as Found | null
  if (found !== null) return found.at
  // A cell is cut only if its row begins the part. Otherwise the row moves into the next part.
  if (leaf?.inTable && row > 0) return row
  return leaf === null ? most : characterPlace(leaf.text, most - leaf.from) + leaf.from
}

/** Returns the end of the last character that ends at or before `at`. */
export function characterPlace(text: string, at: number): number {
  const from = Math.max(0, at - LONGEST_GRAPHEME)
  const around = text.slice(from, at + LONGEST_GRAPHEME)
  graphemes ??= new Intl.Segmenter('und', { granularity: 'grapheme' })
  const whole = graphemes.segment(around).containing(at - from)
  const start = whole === undefined ? at : from + whole.index
  if (start > 0 && (whole?.index ?? 1) > 0) return start
  return isLowSurrogate(text, at) ? at - 1 : at
}

function isLowSurrogate(text: string, at: number): boolean {
  const code = text.charCodeAt(at)
  return code >= 0xdc00 && code <= 0xdfff && at > 0
}

interface Leaf {
  readonly text: string
  readonly from: number
  readonly inTable: boolean
}

type Offer = (at: number, rank: number) => void

/** Offers the places up to `most`. Returns the text that lies across it. */
function walkBlocks(
  blocks: readonly MarkdownBlock[],
  from: number,
  most: number,
  rank: number,
  offer: Offer,
): Leaf | null {
  let at = from
  for (const block of blocks) {
    // A heading is not separated from the text below it.
    const leaf = walkBlock(block, at, most, offer)
    if (leaf !== null) return leaf
    at += blockWeight(block, most - at)
    if (at > most) return null
    offer(at, block.kind === 'heading' ? SPACE : rank)
  }
  return null
}

function walkBlock(block: MarkdownBlock, from: number, most: number, offer: Offer): Leaf | null {
  switch (block.kind) {
    case 'paragraph':
    case 'heading':
      return walkInlines(block.children, from, most, offer).leaf
    case 'code':
      return walkText(block.text, from, most, '\n', offer)
    case 'quote':
      return walkBlocks(block.children, from, most, PART, offer)
    case 'list':
      return walkParts(block.items, from, most, itemWeight, offer, (item, at) =>
        walkBlocks(item.children, at, most, PART, offer),
      )
    case 'table': {
      const first = from + rowWeight(block.header, most - from)
      if (first > most) return null
      return walkParts(block.rows, first, most, rowWeight, offer, (cells, at) => {
        let place = at
        for (const cell of cells) {
          const { leaf, end } = walkInlines(cell, place, most, () => undefined)
          if (leaf !== null) return { ...leaf, inTable: true }
          place = end
        }
        return null
      })
    }
    case 'rule':
      return null
  }
}

function walkParts<T>(
  parts: readonly T[],
  from: number,
  most: number,
  weigh: (part: T, most: number) => number,
  offer: Offer,
  inside: (part: T, at: number) => Leaf | null,
): Leaf | null {
  let at = from
  for (const part of parts) {
    const leaf = inside(part, at)
    if (leaf !== null) return leaf
    at += weigh(part, most - at)
    if (at > most) return null
    offer(at, PART)
  }
  return null
}

function walkInlines(
  nodes: readonly MarkdownInline[],
  from: number,
  most: number,
  offer: Offer,
): { readonly leaf: Leaf | null; readonly end: number } {
  let at = from
  for (const node of nodes) {
    if (at > most) break
    switch (node.kind) {
      case 'text':
      case 'code': {
        const leaf = walkText(node.text, at, most, ' ', offer)
        if (leaf !== null) return { leaf, end: most }
        at += Math.max(node.kind === 'code' ? 1 : 0, node.text.length)
        break
      }
      case 'break':
        at += 1
        offer(at, LINE)
        break
      case 'image':
        at += node.alt.length + 1
        break
      default: {
        const inner = walkInlines(node.children, at, most, offer)
        if (inner.leaf !== null) return inner
        at = inner.end
      }
    }
  }
  return { leaf: null, end: at }
}

/** Only the last two places matter, because one of them is the last in its half. */
function walkText(text: string, from: number, most: number, separator: string, offer: Offer): Leaf | null {
  const isAcross = from + text.length > most
  const end = isAcross ? most - from : text.length
  const last = text.lastIndexOf(separator, end - 1)
  if (last > 0) offer(from + last + 1, separator === '\n' ? LINE : SPACE)
  return isAcross ? { text, from, inTable: false } : null
}
