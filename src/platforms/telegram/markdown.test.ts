// Markdown as Telegram's HTML: typical texts of agents, and no input makes markup that Telegram would refuse.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { defined } from '../../contract/index.ts'
import { readMarkdown, splitText } from '../../kit/markdown/index.ts'
import { readTelegramHtml } from '../../testing/emulate.ts'
import { telegramMarkdown } from './markdown.ts'
import { cutOf, placeOf, TEXT_LIMIT, wholeOf } from './render.ts'

const toHtml = (markdown: string) => telegramMarkdown.render(readMarkdown(markdown)).text
const partsOf = (text: string) =>
  splitText({ text }, TEXT_LIMIT, telegramMarkdown).map((part) => wholeOf({ text: part }))
const seen = (html: string) => {
  const read = readTelegramHtml(html)
  if ('error' in read) throw new Error(read.error)
  return read.text
}

describe('[S7.markdown] [S7.telegram-html] Markdown to HTML', () => {
  it.each([
    ['plain & <b>', 'plain &amp; &lt;b&gt;'],
    ['**bold** and *it* and __b__ and _i_', '<b>bold</b> and <i>it</i> and <b>b</b> and <i>i</i>'],
    ['***both***', '<i><b>both</b></i>'],
    ['*a **b** c*', '<i>a <b>b</b> c</i>'],
    ['**a *b** c*', '<i><i>a <i>b</i></i> c</i>'],
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
    ['> a\n> > b', '<blockquote>a\n\n&gt; b</blockquote>'],
    ['- [ ] to do\n- [x] done', '☐ to do\n☑ done'],
    ['3. three\n4. four', '3. three\n4. four'],
    ['| a | b |\n|---|---|\n| 1 | long |', '<pre>a | b\n--|-----\n1 | long</pre>'],
    ['![a cat](https://x.y/cat.png)', '<a href="https://x.y/cat.png">a cat</a>'],
    ['one\ntwo\n\nthree', 'one\ntwo\n\nthree'],
    ['---', '———'],
  ])('%j', (markdown, html) => {
    expect(toHtml(markdown)).toBe(html)
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
        const { text, counted = '' } = telegramMarkdown.render(readMarkdown(markdown))
        expect(counted.length).toBe(seen(text).length)
      }),
      { numRuns: 2_000 },
    )
  })
})

describe('[I13.split-rendered] fitting', () => {
  it('[S7.split-surrogates] [S7.telegram-html] splits what counts double, between characters', () => {
    const parts = partsOf('😀'.repeat(4000))
    expect(parts.length).toBe(2)
    for (const { plain, html } of parts) {
      expect(seen(html).length).toBeLessThanOrEqual(4096)
      expect(plain).not.toMatch(/[\uD800-\uDBFF](?![\uDC00-\uDFFF])/)
    }
    expect(parts.map(({ plain }) => plain).join('')).toBe('😀'.repeat(4000))
  })

  it('[S7.split-fences] closes and opens a fence again where it cuts', () => {
    const parts = partsOf(`\`\`\`js\n${'let a = "😀😀😀😀😀😀😀😀😀😀"\n'.repeat(250)}\`\`\``)
    expect(parts.length).toBeGreaterThan(1)
    for (const { html } of parts) {
      expect(html.startsWith('<pre><code class="language-js">')).toBe(true)
      expect(seen(html).length).toBeLessThanOrEqual(4096)
    }
  })

  it('counts what is seen: a text full of markup and entities is one message', () => {
    const text = Array.from({ length: 500 }, () => '**<a>** & ').join('')
    expect(text.length).toBeGreaterThan(4096)
    expect(partsOf(text)).toHaveLength(1)
    const table = `| a | b |\n|---|---|\n${'| x | a somewhat longer cell |\n'.repeat(60)}| ${'y'.repeat(40)} | z |`
    for (const { html, plain } of partsOf(table.repeat(3)))
      expect(Math.max(seen(html).length, plain.length)).toBeLessThanOrEqual(4096)
  })

  it('text of markup alone is still a message', () => {
    expect(wholeOf({ text: '```\n```' })).toEqual({ plain: '```\n```', html: '```\n```' })
    expect(wholeOf({ text: ' ' })).toEqual({ plain: '…', html: '…' })
  })

  it('cuts words of our own to one message', () => {
    const { html } = cutOf({ text: '😀'.repeat(5000) })
    expect(seen(html).length).toBeLessThanOrEqual(4096)
    expect(html.endsWith('…')).toBe(true)
  })

  it('[S7.telegram-channelname] [F7.send-telegram-name] names chats by id or @name, and topics by number', () => {
    const at = (conversation: string, thread?: string) =>
      placeOf({ integration: 'tg', conversation, ...defined({ thread }) })
    expect(at('@channelname')).toEqual({ chat_id: '@channelname' })
    expect(at('-1001234567890', '42')).toEqual({ chat_id: -1001234567890, message_thread_id: 42 })
    expect(at('-100', '1')).toEqual({ chat_id: -100 })
    expect(() => at('kate')).toThrow(/not a Telegram chat/)
    expect(() => at('1', 'general')).toThrow(/not the id of a Telegram topic/)
  })
})
