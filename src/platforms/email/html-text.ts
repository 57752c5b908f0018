// HTML of a mail as Markdown: for mails without a text of their own. What is hidden from people is left out, nothing remote is
// fetched, and depth and length are bounded.
import { compile } from 'html-to-text'
import { safeHref } from '../../kit/markdown/index.ts'

const MOST_HTML = 1_000_000
/** The reader's work grows with the square of the depth. */
const MOST_NESTING = 256
const LIMITS = {
  maxInputLength: MOST_HTML,
  maxDepth: 200,
  maxBaseElements: 1,
  maxChildNodes: 20_000,
  ellipsis: '…',
}

/** What is not shown to people must not be read by a model. */
const HIDDEN = [
  'script',
  'style',
  'title',
  'head',
  'template',
  'noscript',
  'iframe',
  'object',
  'svg',
  '[hidden]',
  '[aria-hidden="true"]',
  ...[
    'display:none',
    'display: none',
    'visibility:hidden',
    'visibility: hidden',
    'font-size:0',
    'font-size: 0',
    'opacity:0;',
    'opacity: 0;',
    'max-height:0',
    'max-height: 0',
    'mso-hide:all',
    'mso-hide: all',
  ].map((style) => `[style*="${style}" i]`),
]
/** How clients mark what they quote. */
const QUOTES = [
  'div.gmail_quote',
  'div.gmail_quote_container',
  'blockquote[type="cite"]',
  '#divRplyFwdMsg',
  '#appendonsend',
  'div.moz-cite-prefix',
  'div.yahoo_quoted',
  'div.protonmail_quote',
]

interface Element {
  readonly name?: string
  readonly attribs?: Readonly<Record<string, string>>
  readonly children?: readonly unknown[]
}
interface Builder {
  addInline(text: string, options?: object): void
  addLiteral(text: string): void
  openBlock(options: object): void
  closeBlock(options: object): void
  openList(options: object): void
  openListItem(options: object): void
  closeListItem(): void
  closeList(options: object): void
}
type Recurse = (children: readonly unknown[] | undefined, builder: Builder) => void
type Formatter = (element: Element, recurse: Recurse, builder: Builder, options: object) => void

const around =
  (mark: string): Formatter =>
  (element, recurse, builder) => {
    builder.addLiteral(mark)
    recurse(element.children, builder)
    builder.addLiteral(mark)
  }

const FORMATTERS: Readonly<Record<string, Formatter>> = {
  strong: around('**'),
  emphasis: around('_'),
  strike: around('~~'),
  code: around('`'),
  heading(element, recurse, builder) {
    builder.openBlock({ leadingLineBreaks: 2 })
    builder.addLiteral(`${'#'.repeat(Number(element.name?.slice(1)) || 1)} `)
    recurse(element.children, builder)
    builder.closeBlock({ trailingLineBreaks: 2 })
  },
  fence(element, recurse, builder) {
    builder.openBlock({ leadingLineBreaks: 2, isPre: true })
    builder.addLiteral('```\n')
    recurse(element.children, builder)
    builder.addLiteral('\n```')
    builder.closeBlock({ trailingLineBreaks: 2 })
  },
  link(element, recurse, builder) {
    const href = safeHref(element.attribs?.href ?? '')
    if (href === null || href === '') return recurse(element.children, builder)
    builder.addLiteral('[')
    recurse(element.children, builder)
    builder.addLiteral(`](${href.replace(/[()\s]/g, encodeURIComponent)})`)
  },
  /** A picture inside is an attachment; one elsewhere is never fetched, and only its words are told. */
  picture(element, _recurse, builder) {
    const alt = (element.attribs?.alt ?? '').trim()
    if (alt !== '') builder.addInline(`[image: ${alt.slice(0, 200)}]`)
  },
}

const SELECTORS = [
  { selector: '*', format: 'inline' },
  ...['p', 'div', 'section', 'article', 'header', 'footer', 'main', 'form'].map((selector) => ({
    selector,
    format: 'block',
    options:
      selector === 'p'
        ? { leadingLineBreaks: 2, trailingLineBreaks: 2 }
        : { leadingLineBreaks: 1, trailingLineBreaks: 1 },
  })),
  { selector: 'br', format: 'lineBreak' },
  { selector: 'hr', format: 'horizontalLine', options: { length: 3 } },
  {
    selector: 'blockquote',
    format: 'blockquote',
    options: { leadingLineBreaks: 2, trailingLineBreaks: 2, trimEmptyLines: true },
  },
  { selector: 'ul', format: 'unorderedList', options: { itemPrefix: '- ' } },
  { selector: 'ol', format: 'orderedList' },
  { selector: 'table', format: 'table', options: { uppercaseHeaderCells: false } },
  {
    selector: 'table.data',
    format: 'dataTable',
    options: { uppercaseHeaderCells: false, maxColumnWidth: 60 },
  },
  ...['h1', 'h2', 'h3', 'h4', 'h5', 'h6'].map((selector) => ({ selector, format: 'heading' })),
  ...['b', 'strong'].map((selector) => ({ selector, format: 'strong' })),
  ...['i', 'em'].map((selector) => ({ selector, format: 'emphasis' })),
  ...['s', 'del', 'strike'].map((selector) => ({ selector, format: 'strike' })),
  { selector: 'code', format: 'code' },
  { selector: 'pre', format: 'fence' },
  { selector: 'a', format: 'link' },
  { selector: 'img', format: 'picture' },
]

const options = (left: readonly string[]) => ({
  wordwrap: false as const,
  limits: LIMITS,
  formatters: FORMATTERS,
  selectors: [...SELECTORS, ...left.map((selector) => ({ selector, format: 'skip' }))],
})
const whole = compile(options(HIDDEN))
const unquoted = compile(options([...HIDDEN, ...QUOTES]))

export function htmlText(html: string): { readonly whole: string; readonly unquoted: string } {
  const given = withoutDeepTags(html.slice(0, MOST_HTML))
  return { whole: tidy(whole(given)), unquoted: tidy(unquoted(given)) }
}

/** Tags that stand alone, or that the next one of their kind ends. */
const FLAT =
  /^(area|base|br|col|embed|hr|img|input|link|meta|source|track|wbr|p|li|dt|dd|tr|td|th|thead|tbody|tfoot|option)$/

/** Leaves out tags below a depth that no mail of a person has. What stands between them stays. */
function withoutDeepTags(html: string): string {
  let depth = 0
  let left = 0
  return html.replace(
    /<(\/?)([a-z][a-z0-9]{0,20})(?![a-z0-9])[^<>]{0,2000}>/gi,
    (tag, closes: string, name: string) => {
      if (FLAT.test(name.toLowerCase())) return tag
      if (closes === '') {
        if (depth >= MOST_NESTING) {
          left += 1
          return ''
        }
        depth += 1
      } else if (left > 0) {
        left -= 1
        return ''
      } else depth = Math.max(0, depth - 1)
      return tag
    },
  )
}

function tidy(text: string): string {
  return text
    .split('\n')
    .map((line) => line.trimEnd())
    .join('\n')
    .replace(/\n{3,}/g, '\n\n')
    .trim()
}
