// Blocks for a chat that has fences, quotes and lists, and neither headings nor tables: a heading is a bold line, a table a
// fence.
import type { MarkdownBlock, MarkdownInline } from '../../contract/index.ts'
import { indented, inlineText, listText, stackBlocks } from './plain-text.ts'
import { textTable } from './text-table.ts'

export interface ChatForm {
  readonly inlines: (nodes: readonly MarkdownInline[]) => string
  readonly bold: (text: string) => string
  /** A text that shows as it is written. */
  readonly literal: (text: string) => string
  /** The same inside of a fence. */
  readonly code: (text: string) => string
  /** In front of what belongs to an item of a list. */
  readonly indent: string
}

export function chatBlocks(form: ChatForm): (blocks: readonly MarkdownBlock[]) => string {
  // Three backticks inside would end it: a mark of no width between them keeps them apart.
  const fenced = (text: string) =>
    text === '' ? '' : `\`\`\`\n${form.code(text).replaceAll('```', '`\u200b`\u200b`')}\n\`\`\``

  const blockText = (block: MarkdownBlock): string => {
    switch (block.kind) {
      case 'paragraph':
        return form.inlines(block.children)
      case 'heading':
        return form.bold(form.literal(inlineText(block.children)).replaceAll('\n', ' '))
      case 'code':
        return fenced(block.text)
      case 'quote':
        return `> ${indented(stackBlocks(block.children, blockText), '> ')}`
      case 'list':
        return listText(block, blockText, form.indent)
      case 'table':
        return fenced(textTable(block))
      case 'rule':
        return '———'
    }
  }
  return (blocks) => stackBlocks(blocks, blockText)
}
