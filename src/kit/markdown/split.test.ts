// Splitting: nothing lost, nothing over the limit in any unit, every part whole by itself.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type MarkdownRenderer, renderedSize, type TextLimit, textSize } from '../../contract/index.ts'
import { plainText, readMarkdown, sentForm, splitText } from './index.ts'

const points = (size: number): TextLimit => ({ size, unit: 'code-points' })
const units = (size: number): TextLimit => ({ size, unit: 'utf-16' })
const split = (text: string, limit: TextLimit) => splitText({ text }, limit, 'written')
/** Capital letters only, as the platform counts: a form that is longer than what was written. */
const loud: MarkdownRenderer = {
  render: (blocks) => {
    const plain = plainText(blocks)
    return { text: `<all>${plain}</all>`, plain, counted: plain.replaceAll('-', '———') }
  },
  literal: (text) => ({ text: text.replace(/[*`<]/g, '\\$&'), plain: text }),
}
const letters = (text: string) => text.replace(/[^\p{L}\p{N}]+/gu, '')
const said = (text: string) => letters(plainText(readMarkdown(text)))

describe('[S7.split-fences] [S7.split-surrogates] [I13.split-tree] parts', () => {
  it('a text that fits is left as it is; an empty one makes none', () => {
    expect(split('hello', units(5))).toEqual(['hello'])
    expect(split('', units(5))).toEqual([])
    expect(split(' \n ', units(5))).toEqual([])
    expect(split('*a*  b', units(100))).toEqual(['*a*  b'])
  })

  it('prefers paragraphs, then lines, then spaces', () => {
    expect(split('first one\n\nsecond one', units(14))).toEqual(['first one', 'second one'])
    expect(split('first one\nsecond one', units(14))).toEqual(['first one', 'second one'])
    expect(split('alpha beta gamma', units(11))).toEqual(['alpha beta', 'gamma'])
  })

  it('never cuts a surrogate pair, nor a cluster that fits', () => {
    for (const plain of [false, true]) {
      const cut = (text: string, size: number) => splitText({ text, plain }, points(size), 'written')
      expect(cut('😀😀😀😀', 2)).toEqual(['😀😀', '😀😀'])
      expect(cut('ab👩‍👩‍👧cd', 6)).toEqual(['ab', '👩‍👩‍👧c', 'd'])
      expect(cut('x🇳🇴🇸🇪', 4)).toEqual(['x🇳🇴', '🇸🇪'])
      for (const part of cut('👩‍👩‍👧‍👦', 3)) expect(part).not.toMatch(/[\uD800-\uDBFF]$|^[\uDC00-\uDFFF]/)
    }
  })

  it('a fence is closed and opened again with its language, and keeps its lines', () => {
    const code = Array.from({ length: 12 }, (_, line) => `  const line${line} = ${line}\n`).join('\n')
    const parts = split(`Look:\n\n\`\`\`ts\n${code}\n\`\`\`\nDone.`, units(100))
    expect(parts.length).toBeGreaterThan(2)
    const blocks = parts.flatMap((part) => readMarkdown(part))
    const fences = blocks.filter((block) => block.kind === 'code')
    expect(fences.map(({ language }) => language)).toEqual(fences.map(() => 'ts'))
    expect(fences.map(({ text }) => text.replace(/^\n+|\n+$/g, '')).join('\n\n')).toBe(code.trimEnd())
    expect(parts.at(-1)).toMatch(/Done\.$/)
  })

  it('a list goes on with its number, a task with its box', () => {
    const items = Array.from({ length: 10 }, (_, at) => `${at + 3}. item number ${at + 3}`).join('\n')
    const lists = split(items, units(60)).map((part) => readMarkdown(part)[0])
    expect(lists.length).toBeGreaterThan(2)
    let next = 3
    for (const list of lists) {
      if (list?.kind !== 'list') throw new Error('no list')
      expect(list.start).toBe(next)
      next += list.items.length
    }
    const tasks = split('- [x] done long ago and for ever\n- [ ] to be done some other day', units(40))
    expect(tasks).toEqual(['- [x] done long ago and for ever', '- [ ] to be done some other day'])
  })

  it('an item, a quote and emphasis that are cut stay what they are in both parts', () => {
    const words = 'some words that are long enough to be cut'
    expect(split(`7. ${words}`, units(30))).toEqual(['7. some words that are long', '7. enough to be cut'])
    expect(split(`> ${words}`, units(30))).toEqual(['> some words that are long', '> enough to be cut'])
    expect(split(`**${words}**`, units(32))).toEqual(['**some words that are long**', '**enough to be cut**'])
    expect(split(`[${words}](https://e.com)`, units(48))).toEqual([
      '[some words that are long](https://e.com/)',
      '[enough to be cut](https://e.com/)',
    ])
  })

  it('a table is cut between rows, with its header again', () => {
    const rows = Array.from({ length: 9 }, (_, at) => `| row ${at} | ${at} |`).join('\n')
    const parts = split(`| name | n |\n|:--|--:|\n${rows}`, units(80))
    expect(parts.length).toBeGreaterThan(2)
    const tables = parts.map((part) => readMarkdown(part)[0])
    const seen = tables.flatMap((table) => {
      if (table?.kind !== 'table') throw new Error('no table')
      expect(table.align).toEqual(['left', 'right'])
      expect(table.header.map((cell) => cell[0])).toMatchObject([{ text: 'name' }, { text: 'n' }])
      return table.rows.map((row) => row[0]?.[0])
    })
    expect(seen).toMatchObject(Array.from({ length: 9 }, (_, at) => ({ text: `row ${at}` })))
  })

  it('a heading is not left alone at the end of a part', () => {
    expect(split(`first paragraph here\n\n# Title\n\n${'word '.repeat(8)}`, units(40))[0]).toBe(
      'first paragraph here',
    )
  })

  it('a link that is defined elsewhere leads there from every part', () => {
    const text = `${'see [docs] now. '.repeat(6)}\n\n[docs]: https://e.com/docs`
    const parts = split(text, units(80))
    expect(parts.length).toBeGreaterThan(1)
    for (const part of parts) expect(part).toContain('(https://e.com/docs)')
  })
})

describe('[I13.limit-unit] [I13.split-rendered] what counts', () => {
  it.each([
    ['code-points', 2],
    ['utf-16', 4],
    ['bytes', 8],
  ] as const)('in %s', (unit, size) => {
    expect(splitText({ text: '😀😀😀' }, { size, unit }, 'written')).toEqual(['😀😀', '😀'])
    expect(splitText({ text: '😀😀😀', plain: true }, { size, unit }, 'written')).toEqual(['😀😀', '😀'])
  })

  it('is the form that is sent: longer or shorter than what was written', () => {
    const links = Array.from({ length: 8 }, (_, at) => `[w${at}](https://e.com/${'x'.repeat(80)})`).join(' ')
    const short: MarkdownRenderer = {
      render: (blocks) => {
        const text = letters(plainText(blocks).replace(/\(https[^)]*\)/g, ''))
        return { text, plain: text }
      },
    }
    expect(splitText({ text: links }, units(100), short)).toEqual([links])
    const parts = splitText({ text: 'a-b-c-d-e-f-g-h' }, units(12), loud)
    expect(parts.length).toBeGreaterThan(2)
    for (const part of parts) {
      const { counted = '' } = loud.render(readMarkdown(part))
      expect(counted.length).toBeLessThanOrEqual(12)
    }
    expect(parts.join('')).toBe('a-b-c-d-e-f-g-h')
  })
})

const mark = fc.constantFrom(
  '*',
  '**',
  '_',
  '~~',
  '`',
  '```',
  '~~~',
  '[',
  '](',
  ')',
  '<',
  '>',
  '&amp;',
  '\\',
  '|',
)
const start = fc.constantFrom(
  '\n',
  '\n\n',
  '\n- ',
  '\n1. ',
  '\n# ',
  '\n> ',
  '\n```ts\n',
  '\n|a|b|\n|-|-|\n',
  '\n    ',
  '\n===\n',
)
const word = fc.constantFrom(
  'word ',
  'x',
  ' ',
  'https://e.com/a ',
  '😀',
  'é',
  '[a](https://e.com) ',
  '12. ',
  '!',
  '---',
)
const text = fc.array(fc.oneof(mark, start, word), { maxLength: 80 }).map((pieces) => pieces.join(''))

describe('[I13.split-whole] [I13.limit-unit] whatever comes', () => {
  const limits = fc.record({
    size: fc.integer({ min: 4, max: 120 }),
    unit: fc.constantFrom('code-points' as const, 'utf-16' as const, 'bytes' as const),
  })

  it('as it is written: within the limit, all of it, nothing twice', () => {
    fc.assert(
      fc.property(text, limits, (whole, limit) => {
        const parts = split(whole, limit)
        for (const part of parts) expect(textSize(part, limit.unit)).toBeLessThanOrEqual(limit.size)
        if (limit.size >= 60 && !/\|a\|b|\d\. /.test(whole))
          expect(parts.map(said).join('')).toBe(said(whole))
      }),
      { numRuns: 1_000 },
    )
  })

  it('in a form of its own: within the limit in that form and in the plain one', () => {
    fc.assert(
      fc.property(text, limits, (whole, limit) => {
        for (const part of splitText({ text: whole }, limit, loud)) {
          const { counted = '', plain } = loud.render(readMarkdown(part))
          expect(Math.max(textSize(counted, limit.unit), textSize(plain, limit.unit))).toBeLessThanOrEqual(
            limit.size,
          )
        }
      }),
      { numRuns: 500 },
    )
  })

  it('nothing but markup: in parts that show what was written', () => {
    const text = '```\n```\n\n'.repeat(9)
    const parts = splitText({ text }, units(40), loud)
    expect(parts.length).toBeGreaterThan(1)
    const shown = parts.map((part) => sentForm({ text: part }, loud).plain)
    expect(Math.max(...shown.map(({ length }) => length))).toBeLessThanOrEqual(40)
    expect(shown.join('').replace(/\s/g, '')).toBe(text.replace(/\s/g, ''))
  })

  it('markup that shows nothing takes no part of its own', () => {
    const text = `${'```\n```\n\n'.repeat(9)}${'word '.repeat(12)}`
    const parts = splitText({ text }, units(40), loud)
    expect(parts.map((part) => sentForm({ text: part }, loud).plain).join(' ')).toBe(
      'word '.repeat(12).trim(),
    )
  })

  it('plain text in a form of its own: within the limit in that form, every character of it', () => {
    fc.assert(
      fc.property(text, limits, (whole, limit) => {
        const parts = splitText({ text: whole, plain: true }, limit, loud)
        for (const part of parts) {
          const form = sentForm({ text: part, plain: true }, loud)
          expect(renderedSize(form, limit.unit)).toBeLessThanOrEqual(limit.size)
        }
        expect(parts.join('').replace(/\s/g, '')).toBe(whole.replace(/\s/g, ''))
      }),
      { numRuns: 500 },
    )
  })

  it('plain text: within the limit, every character of it', () => {
    fc.assert(
      fc.property(text, limits, (whole, limit) => {
        const parts = splitText({ text: whole, plain: true }, limit, 'written')
        for (const part of parts) expect(textSize(part, limit.unit)).toBeLessThanOrEqual(limit.size)
        expect(parts.join('').replace(/\s/g, '')).toBe(whole.replace(/\s/g, ''))
      }),
      { numRuns: 500 },
    )
  })
})
