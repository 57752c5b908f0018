// Converts the HTML of a mail to Markdown, for mails without a text part. Hidden content is left out, nothing is
// fetched, and depth and length are bounded.
import { compile } from 'html-to-text'
import { Parser } from 'htmlparser2'
import { safeHref } from '../../../kit/markdown/index.ts'

const MOST_HTML = 1_000_000
/** The reader's time grows with the square of the depth. Content below `maxDepth` is not read. */
const MOST_NESTING = 256
const LIMITS = {
  maxDepth: 200,
  maxBaseElements: 1,
  maxChildNodes: 20_000,
  ellipsis: '…',
}

/** What people do not see, a model must not read. */
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
/** The marks of quotes in different clients. */
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
  cell(element, recurse, builder) {
    recurse(element.children, builder)
    builder.addInline(' ')
  },
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
  /** An embedded picture is an attachment. A remote one is never fetched, and only its alternative text is used. */
  picture(element, _recurse, builder) {
    const alt = (element.attribs?.alt ?? '').trim()
    if (alt !== '') builder.addInline(`[image: ${alt.slice(0, 200)}]`)
  },
}

const SELECTORS = [
  { selector: '*', format: 'inline' },
  ...['p', 'div', 'section', 'article', 'header', 'footer', 'main', 'form', 'table', 'tr'].map(
    (selector) => ({
      selector,
      format: 'block',
      options:
        selector === 'p'
          ? { leadingLineBreaks: 2, trailingLineBreaks: 2 }
          : { leadingLineBreaks: 1, trailingLineBreaks: 1 },
    }),
  ),
  { selector: 'br', format: 'lineBreak' },
  { selector: 'hr', format: 'horizontalLine', options: { length: 3 } },
  {
    selector: 'blockquote',
    format: 'blockquote',
    options: { leadingLineBreaks: 2, trailingLineBreaks: 2, trimEmptyLines: true },
  },
  { selector: 'ul', format: 'unorderedList', options: { itemPrefix: '- ' } },
  { selector: 'ol', format: 'orderedList' },
  ...['td', 'th'].map((selector) => ({ selector, format: 'cell' })),
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
  const given = shallow(html.slice(0, MOST_HTML))
  return { whole: tidy(whole(given)), unquoted: tidy(unquoted(given)) }
}

/** The parser keeps a list of these open elements, which the close of an outer element does not shorten. */
const FOREIGN = /^(svg|math|mi|mo|mn|ms|mtext|annotation-xml|foreignobject|desc|title)$/
const MOST_FOREIGN = 2_000

/**
 * Removes elements below a depth that real mails do not reach, and keeps their content. The same parser decides which
 * tags are open and which are closed. Every close is written, so that the result nests no deeper when it is read again.
 * Only `</br>` would add a break.
 */
function shallow(html: string): string {
  const out: string[] = []
  // The number of removed open elements, by name.
  const left = new Map<string, number>()
  let depth = 0
  let foreign = 0
  const parser = new Parser(
    {
      onopentag(name, attribs) {
        depth += 1
        out.push(`<${name}`)
        for (const [key, value] of Object.entries(attribs))
          if (!/["'<>=/]/.test(key)) out.push(` ${key}="${value.replaceAll('"', '&quot;')}"`)
        out.push('>')
      },
      onclosetag(name) {
        depth -= 1
        left.clear()
        if (name !== 'br') out.push(`</${name}>`)
      },
      // Two halves could form a tag when the text between them is removed.
      ontext: (text) => out.push(text.replaceAll('<', '&lt;')),
    },
    { decodeEntities: false },
  )
  const open = parser.onopentagname.bind(parser)
  const close = parser.onclosetag.bind(parser)
  const nameAt = (start: number, end: number) => html.slice(start, end).toLowerCase()
  parser.onopentagname = (start, end) => {
    const name = nameAt(start, end)
    if (FOREIGN.test(name)) foreign += 1
    // Real mails do not have so many. The rest is not read.
    if (foreign > MOST_FOREIGN) return parser.pause()
    if (depth < MOST_NESTING) return open(start, end)
    left.set(name, (left.get(name) ?? 0) + 1)
  }
  parser.onclosetag = (start, end) => {
    const name = nameAt(start, end)
    const count = left.get(name) ?? 0
    if (count === 0) close(start, end)
    else left.set(name, count - 1)
  }
  parser.end(html)
  return out.join('')
}

function tidy(text: string): string {
  return text
    .split('\n')
    .map((line) => line.trimEnd())
    .join('\n')
    .replace(/\n{3,}/g, '\n\n')
    .trim()
}
