// READER: Markdown (CommonMark and GFM) to a tree of plain data, for every platform and page. The parser is
// markdown-it, which was measured to be linear (docs/decisions/0009). The reader limits what the parser does not: the
// size, the nesting of blocks and marks, and the targets of links. The tree contains no HTML.
import type MarkdownIt from 'markdown-it'
import type { MarkdownBlock } from '../../contract/message/markdown.ts'
import { blocksOf } from './build-blocks.ts'
import { safeHref } from './safe-href.ts'
import type { Token } from './token.ts'

/** UTF-16 units. A longer text is shown as it was written. */
export const MOST_READ = 65_536
/** The nesting of blocks; a list and its item are two levels. Deeper ones are shown as they were written. */
const MOST_LEVELS = 32

/** Addresses may be this many times as long as the text, because one letter can take nine characters. */
const MOST_ADDRESSES = 10

/** Never throws, and loses no visible character. */
export type ReadMarkdown = (text: string) => readonly MarkdownBlock[]

/** `load`: loads the parser's package when the first text is read. */
export function createMarkdownReader(load: () => typeof MarkdownIt): ReadMarkdown {
  let parser: ReturnType<typeof createParser> | null = null
  return (text) => read(text, () => (parser ??= createParser(load())))
}

function read(text: string, parser: () => ReturnType<typeof createParser>): readonly MarkdownBlock[] {
  const clean = text.replace(/\r\n?/g, '\n').replaceAll('\0', '\uFFFD')
  if (clean.trim() === '') return []
  if (clean.length > MOST_READ) return asWritten(clean)
  const env: { references?: Record<string, { title: string; href: string }> } = {}
  const tokens: readonly Token[] = parser().parse(clean, env)
  // The parser leaves out deeper blocks.
  const isTooDeep = tokens.some(({ type, level }) => level + 1 >= MOST_LEVELS && isContainer(type))
  // Rows are filled up to the width of the header with cells that were not written.
  const cells = tokens.filter(({ type }) => type === 'td_open').length
  if (isTooDeep || cells > clean.length) return asWritten(clean)
  // A block that refers to a definition elsewhere cannot be given as its own source.
  const lines = Object.keys(env.references ?? {}).length > 0 ? null : clean.split('\n')
  const blocks = blocksOf(tokens, lines, { left: clean.length * MOST_ADDRESSES })
  // There are only definitions, which show nothing.
  return blocks.length === 0 ? asWritten(clean) : blocks
}

function createParser(Parser: typeof MarkdownIt) {
  const made = new Parser({ html: false, linkify: true })
  made.set({ maxNesting: MOST_LEVELS })
  made.linkify.set({ fuzzyLink: false, fuzzyEmail: false, fuzzyIP: false })
  made.linkify.add('ftp:', null).add('//', null)
  made.validateLink = (url: string) => safeHref(url) !== null
  return made
}

function isContainer(type: string): boolean {
  return type === 'blockquote_open' || type === 'list_item_open'
}

function asWritten(text: string): readonly MarkdownBlock[] {
  return [{ kind: 'code', language: '', text }]
}
