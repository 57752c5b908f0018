// The form of our mails: plain text, and HTML from the same tree with a small stylesheet for light and dark. Nothing in
// it is fetched from elsewhere.
import type { MarkdownBlock, MarkdownInline, MarkdownRenderer, TextLimit } from '../../contract/index.ts'
import { inlineText, isBare, plainText, readMarkdown } from '../../kit/markdown/index.ts'

export const TEXT_LIMIT: TextLimit = { size: 100_000, unit: 'code-points' }

const STYLE =
  'body{font:15px/1.5 system-ui,sans-serif;color-scheme:light dark;max-width:44em;margin:0 auto;padding:12px}' +
  'pre,code{font:13px/1.45 ui-monospace,monospace}pre{border:1px solid #8886;border-radius:6px;padding:8px;overflow-x:auto;white-space:pre-wrap}' +
  'blockquote{border-left:3px solid #8886;margin:0;padding-left:12px}table{border-collapse:collapse}th,td{border:1px solid #8886;padding:4px 8px;text-align:left}' +
  'hr{border:0;border-top:1px solid #8886}'

export interface MailBody {
  readonly text: string
  /** Null: it is shown as it is written. */
  readonly html: string | null
}

/** Never throws. A text that shows nothing is sent as it is written. */
export function bodyOf(text: string, plain: boolean): MailBody {
  if (plain) return { text, html: null }
  const blocks = readMarkdown(text)
  const rendered = plainText(blocks)
  if (rendered.trim() === '') return { text, html: null }
  return { text: rendered, html: page(htmlOf(blocks)) }
}

export const emailMarkdown: MarkdownRenderer = {
  render: (blocks) => {
    const plain = plainText(blocks)
    return { text: htmlOf(blocks), plain, counted: plain }
  },
}

function page(body: string): string {
  return `<!doctype html><html><head><meta charset="utf-8"><meta name="color-scheme" content="light dark"><style>${STYLE}</style></head><body>${body}</body></html>`
}

function escapeHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
}

function htmlOf(blocks: readonly MarkdownBlock[]): string {
  return blocks.map(blockHtml).join('\n')
}

function blockHtml(block: MarkdownBlock): string {
  switch (block.kind) {
    case 'paragraph':
      return `<p>${inlineHtml(block.children)}</p>`
    case 'heading': {
      const level = Math.min(6, Math.max(1, block.level))
      return `<h${level}>${inlineHtml(block.children)}</h${level}>`
    }
    case 'code':
      return `<pre><code>${escapeHtml(block.text)}</code></pre>`
    case 'quote':
      return `<blockquote>${htmlOf(block.children)}</blockquote>`
    case 'list': {
      const items = block.items.map((item) => {
        const mark = item.checked === undefined ? '' : item.checked ? '☑ ' : '☐ '
        return `<li>${mark}${itemHtml(item.children)}</li>`
      })
      return block.ordered
        ? `<ol start="${block.start}">${items.join('')}</ol>`
        : `<ul>${items.join('')}</ul>`
    }
    case 'table':
      return `<table><thead>${rowHtml('th', block.header)}</thead><tbody>${block.rows.map((row) => rowHtml('td', row)).join('')}</tbody></table>`
    case 'rule':
      return '<hr>'
  }
}

/** A single paragraph stands in its item without a margin. */
function itemHtml(children: readonly MarkdownBlock[]): string {
  const [first, ...rest] = children
  if (first?.kind !== 'paragraph') return htmlOf(children)
  return inlineHtml(first.children) + htmlOf(rest)
}

function rowHtml(tag: 'th' | 'td', cells: readonly (readonly MarkdownInline[])[]): string {
  return `<tr>${cells.map((cell) => `<${tag}>${inlineHtml(cell)}</${tag}>`).join('')}</tr>`
}

const TAGS = { strong: 'strong', emphasis: 'em', strike: 's' } as const

function inlineHtml(nodes: readonly MarkdownInline[]): string {
  return nodes.map(nodeHtml).join('')
}

function nodeHtml(node: MarkdownInline): string {
  switch (node.kind) {
    case 'text':
      return escapeHtml(node.text)
    case 'code':
      return `<code>${escapeHtml(node.text)}</code>`
    case 'break':
      return '<br>'
    // Shown as a link, so that reading the mail fetches nothing.
    case 'image':
      return linkHtml(node.href, escapeHtml(node.alt === '' ? node.href : node.alt))
    case 'link': {
      const label = isBare(node) ? escapeHtml(inlineText(node.children)) : inlineHtml(node.children)
      return linkHtml(node.href, label === '' ? escapeHtml(node.href) : label)
    }
    default:
      return `<${TAGS[node.kind]}>${inlineHtml(node.children)}</${TAGS[node.kind]}>`
  }
}

function linkHtml(href: string, label: string): string {
  return href === '' ? label : `<a href="${escapeHtml(href)}">${label}</a>`
}
