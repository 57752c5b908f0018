// From text to a YAML document in parts: words are read a few thousand at a time, and long lists are composed lot by lot.
import {
  Composer,
  type CST,
  type Document,
  Lexer,
  type LineCounter,
  type Pair,
  Parser,
  type YAMLMap,
  YAMLParseError,
  type YAMLSeq,
} from 'yaml'

/** Words of the text that are read between two pauses: some milliseconds. */
const WORDS_AT_A_TIME = 2_000

/** The one document of the text. Yields after every part of a large one. */
export function* documentSteps(text: string, lines: LineCounter): Generator<void, Document> {
  lines.addNewLine(0)
  const parser = new Parser(lines.addNewLine)
  const options = {
    version: '1.2',
    schema: 'core',
    merge: false,
    uniqueKeys: false,
    lineCounter: lines,
    prettyErrors: false,
    logLevel: 'error',
  } as const
  const composer = new Composer(options)
  const tokens = []
  let words = 0
  for (const word of new Lexer().lex(text)) {
    for (const token of parser.next(word)) tokens.push(token)
    words += 1
    if (words % WORDS_AT_A_TIME === 0) yield
  }
  for (const token of parser.end()) tokens.push(token)
  yield
  const parts = tokens.flatMap(longListsOf)
  const documents: Document[] = []
  for (const token of tokens) for (const one of composer.next(token)) documents.push(one as Document)
  for (const one of composer.end(true, text.length)) documents.push(one as Document)
  yield
  const [first, second] = documents
  if (first && !second) yield* composeLists(first, parts, options)
  if (!first) throw new Error('the text gave no document')
  if (second) {
    const [from, to] = second.range ?? [0, 0]
    first.errors.push(new YAMLParseError([from, to], 'MULTIPLE_DOCS', 'more than one document'))
  }
  return first
}

/** Entries of a list that are composed, or read, between two pauses. */
export const ENTRIES_AT_A_TIME = 100

/** A long list at the top of the file, with the entries that were taken out of it. */
interface LongList {
  /** Its place among the keys of the file. */
  readonly at: number
  readonly token: CST.BlockSequence
  readonly entries: CST.BlockSequence['items']
}

/**
 * A document is composed in one go. What makes one long are its lists: all but the last entry, which tells where the list
 * ends, are taken out here and composed by themselves.
 */
function longListsOf(token: CST.Token): readonly LongList[] {
  if (token.type !== 'document' || token.value?.type !== 'block-map') return []
  return token.value.items.flatMap(({ value }, at) => {
    if (value?.type !== 'block-seq' || value.items.length <= ENTRIES_AT_A_TIME) return []
    return [{ at, token: value, entries: value.items.splice(0, value.items.length - 1) }]
  })
}

/** Puts the entries back, so many at a time, each lot composed as if it stood alone: offsets are those of the whole text. */
function* composeLists(
  document: Document,
  lists: readonly LongList[],
  options: ConstructorParameters<typeof Composer>[0],
): Generator<void> {
  const map = document.contents as unknown as YAMLMap
  for (const { at, token, entries } of lists) {
    const list = (map.items[at] as Pair).value as YAMLSeq
    const last = list.items.splice(0)
    for (let from = 0; from < entries.length; from += ENTRIES_AT_A_TIME) {
      const items = entries.slice(from, from + ENTRIES_AT_A_TIME)
      const offset = items[0]?.start[0]?.offset ?? token.offset
      const alone: CST.Document = { type: 'document', offset, start: [], value: { ...token, offset, items } }
      const composer = new Composer(options)
      for (const one of [...composer.next(alone), ...composer.end(false)]) {
        list.items.push(...((one.contents as unknown as YAMLSeq | null)?.items ?? []))
        document.errors.push(...one.errors)
        document.warnings.push(...one.warnings)
      }
      yield
    }
    list.items.push(...last)
  }
}
