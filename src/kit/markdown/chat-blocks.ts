// Blocks for a chat that has fences, quotes and lists, but no headings or tables. A heading becomes a bold line, a
// table a fence.
import type { MarkdownBlock, MarkdownInline } from '../../contract/index.ts'
import { indented, inlineText, listText, stackBlocks } from './plain-text.ts'
import { textTable } from './text-table.ts'

export interface ChatForm {
  readonly inlines: (nodes: readonly MarkdownInline[]) => string
  readonly bold: (text: string) => string
  /** Escapes a text so that it is shown as written. */
  readonly literal: (text: string) => string
  /** The same inside a fence. */
  readonly code: (text: string) => string
  /** Stands before the content of a list item. */
  readonly indent: string
}

export function chatBlocks(form: ChatForm): (blocks: readonly MarkdownBlock[]) => string {
  // Three backticks would end the fence. A zero-width mark between them prevents that.
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
