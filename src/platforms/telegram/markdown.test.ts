// Markdown to Telegram's HTML: what agents write, and that no input makes markup that Telegram would refuse.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readTelegramHtml } from '../../testing/emulate.ts'
import { toTelegramHtml, visibleLength } from './markdown.ts'
import { cutToFit, partsOf, placeOf } from './render.ts'

describe('[S7.markdown] [S7.telegram-html] Markdown to HTML', () => {
  it.each([
    ['plain & <b>', 'plain &amp; &lt;b&gt;'],
    ['**bold** and *it* and __b__ and _i_', '<b>bold</b> and <i>it</i> and <b>b</b> and <i>i</i>'],
    ['***both***', '<b><i>both</i></b>'],
    ['*a **b** c*', '<i>a <b>b</b> c</i>'],
    ['**a *b** c*', '<b>a *b</b> c*'],
    ['~~gone~~', '<s>gone</s>'],
    ['snake_case_name and 2 * 3 * 4', 'snake_case_name and 2 * 3 * 4'],
    ['`**no**` and ``a`b``', '<code>**no**</code> and <code>a`b</code>'],
    ['[a *b*](https://x.y/?a=1&b=2)', '<a href="https://x.y/?a=1&amp;b=2">a <i>b</i></a>'],
    ['[x](javascript:alert(1))', '[x](javascript:alert(1))'],
    ['https://x.y/a_b_c_d', 'https://x.y/a_b_c_d'],
    ['\\*not\\*', '*not*'],
    ['# Title', '<b>Title</b>'],
    ['- one\n  - two', '• one\n  • two'],
    ['> a\n> b', '<blockquote>a\nb</blockquote>'],
    ['```js\na < b\n```', '<pre><code class="language-js">a &lt; b</code></pre>'],
    ['```\nopen', '<pre>open</pre>'],
    ['| a | b |\n|---|---|\n| 1 | 2 |', '<pre>| a | b |\n|---|---|\n| 1 | 2 |</pre>'],
    ['---', '---'],
  ])('%j', (markdown, html) => {
    expect(toTelegramHtml(markdown)).toBe(html)
  })

  const spiky = fc.string({
    unit: fc.constantFrom(
      '*',
      '**',
      '_',
      '__',
      '`',
      '```',
      '\n',
      '~~',
      '[',
      ']',
      '(',
      ')',
      'https://a.b',
      '<',
      '>',
      '&',
      '"',
      '\\',
      '#',
      '- ',
      '> ',
      '|',
      ' ',
      'x',
      '😀',
      '\0',
    ),
    maxLength: 60,
  })

  it('never makes markup that Telegram would refuse, and counts as Telegram counts', () => {
    fc.assert(
      fc.property(spiky, (markdown) => {
        const html = toTelegramHtml(markdown)
        const read = readTelegramHtml(html)
        expect(read).not.toHaveProperty('error')
        if ('text' in read) expect(visibleLength(html)).toBe(read.text.length)
      }),
      { numRuns: 2_000 },
    )
  })
})

describe('fitting', () => {
  it('[S7.split-surrogates] [S7.telegram-html] splits what counts double, between characters', () => {
    const parts = partsOf('😀'.repeat(4000))
    expect(parts.length).toBe(2)
    for (const { plain, html } of parts) {
      expect(visibleLength(html)).toBeLessThanOrEqual(4096)
      expect(plain).not.toMatch(/[\uD800-\uDBFF](?![\uDC00-\uDFFF])/)
    }
    expect(parts.map(({ plain }) => plain).join('')).toBe('😀'.repeat(4000))
  })

  it('[S7.split-fences] closes and opens a fence again where it cuts', () => {
    const parts = partsOf(`\`\`\`js\n${'let a = "😀😀😀😀😀😀😀😀😀😀"\n'.repeat(250)}\`\`\``)
    expect(parts.length).toBeGreaterThan(1)
    for (const { html } of parts) {
      expect(html.startsWith('<pre><code class="language-js">')).toBe(true)
      expect(readTelegramHtml(html)).not.toHaveProperty('error')
    }
  })

  it('text of markup alone is still a message', () => {
    expect(partsOf('```\n```')).toEqual([{ plain: '```\n```', html: '```\n```' }])
    expect(partsOf(' ')).toEqual([{ plain: '…', html: '…' }])
  })

  it('cuts an edit to one message', () => {
    const { html } = cutToFit('😀'.repeat(5000))
    expect(visibleLength(html)).toBeLessThanOrEqual(4096)
    expect(html.endsWith('…')).toBe(true)
  })

  it('[S7.telegram-channelname] [F7.send-telegram-name] names chats by id or @name, and topics by number', () => {
    const at = (conversation: string, thread?: string) =>
      placeOf({ integration: 'tg', conversation, ...(thread === undefined ? {} : { thread }) })
    expect(at('@channelname')).toEqual({ chat_id: '@channelname' })
    expect(at('-1001234567890', '42')).toEqual({ chat_id: -1001234567890, message_thread_id: 42 })
    expect(at('-100', '1')).toEqual({ chat_id: -100 })
    expect(() => at('kate')).toThrow(/not a Telegram chat/)
    expect(() => at('1', 'general')).toThrow(/not the id of a Telegram topic/)
  })
})
