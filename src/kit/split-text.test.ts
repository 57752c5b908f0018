// Splitting: nothing lost, nothing over the limit, fences whole in every part.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { fenceAfter } from './fences.ts'
import { splitText } from './split-text.ts'
import { codePointLength } from './truncate.ts'

const bare = (text: string) => text.replace(/\s+/gu, '')
const withoutFenceLines = (text: string) => bare(text.replace(/^ {0,3}(?:`{3,}|~{3,}).*$/gm, ''))

describe('splitText', () => {
  it('leaves a short text alone and makes nothing of an empty one', () => {
    expect(splitText('hello', { size: 5 })).toEqual(['hello'])
    expect(splitText('', { size: 5 })).toEqual([])
    expect(splitText(' \n ', { size: 5 })).toEqual([])
  })

  it('prefers paragraphs, then lines, then spaces', () => {
    expect(splitText('first one\n\nsecond one', { size: 14 })).toEqual(['first one', 'second one'])
    expect(splitText('first one\nsecond one', { size: 14 })).toEqual(['first one', 'second one'])
    expect(splitText('alpha beta gamma', { size: 11 })).toEqual(['alpha beta', 'gamma'])
  })

  it('counts code points and never cuts a surrogate pair or a cluster', () => {
    expect(splitText('😀😀😀😀', { size: 2 })).toEqual(['😀😀', '😀😀'])
    expect(splitText('ab👩‍👩‍👧cd', { size: 6 })).toEqual(['ab', '👩‍👩‍👧c', 'd'])
    expect(splitText('x🇳🇴🇸🇪', { size: 4 })).toEqual(['x🇳🇴', '🇸🇪'])
  })

  it('cuts a cluster that is longer than the limit, but not a code point', () => {
    const parts = splitText('👩‍👩‍👧‍👦', { size: 3 })
    expect(parts.join('')).toBe('👩‍👩‍👧‍👦')
    for (const part of parts) expect(part).not.toMatch(/[\uD800-\uDBFF]$|^[\uDC00-\uDFFF]/)
  })

  it('closes and reopens a fence with its language', () => {
    const code = Array.from({ length: 12 }, (_, line) => `  const line${line} = ${line}`).join('\n')
    const parts = splitText(`Look:\n\n\`\`\`ts\n${code}\n\`\`\`\nDone.`, { size: 100 })
    expect(parts.length).toBeGreaterThan(2)
    for (const part of parts) expect(fenceAfter(part, null)).toBeNull()
    expect(parts[1]).toMatch(/^```ts\n {2}const line/)
    expect(parts.at(-1)).toMatch(/Done\.$/)
  })

  it('no part is above the limit and the parts join to the text', () => {
    const words = fc.array(
      fc.oneof(fc.string({ unit: 'grapheme', maxLength: 30 }), fc.constantFrom('\n', '\n\n', ' ')),
      {
        maxLength: 40,
      },
    )
    fc.assert(
      fc.property(words, fc.integer({ min: 1, max: 60 }), (chunks, limit) => {
        const text = chunks.join('').replace(/[`~]/g, '')
        const parts = splitText(text, { size: limit })
        for (const part of parts) expect(codePointLength(part)).toBeLessThanOrEqual(limit)
        expect(bare(parts.join(''))).toBe(bare(text))
      }),
      { numRuns: 300 },
    )
  })

  it('text with fences stays whole, within the limit, each part closed', () => {
    const line = fc.string({ unit: fc.constantFrom('a', 'b', ' ', '😀', '-', '.'), maxLength: 50 })
    const block = fc.oneof(
      line,
      fc
        .tuple(
          fc.constantFrom('```', '````', '~~~'),
          fc.constantFrom('', 'ts', 'python'),
          fc.array(line, { maxLength: 12 }),
        )
        .map(([marker, info, lines]) => `${marker}${info}\n${lines.join('\n')}\n${marker}`),
    )
    fc.assert(
      fc.property(fc.array(block, { maxLength: 8 }), fc.integer({ min: 40, max: 200 }), (blocks, limit) => {
        const text = blocks.join('\n')
        const parts = splitText(text, { size: limit })
        for (const part of parts) {
          expect(codePointLength(part)).toBeLessThanOrEqual(limit)
          expect(fenceAfter(part, null)).toBeNull()
        }
        expect(withoutFenceLines(parts.join('\n'))).toBe(withoutFenceLines(text))
      }),
      { numRuns: 300 },
    )
  })
  it('a run of backticks within a line that comes to begin a part takes no part above the limit', () => {
    const run = '`'.repeat(40)
    const lines = Array.from({ length: 600 }, (_, at) => `line ${at}`).join('\n')
    const text = `\`\`\`\ncode\n\`\`\`\n${'a'.repeat(4_070)} ${run}\n${lines}`
    const parts = splitText(text, { size: 4_096 })
    expect(parts.length).toBeGreaterThan(2)
    for (const part of parts) expect(codePointLength(part)).toBeLessThanOrEqual(4_096)
  })

  it('runs anywhere: no part is above the limit, and no word is lost', () => {
    const run = fc
      .tuple(fc.constantFrom('`', '~'), fc.integer({ min: 1, max: 60 }))
      .map(([mark, times]) => mark.repeat(times))
    const piece = fc.oneof(fc.constantFrom('word', 'x', '\n', '\n\n', '```ts\n', '\n```\n'), run)
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 60 }), fc.integer({ min: 1, max: 200 }), (pieces, limit) => {
        const text = pieces.map((one, at) => (one === 'word' ? `w${at}.` : one)).join(' ')
        const parts = splitText(text, { size: limit })
        for (const part of parts) expect(codePointLength(part)).toBeLessThanOrEqual(limit)
        const said = bare(parts.join(''))
        if (limit > 20) for (const [word] of text.matchAll(/w\d+\./g)) expect(said).toContain(word)
      }),
      { numRuns: 300, seed: 1 },
    )
  })
})
