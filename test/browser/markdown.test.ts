// Markdown as the page reads it: a small subset, and nothing in it that could run, load or lead astray.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { MarkdownBlock, MarkdownInline } from '../../src/contract/index.ts'
import { MOST_READ, readMarkdown, safeHref } from '../../src/kit/markdown/index.ts'
import { oneLine, revealHidden } from '../../web/shared/text.ts'

/** A short form to compare by: b(bold) a<href>(label) … */
function show(blocks: readonly MarkdownBlock[]): string {
  return blocks.map(block).join(' | ')
}
function block(node: MarkdownBlock): string {
  switch (node.kind) {
    case 'paragraph':
      return line(node.children)
    case 'heading':
      return `h${node.level}(${line(node.children)})`
    case 'code':
      return `pre${node.language === '' ? '' : `.${node.language}`}[${node.text}]`
    case 'quote':
      return `quote(${show(node.children)})`
    case 'list': {
      const items = node.items.map(({ checked, children }) => {
        const box = checked === undefined ? '' : checked ? '☑' : '☐'
        return box + show(children)
      })
      return `${node.ordered ? `ol${node.start}` : 'ul'}(${items.join('; ')})`
    }
    case 'table':
      return `table<${node.align.join()}>(${[node.header, ...node.rows].map((row) => row.map(line).join(', ')).join('; ')})`
    case 'rule':
      return 'hr'
  }
}
const SHORT = { strong: 'b', emphasis: 'i', strike: 's' } as const
function line(nodes: readonly MarkdownInline[]): string {
  return nodes
    .map((node) => {
      switch (node.kind) {
        case 'text':
          return node.text
        case 'break':
          return '⏎'
        case 'code':
          return `code[${node.text}]`
        case 'image':
          return `img<${node.href}>(${node.alt})`
        case 'link':
          return `a<${node.href}>(${line(node.children)})`
        default:
          return `${SHORT[node.kind]}(${line(node.children)})`
      }
    })
    .join('')
}
const md = (text: string) => show(readMarkdown(text))

describe('[I13.md-tree] what is read', () => {
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
    ['> a\n> > b\n\nc', 'quote(a | quote(b)) | c'],
    ['- [ ] to do\n- [x] done\n- [no] task', 'ul(☐to do; ☑done; [no] task)'],
    ['| a | b |\n|:-|-:|\n| 1 | **2** |\n| 3 |', 'table<left,right>(a, b; 1, b(2); 3, )'],
    ['a<br>b &copy; &lt;', 'a<br>b © <'],
    ['[x]\n\n[x]: https://e.com "t"', 'a<https://e.com/>(x)'],
    ['[x]: https://e.com', 'pre[[x]: https://e.com]'],
    [`${'> '.repeat(50)}deep`, `pre[${'> '.repeat(50)}deep]`],
    ['a@b.c www.e.com //x ftp://e.com', 'a@b.c www.e.com //x ftp://e.com'],
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

describe('[I3.web-markdown-safe] [I3.inject-body] [I13.md-safe-links] what stays text', () => {
  it.each([
    '<script>alert(1)</script>',
    '<img src=x onerror=alert(1)>',
    '<a href="javascript:alert(1)">x</a>',
    '<iframe srcdoc="<script>alert(1)</script>">',
    '<style>*{display:none}</style>',
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
    expect(readMarkdown(text)).toMatchObject([{ kind: 'paragraph', children: [{ kind: 'text', text }] }])
  })

  it('an image is an address and words: none is loaded by the page', () => {
    expect(md('![x](https://e.com/track.png)')).toBe('img<https://e.com/track.png>(x)')
    expect(md('![x](javascript:alert(1))')).toBe('![x](javascript:alert(1))')
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
        // A line break inside code is a space; of what cannot be sent a sign is shown.
        const allowed = `${text} \uFFFD`
        const walk = (nodes: readonly (MarkdownBlock | MarkdownInline)[]): void => {
          for (const node of nodes) {
            if ('href' in node) expect(node.href).toMatch(/^(https?:\/\/|mailto:)/)
            if (node.kind === 'list') for (const item of node.items) walk(item.children)
            else if ('children' in node) walk(node.children)
            else if ('text' in node) for (const char of node.text) expect(allowed).toContain(char)
          }
        }
        walk(readMarkdown(text))
      }),
      { numRuns: 500 },
    )
  })

  it('[I13.md-large] past its size a text is shown as it was written', () => {
    expect(md('x '.repeat(MOST_READ))).toMatch(/^pre\[[x ]+\]$/)
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
