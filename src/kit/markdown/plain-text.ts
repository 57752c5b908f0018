// A tree as plain text: sent where the platform's own form is refused, and used to compare two trees.
import type { MarkdownBlock, MarkdownInline, MarkdownRenderer } from '../../contract/message/markdown.ts'
import { safeHref } from './safe-href.ts'

export function plainText(blocks: readonly MarkdownBlock[]): string {
  return blocks.map(blockText).join('\n\n')
}

/** For a platform without markup. */
export const plainForm: MarkdownRenderer = {
  render(blocks) {
    const text = plainText(blocks)
    return { text, plain: text }
  },
}

export function inlineText(nodes: readonly MarkdownInline[]): string {
  return nodes.map(nodeText).join('')
}

/** Whether a link's text is its address already. */
export function isBare(link: Extract<MarkdownInline, { kind: 'link' }>): boolean {
  const [only, ...more] = link.children
  return more.length === 0 && only?.kind === 'text' && safeHref(only.text) === link.href
}

/** Returns the mark before an item. */
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

/** Joins blocks with empty lines, without blocks that show nothing. */
export function stackBlocks(
  blocks: readonly MarkdownBlock[],
  inside: (block: MarkdownBlock) => string,
): string {
  return blocks
    .map(inside)
    .filter((text) => text !== '')
    .join('\n\n')
}

/** Wraps a text in marks that must not touch a space. Spaces at its ends stay outside. */
export function inMarks(mark: string, text: string): string {
  const inside = text.trim()
  if (inside === '') return text
  const before = text.slice(0, text.length - text.trimStart().length)
  return `${before}${mark}${inside}${mark}${text.slice(before.length + inside.length)}`
}

/** Renders the items below each other, each with its mark. `inside` renders the content, which is indented. */
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
