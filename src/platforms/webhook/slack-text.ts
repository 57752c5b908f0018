// Markdown as a Slack incoming webhook takes it. Nothing in it can ping anybody: every angle bracket is escaped, and
// those that make links are ours.
import type { MarkdownBlock, MarkdownInline, MarkdownRenderer } from '../../contract/index.ts'
import { indented, inlineText, isBare, itemMark, plainText } from '../../kit/markdown/index.ts'

/** Of an incoming webhook, which knows less than a Slack app. */
export const incomingMarkdown: MarkdownRenderer = {
  render: (blocks) => ({ text: slackText(blocks), plain: escapeSlack(plainText(blocks)) }),
}

function slackText(blocks: readonly MarkdownBlock[]): string {
  return blocks.map(blockText).join('\n\n')
}

function escapeSlack(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}

function blockText(block: MarkdownBlock): string {
  switch (block.kind) {
    case 'paragraph':
      return inlines(block.children)
    case 'heading':
      return `*${escapeSlack(inlineText(block.children))}*`
    case 'code':
      return `\`\`\`\n${escapeSlack(block.text)}\n\`\`\``
    case 'quote':
      return `> ${indented(slackText(block.children), '> ')}`
    case 'list':
      return block.items
        .map((item, at) => {
          const inside = item.children.map(blockText).join('\n')
          return itemMark(block, at, item.checked) + indented(inside, '  ')
        })
        .join('\n')
    default:
      return escapeSlack(plainText([block]))
  }
}

function inlines(nodes: readonly MarkdownInline[]): string {
  return nodes.map(inline).join('')
}

const MARKS = { strong: '*', emphasis: '_', strike: '~' } as const

function inline(node: MarkdownInline): string {
  switch (node.kind) {
    case 'text':
      return escapeSlack(node.text)
    case 'code':
      return `\`${escapeSlack(node.text)}\``
    case 'break':
      return '\n'
    case 'link':
      return isBare(node)
        ? `<${linkTarget(node.href)}>`
        : `<${linkTarget(node.href)}|${inlines(node.children)}>`
    case 'image':
      return escapeSlack(node.alt === '' ? node.href : `${node.alt} (${node.href})`)
    default:
      return MARKS[node.kind] + inlines(node.children) + MARKS[node.kind]
  }
}

function linkTarget(href: string): string {
  return escapeSlack(href).replaceAll('|', '%7C')
}
