// A configuration file as it may be printed: what is known not to be a secret is shown as it stands, the rest is masked.
// A text that is not sound YAML shows its signs and the keys that we know, and no value.
import { CST, Lexer } from 'yaml'
import { formatPath, type Path } from '../problem.ts'
import { MASK, shownName } from './shown-names.ts'
import { type KnownKeys, unmaskedSteps } from './unmasked-ranges.ts'
import type { YamlText } from './yaml-text.ts'

export interface FileView {
  /**
   * The line of a place and where its caret stands. `named`: the key that stands there, as the message shows it.
   */
  excerpt(
    line: number,
    column: number,
    named: string | null,
  ): { readonly excerpt: string; readonly caret: number }
  /** Whether the value at a place is shown. */
  shows(line: number, column: number): boolean
  /** A message, or the path that it is about, without names that may be secrets: in a sound file those that are lent. */
  said(message: string, path: Path): string
  path(path: Path): string
  lines(most: number): readonly string[]
}

interface Span {
  readonly from: number
  readonly to: number
  /** Null: as it stands. */
  readonly as: string | null
}

const COMMENT = '# …'
const SIGNS: ReadonlySet<string | null> = new Set([
  'doc-start',
  'doc-end',
  'seq-item-ind',
  'explicit-key-ind',
  'map-value-ind',
  'flow-map-start',
  'flow-map-end',
  'flow-seq-start',
  'flow-seq-end',
  'comma',
])

/** Words that are read between two pauses. */
const WORDS_AT_A_TIME = 2_000
const SHOWN_CHARS = 160
/** Of a long line, what is looked at on each side of a place. */
const AROUND = 400
const WIDEST = 2 * AROUND

export function* fileViewSteps(text: string, yaml: YamlText, keys: KnownKeys): Generator<void, FileView> {
  const isSound = yaml.problems.length === 0
  const harmless = isSound ? yield* unmaskedSteps(yaml.root, text, keys) : null
  const spans = yield* spansOf(text, harmless?.ranges ?? null, keys)
  // Names of the file's own may be values then.
  const isOpen = harmless !== null && !harmless.lendsSecrets
  const starts = [0]
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) starts.push(at + 1)
  const endOf = (line: number) => (starts[line] ?? text.length + 1) - 1
  const offsetOf = (line: number, column: number) => (starts[line - 1] ?? text.length) + column - 1
  return {
    excerpt(line, column, named) {
      const at = offsetOf(line, column)
      const from = Math.max(starts[line - 1] ?? text.length, at - AROUND)
      const to = Math.min(endOf(line), at + AROUND)
      if (text.slice(from, to).trim() === '') return { excerpt: '', caret: column }
      const within = spansWithin(spans, from, to)
      const { out, caret } = rendered(text, isOpen ? withKey(within, named, at, text) : within, {
        from,
        to,
        at,
      })
      return cut(out, caret)
    },
    shows: (line, column) => harmless?.ranges.has(offsetOf(line, column)) ?? false,
    said: (message, path) => (isOpen ? message : withoutValues(message, path, keys)),
    path: (path) => formatPath(isOpen ? path : path.map((part) => (isKnown(part, keys) ? part : MASK))),
    lines: (most) =>
      starts.slice(0, most).map((from, index) => {
        const to = Math.min(endOf(index + 1), from + WIDEST)
        return cut(rendered(text, spansWithin(spans, from, to), { from, to, at: from }).out, 1).excerpt
      }),
  }
}

/** What may be shown, in order. `ranges`: the words that may be; null: keys that are known, wherever they seem to stand. */
function* spansOf(
  text: string,
  ranges: ReadonlyMap<number, number> | null,
  keys: KnownKeys,
): Generator<void, readonly Span[]> {
  const spans: Span[] = []
  let offset = 0
  let words = 0
  let isScalar = false
  let key: Span | null = null
  for (const source of new Lexer().lex(text)) {
    const type: string | null = isScalar ? 'scalar' : CST.tokenType(source)
    words += 1
    if (words % WORDS_AT_A_TIME === 0) yield
    if (!isScalar && (type === 'scalar' || type === 'doc-mode' || type === 'flow-error-end')) {
      isScalar = type === 'scalar'
      continue
    }
    isScalar = false
    // Nothing is shown behind a place where the words do not stand as they do in the text.
    if (!text.startsWith(source, offset)) break
    const from = offset
    offset += source.length
    if (type === 'map-value-ind' && key !== null) spans.push(key)
    if (type !== 'space') key = null
    if (type === 'comment') spans.push({ from, to: offset, as: COMMENT })
    else if (SIGNS.has(type)) spans.push({ from, to: offset, as: null })
    else if (ranges === null) {
      const isKnown = type?.endsWith('scalar') && keys.has(source.replace(/^(["'])(.*)\1$/, '$2'))
      if (isKnown) key = { from, to: offset, as: null }
    } else {
      const to = ranges.get(from) ?? from
      if (to > from && to <= offset) spans.push({ from, to, as: null })
    }
  }
  return spans
}

function spansWithin(spans: readonly Span[], from: number, to: number): readonly Span[] {
  let low = 0
  let high = spans.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((spans[middle]?.to ?? 0) <= from) low = middle + 1
    else high = middle
  }
  const within: Span[] = []
  for (let at = low; (spans[at]?.from ?? to) < to; at++) within.push(spans[at] as Span)
  return within
}

/** Some more: the key at this place, as far as it is a name. */
function withKey(spans: readonly Span[], key: string | null, at: number, text: string): readonly Span[] {
  const from = /["']/.test(text[at] ?? '') ? at + 1 : at
  const name = (key ?? '').replace(/…$/, '')
  if (name === '' || !text.startsWith(name, from) || spans.some((one) => one.from <= from && one.to > from))
    return spans
  return [...spans, { from, to: from + name.length, as: null }].sort((a, b) => a.from - b.from)
}

interface Window {
  readonly from: number
  readonly to: number
  /** Where the caret is to stand. */
  readonly at: number
}

function rendered(text: string, spans: readonly Span[], { from, to, at }: Window) {
  let out = ''
  let caret = 0
  let last = from
  const add = (until: number, shown: string, column: number) => {
    if (caret === 0 && at < until) caret = out.length + column + 1
    out += shown
    last = until
  }
  const blank = (until: number) => add(until, ' '.repeat(until - last), Math.max(0, at - last))
  /** Between two words that are shown: blanks stay, so that what stands where is seen. */
  const gap = (until: number) => {
    const hidden = text.slice(last, until)
    const first = hidden.search(/[^ \t\r]/)
    if (first === -1) return blank(until)
    const end = last + hidden.replace(/(?<![ \t\r])[ \t\r]+$/, '').length
    blank(last + first)
    add(end, MASK, 0)
    blank(until)
  }
  for (const span of spans) {
    if (span.from > last) gap(span.from)
    const until = Math.min(span.to, to)
    if (until > last)
      add(until, span.as ?? text.slice(last, until), span.as === null ? Math.max(0, at - last) : 0)
  }
  if (to > last) gap(to)
  return { out: out.trimEnd(), caret: caret === 0 ? out.trimEnd().length + 1 : caret }
}

function cut(out: string, caret: number): { readonly excerpt: string; readonly caret: number } {
  if (out.length <= SHOWN_CHARS) return { excerpt: out, caret }
  if (caret < SHOWN_CHARS) return { excerpt: `${out.slice(0, SHOWN_CHARS)}…`, caret }
  const from = caret - SHOWN_CHARS / 2
  const end = from + SHOWN_CHARS
  return { excerpt: `…${out.slice(from, end)}${end < out.length ? '…' : ''}`, caret: caret - from + 1 }
}

const isKnown = (part: string | number, keys: KnownKeys) => typeof part === 'number' || keys.has(part)

/** Names that are quoted may be values, and so may keys: only those that are known words stay. */
function withoutValues(message: string, path: Path, keys: KnownKeys): string {
  const unknown = path.filter((part) => !isKnown(part, keys)).map((part) => shownName(String(part)))
  const said = unknown
    .reduce((left, name) => left.replaceAll(name, MASK), message)
    .replace(/"([^"]*)"/g, (all, name: string) => (keys.has(name) ? all : `"${MASK}"`))
  // The label of a rate limit (issues.ts) names a server without quotes.
  const [label = '', server] = said.split('[server=')
  return server === undefined ? said : `${label}[server=${MASK}${said.slice(said.lastIndexOf(']'))}`
}
