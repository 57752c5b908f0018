// Renders a tree in Discord's own Markdown. Everything active (a mention, a channel, a time, an emoji, a spoiler) is
// escaped by construction. Only links have brackets, and they lead to http and https only.
import type { MarkdownBlock, MarkdownInline, MarkdownRenderer } from '../../contract/index.ts'
import {
  indented,
  inlineText,
  inMarks,
  isBare,
  plainText,
  safeHref,
  stackBlocks,
  textTable,
} from '../../kit/markdown/index.ts'

export const discordMarkdown: MarkdownRenderer = {
  render: (blocks) => ({ text: blocksText(blocks), plain: escapeDiscord(plainText(blocks)) }),
  literal(text) {
    const escaped = escapeDiscord(text)
    return { text: escaped, plain: escaped }
  },
}

const SPECIAL = /[\\*_~`|<>[\]()]/g
/** Marks that count only at the beginning of a line. The spaces contain no line break, so each line is read once. */
const LINE_START = /^([^\S\n\r\u2028\u2029]*)(#{1,3}(?=\s)|-#|-(?=\s)|\+(?=\s)|\d{1,9}(?=\.\s))/gm

/** Escapes a text so that it is shown as written. */
export function escapeDiscord(text: string): string {
  const escaped = text.replace(SPECIAL, '\\$&').replace(LINE_START, escapeMark)
  // A backslash before @everyone would be visible in a link, so a zero-width mark breaks it.
  return escaped.replace(/@(everyone|here)/g, '@\u200b$1')
}

function escapeMark(_whole: string, space: string, mark: string): string {
  return /\d/.test(mark) ? `${space}${mark}\\` : `${space}\\${mark}`
}

function blocksText(blocks: readonly MarkdownBlock[]): string {
  return stackBlocks(blocks, blockText)
}

function blockText(block: MarkdownBlock): string {
  switch (block.kind) {
    case 'paragraph':
      return inlinesText(block.children)
    case 'heading': {
      const text = inlinesText(block.children).replaceAll('\n', ' ')
      if (text.trim() === '') return ''
      return block.level <= 3 ? `${'#'.repeat(Math.max(1, block.level))} ${text}` : marked('**', text)
    }
    case 'code':
      return fenced(block.text, block.language)
    case 'quote':
      return `> ${indented(blocksText(block.children), '> ')}`
    case 'list':
      return block.items
        .map((item, at) => {
          const task = item.checked === undefined ? '' : item.checked ? '☑ ' : '☐ '
          const mark = block.ordered ? `${block.start + at}. ` : '- '
          return mark + task + indented(item.children.map(blockText).join('\n'), '  ')
        })
        .join('\n')
    case 'table':
      return fenced(textTable(block), '')
    case 'rule':
      return '———'
  }
}

/** Three backticks inside would end the fence, so zero-width marks separate them. */
function fenced(text: string, language: string): string {
  if (text === '') return ''
  const named = /^[\w+#.-]{1,30}$/.test(language) ? language : ''
  return `\`\`\`${named}\n${text.replaceAll('```', '`\u200b`\u200b`')}\n\`\`\``
}

function inlinesText(nodes: readonly MarkdownInline[]): string {
  return nodes.map(nodeText).join('')
}

function nodeText(node: MarkdownInline): string {
  switch (node.kind) {
    case 'text':
      return escapeDiscord(node.text)
    case 'code':
      return codeText(node.text)
    case 'break':
      return '\n'
    case 'image':
      return link(node.href, escapeDiscord(node.alt))
    case 'link':
      return link(node.href, isBare(node) ? '' : escapeDiscord(inlineText(node.children)))
    case 'strong':
      return marked('**', inlinesText(node.children))
    case 'strike':
      return marked('~~', inlinesText(node.children))
    case 'emphasis':
      return marked('*', inlinesText(node.children))
  }
}

function codeText(text: string): string {
  if (text.trim() === '') return text
  if (!text.includes('`')) return `\`${text}\``
  const inside = text.replaceAll('``', '`\u200b`')
  return `\`\` ${inside} \`\``
}

/** A mark counts only without a space inside it, and not around itself. */
function marked(mark: string, text: string): string {
  const inside = text.trim()
  if (inside.startsWith(mark) || inside.endsWith(mark)) return text
  return inMarks(mark, text)
}

function link(href: string, label: string): string {
  const safe = safeHref(href)
  if (safe === null || !/^https?:/.test(safe)) return label === '' ? escapeDiscord(href) : label
  const address = safe.replace(/[<>()\s*_~|\\`[\]]/g, (one) => encodeURIComponent(one).replace(/^[^%]$/, hex))
  const shown = label.replaceAll('\n', ' ').trim()
  return shown === '' ? address : `[${shown}](${address})`
}

function hex(one: string): string {
  return `%${one.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`
}
