// Markdown as the page reads it: a small subset, and nothing in it that could run, load or lead astray.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Block, type Inline, parseMarkdown, safeHref } from '../../web/shared/markdown.ts'
import { oneLine, revealHidden } from '../../web/shared/text.ts'

/** A short form to compare by: b(bold) a<href>(label) … */
function show(blocks: readonly Block[]): string {
  return blocks.map(block).join(' | ')
}
function block(node: Block): string {
  switch (node.t) {
    case 'p':
      return line(node.c)
    case 'h':
      return `h${node.level}(${line(node.c)})`
    case 'pre':
      return `pre${node.lang === '' ? '' : `.${node.lang}`}[${node.v}]`
    case 'quote':
      return `quote(${show(node.c)})`
    case 'list':
      return `${node.ordered ? `ol${node.start}` : 'ul'}(${node.items.map(show).join('; ')})`
    case 'hr':
      return 'hr'
  }
}
function line(nodes: readonly Inline[]): string {
  return nodes
    .map((node) => {
      if (node.t === 'text') return node.v
      if (node.t === 'br') return '⏎'
      if (node.t === 'code') return `code[${node.v}]`
      return node.t === 'a' ? `a<${node.href}>(${line(node.c)})` : `${node.t}(${line(node.c)})`
    })
    .join('')
}
const md = (text: string) => show(parseMarkdown(text))

describe('what is read', () => {
  it.each([
    ['one\ntwo\n\nthree', 'one⏎two | three'],
    ['**bold** *it* _it_ ~~no~~ __b__', 'b(bold) i(it) i(it) s(no) b(b)'],
    ['**bold *and it***', 'b(bold i(and it))'],
    ['`code **not bold**` ``a`b``', 'code[code **not bold**] code[a`b]'],
    ['snake_case_name and 2*3*4', 'snake_case_name and 2i(3)4'],
    ['a * b * c ** d **', 'a * b * c ** d **'],
    ['\\*not\\* \\`code\\`', '*not* `code`'],
    ['# One\n### Three ###', 'h1(One) | h3(Three)'],
    ['#hashtag', '#hashtag'],
    ['- a\n- b\n  - c\n\n  more', 'ul(a; b | ul(c) | more)'],
    ['3. a\n4. b', 'ol3(a; b)'],
    ['> a\n> > b\nc', 'quote(a | quote(b)) | c'],
    ['---', 'hr'],
    ['```ts\nconst a = `x`\n```\nafter', 'pre.ts[const a = `x`] | after'],
    ['````\n```\ninner\n```\n````', 'pre[```\ninner\n```]'],
    ['~~~\n```\n~~~', 'pre[```]'],
    ['```\nnever closed\n**x**', 'pre[never closed\n**x**]'],
    ['[docs](https://example.com/a_(b)) x', 'a<https://example.com/a_(b)>(docs) x'],
    ['[**b**](https://e.com "title")', 'a<https://e.com/>(b(b))'],
    ['see https://e.com/x?a=1&b=2. Then', 'see a<https://e.com/x?a=1&b=2>(https://e.com/x?a=1&b=2). Then'],
    ['(https://e.com/x)', '(a<https://e.com/x>(https://e.com/x))'],
    [
      '<https://e.com> <mailto:a@e.com>',
      'a<https://e.com/>(https://e.com) a<mailto:a@e.com>(mailto:a@e.com)',
    ],
    ['[mail](mailto:a@e.com)', 'a<mailto:a@e.com>(mail)'],
    ['', ''],
  ])('%j', (text, shown) => {
    expect(md(text)).toBe(shown)
  })
})

describe('[I3.web-markdown-safe] [I3.inject-body] what stays text', () => {
  it.each([
    '<script>alert(1)</script>',
    '<img src=x onerror=alert(1)>',
    '<a href="javascript:alert(1)">x</a>',
    '<iframe srcdoc="<script>alert(1)</script>">',
    '<style>*{display:none}</style>',
    '&lt;script&gt;',
    '[x](javascript:alert(1))',
    '[x](JaVaScRiPt:alert(1))',
    '[x](data:text/html,<script>alert(1)</script>)',
    '[x](vbscript:msgbox)',
    '[x](file:///etc/passwd)',
    '[x](blob:null)',
    '[x](//evil.example)',
    '[x](/chat/logout)',
    '[x](#ticket=1)',
    '<javascript:alert(1)>',
    '![x](https://e.com/track.png)'.slice(1).replace('https', 'ftp'),
  ])('%j', (text) => {
    expect(parseMarkdown(text)).toEqual([{ t: 'p', c: [{ t: 'text', v: text }] }])
  })

  it('no image is ever loaded', () => {
    expect(md('![x](https://e.com/track.png)')).toBe('!a<https://e.com/track.png>(x)')
  })

  it.each([
    ['java\nscript:alert(1)', null],
    ['java\tscript:alert(1)', null],
    [' javascript:alert(1)', null],
    ['\u0001javascript:alert(1)', null],
    ['https:evil.example', 'https://evil.example/'],
    ['HTTPS://E.com', 'https://e.com/'],
    ['data:,x', null],
    ['', null],
  ])('an address %j leads to %j', (raw, href) => {
    expect(safeHref(raw)).toBe(href)
  })

  it('whatever comes, links lead only to http, https and mailto, and no character is invented', () => {
    const pieces = fc.constantFrom(
      ...['*', '**', '_', '`', '```', '[', ']', '(', ')', '<', '>', '\n', ' ', '\\', '#', '- ', '1. ', '~~'],
      ...['javascript:', 'data:', 'https://e.com', 'mailto:', 'a', '"', '&', '\u202e', '\ud83d\ude42'],
    )
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 60 }), (parts) => {
        const text = parts.join('')
        const allowed = `${text} ` // a line break inside code is a space
        const walk = (nodes: readonly (Block | Inline)[]): void => {
          for (const node of nodes) {
            if (node.t === 'a') expect(node.href).toMatch(/^(https?:\/\/|mailto:)/)
            if (node.t === 'list') for (const item of node.items) walk(item)
            else if ('c' in node) walk(node.c)
            else if ('v' in node) for (const char of node.v) expect(allowed).toContain(char)
          }
        }
        walk(parseMarkdown(text))
      }),
      { numRuns: 500 },
    )
  })

  it('huge and hostile input takes no time', () => {
    const hostile = [
      '*a ',
      '**a ',
      '[',
      '[a](',
      '`',
      '``` ',
      '> ',
      '- ',
      '_a',
      '~~x ',
      '<http://',
      'https://a)',
      '\\',
      '#',
    ]
    for (const piece of hostile) {
      const started = performance.now()
      parseMarkdown(piece.repeat(Math.floor(99_000 / piece.length)))
      parseMarkdown(`${piece}\n`.repeat(Math.floor(99_000 / (piece.length + 1))))
      expect(performance.now() - started, piece).toBeLessThan(10_000)
    }
    expect(md('x'.repeat(100_001))).toMatch(/^pre\[x+\]$/)
  })
})

describe('text that a person decides by', () => {
  it.each([
    ['rm\u202E -rf', 'rm⟨U+202E⟩ -rf'],
    ['a\u200Bb\u2066c', 'a⟨U+200B⟩b⟨U+2066⟩c'],
    ['a\u0007\u001b[2Kb\r\n\tc', 'a⟨U+0007⟩⟨U+001B⟩[2Kb⟨U+000D⟩\n\tc'],
    ['tag \u{E0041}\u{E0100}', 'tag ⟨U+E0041⟩⟨U+E0100⟩'],
    ['plain ✅ ünïcode 日本 ❤️', 'plain ✅ ünïcode 日本 ❤️'],
  ])('[I3.inject-tool-input] %j shows what is hidden', (text, shown) => {
    expect(revealHidden(text)).toBe(shown)
  })

  it.each([
    ['Kate', 'Kate'],
    ['Kate\u202Eetak', 'Kate etak'],
    ['a\nb\u200B\u200Bc', 'a b c'],
    ['x'.repeat(100), `${'x'.repeat(79)}…`],
  ])('[I3.inject-name] a name %j is one honest line', (name, shown) => {
    expect(oneLine(name)).toBe(shown)
  })
})
