// Renders a tree as Slack's mrkdwn, for apps and for incoming webhooks. Everything active (a mention, a group,
// <!channel>) is escaped: only links are written with angle brackets, and only to http, https or mailto.
import type { MarkdownInline, MarkdownRenderer } from '../../contract/index.ts'
import { chatBlocks } from './chat-blocks.ts'
import { inlineText, inMarks, isBare, plainText } from './plain-text.ts'
import { safeHref } from './safe-href.ts'

export const mrkdwn: MarkdownRenderer = {
  render: (blocks) => ({ text: blocksText(blocks), plain: escapeMrkdwn(plainText(blocks)) }),
  literal(text) {
    const escaped = escapeMrkdwn(text)
    return { text: escaped, plain: escaped }
  },
}

const blocksText = chatBlocks({
  inlines: inlinesText,
  bold: (text) => marked('*', text),
  literal: escapeMrkdwn,
  code: escapeMrkdwn,
  indent: '    ',
})

/** Slack gives a meaning to these three characters only. */
function escapeMrkdwn(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}

function inlinesText(nodes: readonly MarkdownInline[]): string {
  let out = ''
  let words = ''
  const flush = () => {
    out += wordsText(words)
    words = ''
  }
  for (const node of nodes) {
    // Plain text and bare addresses form one run, because `<https://…|label>` is read as both.
    if (node.kind === 'text') words += node.text
    else if (node.kind === 'link' && isWritten(node)) words += inlineText(node.children)
    else {
      flush()
      out += nodeText(node)
    }
  }
  flush()
  return out
}

/** An address that was written bare, with or without Slack's label behind a bar. */
function isWritten(node: Extract<MarkdownInline, { kind: 'link' }>): boolean {
  const [only, ...more] = node.children
  return (
    isBare(node) || (more.length === 0 && only?.kind === 'text' && /^https?:\/\/[^\s|]+\|/.test(only.text))
  )
}

const MRKDWN_LINK = /<((?:https?:\/\/|mailto:)[^\s<>|]{1,2000})\|([^<>|\n]{1,500})>/g

/** Slack's own link syntax becomes a link. Everything else is text. */
function wordsText(text: string): string {
  let at = 0
  let out = ''
  for (const match of text.matchAll(MRKDWN_LINK)) {
    out += escapeMrkdwn(text.slice(at, match.index)) + link(match[1] ?? '', escapeMrkdwn(match[2] ?? ''))
    at = match.index + match[0].length
  }
  return out + escapeMrkdwn(text.slice(at))
}

function nodeText(node: MarkdownInline): string {
  switch (node.kind) {
    case 'text':
      return escapeMrkdwn(node.text)
    case 'code':
      return node.text.trim() === '' ? node.text : `\`${escapeMrkdwn(node.text).replaceAll('`', 'ˋ')}\``
    case 'break':
      return '\n'
    case 'image':
      return link(node.href, escapeMrkdwn(node.alt === '' ? node.href : node.alt))
    case 'link':
      return link(node.href, escapeMrkdwn(inlineText(node.children)))
    case 'strong':
      return marked('*', inlinesText(node.children))
    case 'strike':
      return marked('~', inlinesText(node.children))
    case 'emphasis':
      // In mrkdwn `*x*` is bold and `_x_` italic. Each keeps its written mark.
      return marked(node.mark ?? '*', inlinesText(node.children))
  }
}

/** Slack accepts a mark only without a space inside it, and not around itself. */
function marked(mark: string, text: string): string {
  const inside = text.trim()
  if (inside.startsWith(mark)) return text
  return inMarks(mark, text)
}

function link(href: string, label: string): string {
  const safe = safeHref(href)
  if (safe === null) return label
  const address = safe
    .replaceAll('|', '%7C')
    .replaceAll('<', '%3C')
    .replaceAll('>', '%3E')
    .replaceAll('&', '&amp;')
  const shown = label.replaceAll('|', '¦').replaceAll('\n', ' ').trim()
  return shown === '' || shown === address ? `<${address}>` : `<${address}|${shown}>`
}
