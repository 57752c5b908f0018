// Texts and trees that took a reader, a renderer or a splitter more than linear time, or are likely to.
import type { MarkdownBlock, MarkdownInline } from '../../contract/index.ts'

type Family = (size: number) => string

const again =
  (piece: string): Family =>
  (size) =>
    piece.repeat(Math.ceil(size / piece.length)).slice(0, size)

/** Repeats `a`, then repeats `b` as often. */
const around =
  (a: string, b: string): Family =>
  (size) => {
    const times = Math.floor(size / (a.length + b.length))
    return a.repeat(times) + b.repeat(times)
  }

const after =
  (head: string, piece: string, tail = ''): Family =>
  (size) =>
    head + again(piece)(size) + tail

const growing =
  (line: (at: number) => string): Family =>
  (size) => {
    let text = ''
    for (let at = 1; text.length < size; at += 1) text += line(at)
    return text.slice(0, size)
  }

const REPEATED = [
  ...['*a **b ', '*a_', '*', 'a**b', '*_~~a ', '_a __b ', '~', '~~a ~b ', '**', '_', '__a', '*a*', '***a'],
  ...[
    '[',
    '![[',
    '[a](',
    '[a](<b',
    '[a]',
    '[a][',
    '[]()',
    '[a](b "c',
    ']',
    '[\\',
    '![',
    '](',
    '[a]:',
    '[^a]',
    '[^a]: b\n',
  ],
  ...[
    '<',
    '<a ',
    '<a b="c',
    '<!--',
    '<![CDATA[',
    '<?',
    '<!A ',
    '<http://a',
    '<a@b',
    '<div>\n\n',
    '<a b=c\n',
    '</',
  ],
  ...['`', '`a``b', '``` ` ', '```\n', '```a`\n', '~~~\na\n', `${'`'.repeat(80)}\n`],
  ...[
    '> ',
    '>',
    '> > > a\n',
    '> ```\n> a\n',
    '- ',
    '- a\n',
    '1. ',
    '1) a\n',
    '- a\n\n',
    '- [ ] a\n',
    '* a\n+ b\n',
    '- > ',
  ],
  ...['|', '|\n', '|a|\n|-\n', '|-|\n', 'a | b\n', '|a|b|\n|-|-|\n|c|d|\n\n'],
  ...[
    ' ',
    '\t',
    '\n',
    ' \n',
    'a',
    'a ',
    'a\n',
    'a  \n',
    '#',
    '# a\n',
    '-',
    '-\n',
    'a\n=\n',
    '\\',
    '\\*',
    '&',
    '&amp;',
    '&#x',
  ],
  ...[
    '!',
    ':',
    '😀',
    '\0',
    '\ud800',
    'a\u00a0',
    '    a\n',
    '    a\n\n\n',
    '\r',
    '\u202e',
    '\u0301',
    '"',
    "'",
    '=',
    '+',
    '.',
  ],
  ...[
    '[a]: b\n',
    '[a]: <b\n',
    '[a]: b "c\n',
    'http://',
    'http://a.b ',
    'www.',
    'a@',
    'a@b.c ',
    'http://a.b?',
    'mailto:a@',
    'h',
  ],
]

/** Texts of at most about `size` characters. */
export const HOSTILE_TEXTS: Readonly<Record<string, Family>> = {
  ...Object.fromEntries(REPEATED.map((piece) => [JSON.stringify(piece), again(piece)])),
  'a heading, spaces, a letter': after('# a', ' ', 'b'),
  'a heading of marks': after('# ', '# ', 'a'),
  'spaces at the end of a line': after('a', ' ', '\nb'),
  'stars and spaces': after('', '* ', 'a'),
  'emphasis in emphasis': around('*a ', ' b*'),
  'strong in strong': around('**a ', ' b**'),
  'links in links': around('[a ', '](https://b.c) '),
  'images in images': around('![a ', '](https://b.c)'),
  'brackets in brackets': around('[', ']'),
  'parentheses in a link': (size) => `[a](${around('(', ')')(size)}`,
  'a link that never ends': after('[a](b', ' '),
  'a tag that never ends': after('<a ', 'b="c" '),
  'an open fence': after('```\n', 'a\n'),
  'an open fence and almost its end': after('````a\n', '```\n'),
  'a long info': after('```', 'a'),
  'a long underline': after('a\n', '='),
  'runs of backticks that grow': growing((at) => `${'`'.repeat(at)}a `),
  'quotes that grow': growing((at) => `${'>'.repeat(at)}a\n`),
  'lists that grow': growing((at) => `${' '.repeat(2 * at)}- a\n`),
  'deep, then lazy': (size) => `${'>'.repeat(30)}a\n${again('a\n')(size)}`,
  'too deep, then lazy': (size) => `${again('>')(size / 2)}a\n${again('a\n')(size / 2)}`,
  'a deep list, then empty lines': (size) => `${'- '.repeat(12)}a\n${again('\n')(size)}b`,
  'a list, then empty lines': after('- a\n', '\n', 'b'),
  'lists in lists': after('- a\n', '  - b\n    - c\n'),
  'a table of many rows': after('|a|b|\n|-|-|\n', '|c|d|\n'),
  'a table of many columns': (size) => `${again('|a')(size / 2)}|\n${again('|-')(size / 2)}|\n`,
  'many columns and rows that lack them': (size) =>
    `${again('|a')(size / 3)}|\n${again('|-')(size / 3)}|\n${again('b\n')(size / 3)}`,
  'one wide cell and many rows': (size) =>
    `|${'a'.repeat(size / 2)}|b|\n|-|-|\n${again('|c|d|\n')(size / 2)}`,
  definitions: growing((at) => `[a${at}]: https://b.c\n`),
  'a definition used often': after('[a]: https://b.c\n\n', '[a] '),
  'a long definition used often': (size) =>
    `[a]: https://b.c/${'x'.repeat(size / 2)}\n\n${again('[a] ')(size / 2)}`,
  'an address and parentheses': after('http://a.b/', ')'),
  'an address and entities': after('http://a.b/', '&amp;'),
  'an address and dots': after('http://a.b/', '.'),
  'a name without an end': after('', 'a.', '@'),
}

// ---- trees ------------------------------------------------------------------------------------------------

const words = (text: string): MarkdownInline => ({ kind: 'text', text })
const many = <T>(size: number, make: (at: number) => T): readonly T[] =>
  Array.from({ length: size }, (_, at) => make(at))
const said = (text: string): MarkdownBlock => ({ kind: 'paragraph', children: [words(text)] })

/** Nests marks as deeply as the reader allows. */
function marked(text: string): MarkdownInline {
  let node = words(text)
  for (const kind of ['strong', 'emphasis', 'strike', 'strong', 'emphasis'] as const)
    node = { kind, children: [node] }
  return { kind: 'link', href: 'https://e.com/', children: [node] }
}

function nested(text: string, depth: number): MarkdownBlock {
  let block = said(text)
  for (let level = 0; level < depth; level += 1)
    block =
      level % 2 === 0
        ? { kind: 'quote', children: [block] }
        : { kind: 'list', ordered: level % 4 === 1, start: 7, items: [{ children: [block], checked: true }] }
  return block
}

/** Trees of about `size` characters or nodes. */
export const HOSTILE_TREES: Readonly<Record<string, (size: number) => readonly MarkdownBlock[]>> = {
  ...Object.fromEntries(
    [
      'a',
      ' ',
      '\n',
      '<',
      '>',
      '&',
      '"',
      '*',
      '_',
      '`',
      '~',
      '|',
      '[',
      '\\',
      '@',
      '#',
      '😀',
      '\ud800',
      '<a',
      '&a',
    ].map((piece) => [`a text of ${JSON.stringify(piece)}`, (size: number) => [said(piece.repeat(size))]]),
  ),
  'many paragraphs': (size) => many(size, (at) => said(`p${at}`)),
  'many rules': (size) => many(size, () => ({ kind: 'rule' })),
  'many marks': (size) => [{ kind: 'paragraph', children: many(size / 8, (at) => marked(`m${at}`)) }],
  'many breaks': (size) => [{ kind: 'paragraph', children: many(size, () => ({ kind: 'break' })) }],
  'a long code': (size) => [{ kind: 'code', language: 'x"<&', text: '<`\n'.repeat(size / 3) }],
  'many codes': (size) => many(size / 4, () => ({ kind: 'code', language: '', text: '' })),
  'many images': (size) => [
    {
      kind: 'paragraph',
      children: many(size / 4, () => ({ kind: 'image', href: 'https://e.com/', alt: '' })),
    },
  ],
  'a deep text': (size) => [nested('a\n'.repeat(size / 2), 30)],
  'many deep texts': (size) => many(size / 30, () => nested('a', 30)),
  'a long list': (size) => [
    { kind: 'list', ordered: true, start: 999_999_999, items: many(size, () => ({ children: [] })) },
  ],
  'a long table': (size) => [
    { kind: 'table', align: [null], header: [[words('h')]], rows: many(size, (at) => [[words(String(at))]]) },
  ],
  'a wide table': (size) => [
    { kind: 'table', align: many(size, () => null), header: many(size, () => [words('h')]), rows: [] },
  ],
  'one wide cell and many rows': (size) => [
    {
      kind: 'table',
      align: ['left', null],
      header: [[words('h'.repeat(size))], [words('n')]],
      rows: many(size / 4, () => [[words('x')], [words('y')]]),
    },
  ],
}

// ---- runs -------------------------------------------------------------------------------------------------

/** Marks of Markdown and of platforms, and everything that some pattern treats as a space or a line end. */
const PIECES = [
  ...'*_~`\\<>()[]{}|.-+=#&@!:"1a',
  ...[' ', '\t ', '\n', '\r', '\r\n', '\v', '\f', '\0', '\u0085', '\u00a0', '\u2003'],
  ...['\u2028', '\u2029', '\u2028 ', '\u200b', '\ufeff', '\u0301', '😀'],
]
const RUN = 20_000
const MEGABYTE = 1_000_000
/**
 * The limit of processor time for one of `HOSTILE_RUNS`. It is ten times the usual time, and a fifth of the time that a
 * bad pattern takes.
 */
export const MOST_RUN_MS = 4_000

/** Puts each piece into every node that holds a text: at its start, within a line and at the start of a line. */
export const HOSTILE_RUNS: Readonly<Record<string, () => readonly MarkdownBlock[]>> = {
  ...Object.fromEntries(
    PIECES.map((piece) => [shownPiece(piece), () => everywhere(aroundLetters(piece, RUN))]),
  ),
  'everything, in a megabyte': () => {
    const size = MEGABYTE / PIECES.length / 3
    return everywhere(PIECES.map((piece) => aroundLetters(piece, size)).join(''))
  },
}

function shownPiece(piece: string): string {
  const shown = piece.replace(/[^!-~]/gu, (one) => `\\u{${one.codePointAt(0)?.toString(16)}}`)
  return `"${shown}"`
}

function aroundLetters(piece: string, size: number): string {
  const run = piece.repeat(size / piece.length)
  return `${run}a${run}b\n${run}c`
}

function everywhere(text: string): readonly MarkdownBlock[] {
  const inlines: readonly MarkdownInline[] = [
    words(text),
    { kind: 'code', text },
    ...(['strong', 'emphasis', 'strike'] as const).map((kind) => ({ kind, children: [words(text)] })),
    { kind: 'link', href: 'https://e.com/', children: [words(text)] },
    { kind: 'link', href: `https://e.com/${text}`, children: [words('here')] },
    { kind: 'image', href: 'https://e.com/', alt: text },
  ]
  return [
    ...inlines.map((node) => ({ kind: 'paragraph', children: [node] }) as const),
    { kind: 'heading', level: 1, children: [words(text)] },
    { kind: 'code', language: text, text },
  ]
}
