// Hostile text: the work of the reader, the writer and the splitter is linear in its length. Steps are counted instead
// of seconds (src/testing/suites/count-steps.ts), also those of the parser's package.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { filesOf, ROOT } from '../../../test/house/source.ts'
import { SCOPE } from '../../../test/scenarios/deal.ts'
import { countSteps, growthOf, LINEAR, processorMs } from '../../testing/suites/count-steps.ts'
import { HOSTILE_TEXTS, MOST_RUN_MS } from '../../testing/suites/hostile-markdown.ts'
import { MOST_READ, plainText, readMarkdown, splitText, writeMarkdown } from './index.ts'

const SIZE = 1_000
/** Large enough for the bound of a table, whose rows are filled up to the width of its header. */
const MIXED_SIZE = 4 * SIZE
/** Small parts, so that there are many, and one more does not look like growth. */
const limit = { size: 60, unit: 'utf-16' } as const
const renderer = {
  render: (blocks: Parameters<typeof plainText>[0]) => ({
    text: plainText(blocks),
    plain: plainText(blocks),
  }),
  literal: (text: string) => ({ text: text.replaceAll('&', '&amp;'), plain: text }),
}
const letters = (text: string) => text.replace(/[^\p{L}\p{N}\p{So}]+/gu, '').length

describe('[I13.md-linear] reading', () => {
  it.each(Object.entries(HOSTILE_TEXTS))('%s', async (_name, text) => {
    const growth = await growthOf((size) => {
      const input = text(size)
      return () => void readMarkdown(input)
    }, SIZE)
    expect(growth).toBeLessThan(LINEAR)
    // Neither addresses nor cells multiply. A line has the marks of 32 levels at most.
    const tree = readMarkdown(text(SIZE))
    expect(writeMarkdown(tree, { strict: true }).length).toBeLessThan(70 * SIZE)
  })

  it('whatever families are mixed', async () => {
    const families = Object.values(HOSTILE_TEXTS)
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom(...families), { minLength: 2, maxLength: 4 }),
        async (mixed) => {
          const growth = await growthOf((size) => {
            const input = mixed.map((text) => text(size / mixed.length)).join('\n')
            return () => void readMarkdown(input)
          }, MIXED_SIZE)
          expect(growth).toBeLessThan(LINEAR)
        },
      ),
      { numRuns: 8 },
    )
  })
})

describe('[I13.split-linear] cutting', () => {
  const WAYS = [
    { markdown: 'written', plain: false },
    { markdown: renderer, plain: false },
    { markdown: renderer, plain: true },
  ] as const
  // Each family is tried in one form, by turns. `npm run test:all` tries every form.
  const cases = Object.entries(HOSTILE_TEXTS).flatMap(([name, text], at) =>
    WAYS.filter((_, way) => SCOPE === 'all' || way === at % WAYS.length).map((way) => ({ name, text, way })),
  )
  it.each(cases)('$name', async ({ text, way }) => {
    const growth = await growthOf((size) => {
      const input = text(size)
      return () => void splitText({ text: input, plain: way.plain }, limit, way.markdown)
    }, SIZE)
    expect(growth).toBeLessThan(LINEAR)
  })
})

it('[I13.md-one] one reader loads a parser of Markdown', () => {
  const parser =
    /(?:^import (?!type).* from |\brequire\(|\(import\.meta\.url\)\()'(?:markdown-it|marked|micromark|commonmark|mdast-[^']*|remark[^']*)'/m
  const loading = ['src', 'web']
    .flatMap(filesOf)
    .filter((file) => /(?<!\.test)\.tsx?$/.test(file) && parser.test(readFileSync(join(ROOT, file), 'utf8')))
  // The daemon loads it at its first text, and the page does.
  expect(loading).toEqual(['src/kit/markdown/read.ts', 'web/shared/markdown-reader.ts'])
})

describe('[I13.md-large] a megabyte', () => {
  it.each(['*a **b ', '[', '`', '> ', '```\n', ' ', 'a', '\n', '😀', '|a'])('of %j', async (piece) => {
    const text = piece.repeat(Math.ceil(1_000_000 / piece.length))
    // It is kept as it was written, without walking it.
    expect(await countSteps(() => void readMarkdown(text))).toBeLessThan(1_000)
    const parts = splitText({ text }, { size: 4_096, unit: 'utf-16' }, 'written')
    for (const part of parts) expect(part.length).toBeLessThanOrEqual(4_096)
    expect(letters(parts.join(''))).toBe(letters(text))
  })

  it('just below the size that is read, no step is taken for more than a bounded time', async () => {
    for (const piece of ['[', '*a **b ', '> a\n', '- a\n', '|a']) {
      const text = piece.repeat(Math.floor(MOST_READ / piece.length))
      expect(await countSteps(() => void readMarkdown(text))).toBeLessThan(500 * MOST_READ)
    }
  })
})

// Joining texts and reading the end are one step each, but once copied the whole text each time: 14 s.
it('[I35.a3-programs] many short lines of one paragraph are written in moments', () => {
  const children = Array.from({ length: 600_000 }, (_, at) =>
    at % 2 === 0 ? ({ kind: 'text', text: 'a' } as const) : ({ kind: 'break' } as const),
  )
  expect(processorMs(() => void writeMarkdown([{ kind: 'paragraph', children }]))).toBeLessThan(MOST_RUN_MS)
})

it('[I35.a3-programs] a long quote is cut with few tries: to measure a place is to write what stands before it', () => {
  let written = 0
  const counting = {
    ...renderer,
    render: (blocks: Parameters<typeof plainText>[0]) => {
      written += 1
      return renderer.render(blocks)
    },
  }
  const parts = splitText(
    { text: '> a\n'.repeat(8_000), plain: false },
    { size: 4_000, unit: 'utf-16' },
    counting,
  )
  expect(parts.length).toBeGreaterThanOrEqual(4)
  expect(written / parts.length).toBeLessThan(10)
})
