// Renders a tree in WhatsApp's own form: *bold*, _italic_, ~struck~, `code`, fences, lists and quotes. It has no links,
// headings or tables, and no escape. A zero-width mark keeps text from being read as markup.
import type { MarkdownInline, MarkdownRenderer } from '../../contract/index.ts'
import { chatBlocks, inlineText, inMarks, isBare, plainText } from '../../kit/markdown/index.ts'

export const whatsappMarkdown: MarkdownRenderer = {
  render: (blocks) => ({ text: blocksText(blocks), plain: literal(plainText(blocks)) }),
  literal(text) {
    const apart = literal(text)
    return { text: apart, plain: apart }
  },
}

const blocksText = chatBlocks({
  inlines: inlinesText,
  bold: (text) => marked('*', text),
  literal,
  code: (text) => text,
  indent: '  ',
})

/** Shown as it is written. */
function literal(text: string): string {
  // Three backticks anywhere would begin a fence, so no two stand together.
  const apart = text.replaceAll(/`{2,}/g, (run) => run.split('').join('\u200b'))
  return apart.replaceAll(/(?<=^|[\s\p{P}])[*_~`](?=\S)/gmu, '$&\u200b')
}

function inlinesText(nodes: readonly MarkdownInline[]): string {
  return nodes.map(nodeText).join('')
}

function nodeText(node: MarkdownInline): string {
  switch (node.kind) {
    case 'text':
      return literal(node.text)
    case 'code':
      return node.text.trim() === '' ? node.text : `\`${node.text.replaceAll('`', 'ˋ')}\``
    case 'break':
      return '\n'
    case 'image':
      return node.alt === '' ? node.href : `${literal(node.alt)} (${node.href})`
    case 'link':
      // WhatsApp itself links an address, if it is written unchanged.
      return isBare(node) ? inlineText(node.children) : `${inlinesText(node.children)} (${node.href})`
    case 'strong':
      return marked('*', inlinesText(node.children))
    case 'emphasis':
      return marked('_', inlinesText(node.children))
    case 'strike':
      return marked('~', inlinesText(node.children))
  }
}

/** Marks work only without a space inside them, on one line, and not around themselves. */
function marked(mark: string, text: string): string {
  const inside = text.trim()
  if (inside.startsWith(mark) || inside.includes('\n')) return text
  return inMarks(mark, text)
}
