// READER: Markdown (CommonMark and GFM) to a tree of plain data, once for every platform and page. The parser is
// markdown-it, which was measured to be linear (docs/decisions/0009); what it leaves open is bounded here: the size that is
// read at all, how deep blocks and marks may nest, and where links may lead. There is no HTML in the tree.
import type MarkdownIt from 'markdown-it'
import type { MarkdownBlock } from '../../contract/message/markdown.ts'
import { blocksOf } from './build-blocks.ts'
import { safeHref } from './safe-href.ts'
import type { Token } from './token.ts'

/** UTF-16 units. Past this nobody reads it as prose: it is shown as it was written. */
export const MOST_READ = 65_536
/** Levels of blocks in each other; a list and its item are two. Deeper ones are shown as they were written. */
const MOST_LEVELS = 32

/** Addresses may be this many times as long as the text: a letter in one can take nine characters. */
const MOST_ADDRESSES = 10

/** Never throws, and loses no character that would be seen. */
export type ReadMarkdown = (text: string) => readonly MarkdownBlock[]

/** `load`: the parser's package, asked for when the first text is read. */
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
  // What is nested deeper was left out by the parser.
  const isTooDeep = tokens.some(({ type, level }) => level + 1 >= MOST_LEVELS && isContainer(type))
  // Cells that nobody wrote: rows are filled up to the width of the header.
  const cells = tokens.filter(({ type }) => type === 'td_open').length
  if (isTooDeep || cells > clean.length) return asWritten(clean)
  // What refers to a definition elsewhere says something else by itself.
  const lines = Object.keys(env.references ?? {}).length > 0 ? null : clean.split('\n')
  const blocks = blocksOf(tokens, lines, { left: clean.length * MOST_ADDRESSES })
  // Nothing but definitions: nothing would be seen.
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
