// A tree as plain text: what goes out where a platform's own form is not taken, and what two trees are compared by.
import type { MarkdownBlock, MarkdownInline, MarkdownRenderer } from '../../contract/message/markdown.ts'
import { safeHref } from './safe-href.ts'

export function plainText(blocks: readonly MarkdownBlock[]): string {
  return blocks.map(blockText).join('\n\n')
}

/** For a platform that has no markup. */
export const plainForm: MarkdownRenderer = {
  render(blocks) {
    const text = plainText(blocks)
    return { text, plain: text }
  },
}

export function inlineText(nodes: readonly MarkdownInline[]): string {
  return nodes.map(nodeText).join('')
}

/** What is said of a link: its text alone where that is its address already. */
export function isBare(link: Extract<MarkdownInline, { kind: 'link' }>): boolean {
  const [only, ...more] = link.children
  return more.length === 0 && only?.kind === 'text' && safeHref(only.text) === link.href
}

/** The mark in front of an item. */
function itemMark(
  list: Extract<MarkdownBlock, { kind: 'list' }>,
  at: number,
  checked: boolean | undefined,
): string {
  const task = checked === undefined ? '' : checked ? '☑ ' : '☐ '
  return list.ordered ? `${list.start + at}. ${task}` : task === '' ? '• ' : task
}

export function indented(text: string, by: string): string {
  return text.replaceAll('\n', `\n${by}`)
}

/** Blocks below each other, without those that show nothing. */
export function stackBlocks(
  blocks: readonly MarkdownBlock[],
  inside: (block: MarkdownBlock) => string,
): string {
  return blocks
    .map(inside)
    .filter((text) => text !== '')
    .join('\n\n')
}

/** In marks that count only where no space stands inside them: what is at its ends stays outside. */
export function inMarks(mark: string, text: string): string {
  const inside = text.trim()
  if (inside === '') return text
  const before = text.slice(0, text.length - text.trimStart().length)
  return `${before}${mark}${inside}${mark}${text.slice(before.length + inside.length)}`
}

/** Its items below each other, each with its mark, what is in it by `inside` and indented. */
export function listText(
  list: Extract<MarkdownBlock, { kind: 'list' }>,
  inside: (block: MarkdownBlock) => string,
  by: string,
): string {
  return list.items
    .map((item, at) => itemMark(list, at, item.checked) + indented(item.children.map(inside).join('\n'), by))
    .join('\n')
}

function blockText(block: MarkdownBlock): string {
  switch (block.kind) {
    case 'paragraph':
    case 'heading':
      return inlineText(block.children)
    case 'code':
      return block.text
    case 'quote':
      return `> ${indented(plainText(block.children), '> ')}`
    case 'list':
      return listText(block, blockText, '  ')
    case 'table':
      return [block.header, ...block.rows].map((row) => row.map(inlineText).join(' | ')).join('\n')
    case 'rule':
      return '———'
  }
}

function nodeText(node: MarkdownInline): string {
  switch (node.kind) {
    case 'text':
    case 'code':
      return node.text
    case 'break':
      return '\n'
    case 'link':
      return isBare(node) ? inlineText(node.children) : `${inlineText(node.children)} (${node.href})`
    case 'image':
      return node.alt === '' ? node.href : `${node.alt} (${node.href})`
    default:
      return inlineText(node.children)
  }
}
