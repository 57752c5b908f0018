// Cuts a tree in two, at a position counted in characters of its text. Both halves are whole trees. A list continues
// with its number, a code block with its language, a table with its header.
import type {
  MarkdownBlock,
  MarkdownCell,
  MarkdownInline,
  MarkdownItem,
} from '../../contract/message/markdown.ts'

type Table = Extract<MarkdownBlock, { kind: 'table' }>
type List = Extract<MarkdownBlock, { kind: 'list' }>
/** The parts before and after the cut. */
type Halves<T> = readonly [before: readonly T[], after: readonly T[]]

/** Returns the characters of a block's text, at least 1. It counts no further than `most`. */
export function blockWeight(block: MarkdownBlock, most = Number.POSITIVE_INFINITY): number {
  switch (block.kind) {
    case 'paragraph':
    case 'heading':
      return Math.max(1, sum(block.children, inlineWeight, most))
    case 'code':
      return Math.max(1, block.text.length)
    case 'quote':
      return Math.max(1, sum(block.children, blockWeight, most))
    case 'list':
      return Math.max(1, sum(block.items, itemWeight, most))
    case 'table':
      return sum([block.header, ...block.rows.slice(0, most)], rowWeight, most)
    case 'rule':
      return 1
  }
}

export function itemWeight(item: MarkdownItem, most: number): number {
  return Math.max(1, sum(item.children, blockWeight, most))
}

export function rowWeight(row: readonly MarkdownCell[], most: number): number {
  return Math.max(1, sum(row, cellWeight, most))
}

function cellWeight(cell: MarkdownCell, most: number): number {
  return sum(cell, inlineWeight, most)
}

function inlineWeight(node: MarkdownInline, most: number): number {
  switch (node.kind) {
    case 'text':
      return node.text.length
    case 'code':
      return Math.max(1, node.text.length)
    case 'break':
      return 1
    case 'image':
      return node.alt.length + 1
    default:
      return sum(node.children, inlineWeight, most)
  }
}

function sum<T>(parts: readonly T[], weigh: (part: T, most: number) => number, most: number): number {
  let total = 0
  for (const part of parts) {
    total += weigh(part, most - total)
    if (total > most) return total
  }
  return total
}

export function cutBlocks(blocks: readonly MarkdownBlock[], at: number): Halves<MarkdownBlock> {
  return cutList(blocks, at, blockWeight, cutBlock)
}

/** Splits a list. An element that lies across the cut is on both sides. */
function cutList<T>(
  parts: readonly T[],
  at: number,
  weigh: (part: T, most: number) => number,
  cut: (part: T, at: number) => Halves<T>,
): Halves<T> {
  let left = at
  for (const [index, part] of parts.entries()) {
    if (left <= 0) return [parts.slice(0, index), parts.slice(index)]
    const weight = weigh(part, left)
    if (weight > left) {
      const [before, after] = cut(part, left)
      return [
        [...parts.slice(0, index), ...before],
        [...after, ...parts.slice(index + 1)],
      ]
    }
    left -= weight
  }
  return [parts, []]
}

function cutBlock(block: MarkdownBlock, at: number): Halves<MarkdownBlock> {
  switch (block.kind) {
    case 'paragraph':
      return both(cutLine(block.children, at), (children) => ({ ...bare(block), children }))
    case 'heading':
      return both(cutLine(block.children, at), (children) => ({ ...bare(block), children }))
    case 'code': {
      const isLineEnd = block.text[at - 1] === '\n'
      const before = block.text.slice(0, isLineEnd ? at - 1 : at)
      const after = block.text.slice(!isLineEnd && block.text[at] === '\n' ? at + 1 : at)
      const half = (text: string) => (text === '' ? [] : [{ ...bare(block), text }])
      return [half(before), half(after)]
    }
    case 'quote':
      return both(cutBlocks(block.children, at), (children) => ({ ...bare(block), children }))
    case 'list':
      return cutItems(block, at)
    case 'table':
      return cutRows(block, at)
    case 'rule':
      return [[], [block]]
  }
}

/** Removes the source, because the block has changed. */
function bare<T extends MarkdownBlock>({ source: _, ...block }: T): Omit<T, 'source'> {
  return block
}

function both<T>(
  [before, after]: Halves<T>,
  make: (parts: readonly T[]) => MarkdownBlock,
): Halves<MarkdownBlock> {
  return [before.length === 0 ? [] : [make(before)], after.length === 0 ? [] : [make(after)]]
}

function cutItems(list: List, at: number): Halves<MarkdownBlock> {
  const [before, after] = cutList(list.items, at, itemWeight, (item, place) => {
    const [first, rest] = cutBlocks(item.children, place)
    const half = (children: readonly MarkdownBlock[]) =>
      children.length === 0 ? [] : [{ ...item, children }]
    return [half(first), half(rest)]
  })
  // An item that lies across the cut is in both halves.
  const shared = before.length + after.length - list.items.length
  const start = list.start + before.length - Math.max(0, shared)
  const made = (items: readonly MarkdownItem[], from: number): readonly MarkdownBlock[] =>
    items.length === 0 ? [] : [{ ...bare(list), start: from, items }]
  return [made(before, list.start), made(after, start)]
}

function cutRows(table: Table, at: number): Halves<MarkdownBlock> {
  const place = at - rowWeight(table.header, at)
  if (place <= 0) return [[], [table]]
  const [before, after] = cutList(table.rows, place, rowWeight, cutRow)
  const made = (rows: Table['rows']): readonly MarkdownBlock[] =>
    rows.length === 0 ? [] : [{ ...bare(table), rows }]
  return [made(before), made(after)]
}

/** Both rows keep all columns. */
function cutRow(row: readonly MarkdownCell[], at: number): Halves<readonly MarkdownCell[]> {
  let left = at
  const first: MarkdownCell[] = []
  const rest: MarkdownCell[] = []
  for (const cell of row) {
    const [before, after] = left > 0 ? cutLine(cell, left) : [[], cell]
    first.push(before)
    rest.push(after)
    left -= cellWeight(cell, left)
  }
  const filled = (cells: readonly MarkdownCell[]) => (cells.some((cell) => cell.length > 0) ? [cells] : [])
  return [filled(first), filled(rest)]
}

/** Spaces and line ends at the cut are dropped. */
function cutLine(nodes: readonly MarkdownInline[], at: number): Halves<MarkdownInline> {
  const [before, after] = cutInlines(nodes, at)
  return [trimmed(before, 'end'), trimmed(after, 'start')]
}

function cutInlines(nodes: readonly MarkdownInline[], at: number): Halves<MarkdownInline> {
  return cutList(nodes, at, inlineWeight, (node, place) => {
    switch (node.kind) {
      case 'text':
      case 'code':
        return [[{ ...node, text: node.text.slice(0, place) }], [{ ...node, text: node.text.slice(place) }]]
      case 'break':
      case 'image':
        return [[], [node]]
      default: {
        const [before, after] = cutInlines(node.children, place)
        return [[{ ...node, children: before }], [{ ...node, children: after }]]
      }
    }
  })
}

function trimmed(nodes: readonly MarkdownInline[], side: 'start' | 'end'): readonly MarkdownInline[] {
  let left = nodes
  for (;;) {
    const node = side === 'start' ? left[0] : left.at(-1)
    if (node === undefined) return left
    const others = side === 'start' ? left.slice(1) : left.slice(0, -1)
    const kept = trimNode(node, side)
    if (kept !== null) {
      if (kept === node) return left
      return side === 'start' ? [kept, ...others] : [...others, kept]
    }
    left = others
  }
}

/** Null: nothing is left of it. */
function trimNode(node: MarkdownInline, side: 'start' | 'end'): MarkdownInline | null {
  if (node.kind === 'break') return null
  if (node.kind === 'text') {
    const text = side === 'start' ? node.text.trimStart() : node.text.trimEnd()
    return text === '' ? null : text === node.text ? node : { ...node, text }
  }
  if (!('children' in node)) return node
  const children = trimmed(node.children, side)
  return children.length === 0 ? null : children === node.children ? node : { ...node, children }
}
