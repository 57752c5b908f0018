// Renders a tree as Telegram's HTML. Tags are closed and nested by construction, and every text is escaped once.
import type { MarkdownBlock, MarkdownInline, MarkdownRenderer } from '../../contract/index.ts'
import { indented, inlineText, isBare, listText, plainText, textTable } from '../../kit/markdown/index.ts'

export const telegramMarkdown: MarkdownRenderer = {
  render(blocks) {
    const text = htmlOf(blocks, false)
    return { text, plain: plainText(blocks), counted: visibleText(text) }
  },
  literal: (text) => ({ text: escapeHtml(text), plain: text, counted: text }),
}

/** Returns the text without tags and entities, which is what Telegram counts. */
export function visibleText(html: string): string {
  return html.replace(/<[^<>]*>/g, '').replace(/&(?:lt|gt|amp|quot);/g, '.')
}

function escapeHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
}

function htmlOf(blocks: readonly MarkdownBlock[], quoted: boolean): string {
  return blocks
    .map((block) => blockHtml(block, quoted))
    .filter((html) => html !== '')
    .join('\n\n')
}

/** `quoted`: Telegram allows no quote inside a quote. */
function blockHtml(block: MarkdownBlock, quoted: boolean): string {
  switch (block.kind) {
    case 'paragraph':
      return inlineHtml(block.children)
    case 'heading':
      return wrapped('b', inlineHtml(block.children))
    case 'code':
      return codeHtml(block.language, block.text)
    case 'quote': {
      const inside = htmlOf(block.children, true)
      return quoted ? `&gt; ${indented(inside, '&gt; ')}` : wrapped('blockquote', inside)
    }
    case 'list':
      return listText(block, (child) => blockHtml(child, quoted), '  ')
    case 'table':
      return wrapped('pre', escapeHtml(textTable(block)))
    case 'rule':
      return '———'
  }
}

function codeHtml(language: string, text: string): string {
  const code = escapeHtml(text)
  if (language === '' || code === '') return wrapped('pre', code)
  return `<pre><code class="language-${escapeHtml(language)}">${code}</code></pre>`
}

function inlineHtml(nodes: readonly MarkdownInline[]): string {
  return nodes.map(nodeHtml).join('')
}

const TAGS = { strong: 'b', emphasis: 'i', strike: 's' } as const

function nodeHtml(node: MarkdownInline): string {
  switch (node.kind) {
    case 'text':
      return escapeHtml(node.text)
    case 'code':
      return wrapped('code', escapeHtml(node.text))
    case 'break':
      return '\n'
    case 'image':
      return linkHtml(node.href, escapeHtml(node.alt === '' ? node.href : node.alt))
    case 'link': {
      // Telegram itself links a bare address.
      if (isBare(node)) return escapeHtml(inlineText(node.children))
      const label = inlineHtml(node.children)
      return linkHtml(node.href, label === '' ? escapeHtml(node.href) : label)
    }
    default:
      return wrapped(TAGS[node.kind], inlineHtml(node.children))
  }
}

function linkHtml(href: string, label: string): string {
  return href === '' ? label : `<a href="${escapeHtml(href)}">${label}</a>`
}

/** Telegram refuses an empty tag. */
function wrapped(tag: string, html: string): string {
  return html === '' ? '' : `<${tag}>${html}</${tag}>`
}
