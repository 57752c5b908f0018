// A message in section blocks: each is within Slack's limit, and whole in Slack's own units.
import { describe, expect, it } from 'vitest'
import type { Said } from '../../kit/markdown/index.ts'
import { cutOf, textBlocks, wholeOf } from './render.ts'

interface Section {
  readonly text: { readonly text: string }
}

const sectionsOf = (said: Said) =>
  textBlocks(wholeOf(said)).map((block) => (block as unknown as Section).text.text)
const words = (count: number) =>
  Array.from({ length: count }, (_, at) => `word${String(at).padStart(4, '0')}`).join(' ')
const wordsIn = (texts: readonly string[]) => texts.join(' ').match(/word\d{4}/g) ?? []

describe('[S7.slack-limit] a text over the length of a section', () => {
  const before = words(300)
  const within = 'across '.repeat(80).trim()

  it.each([
    ['bold', `**${within}**`, /\*across[^*]*across\*$/, /^\*across[^*]*across\*/],
    ['struck', `~~${within}~~`, /~across[^~]*across~$/, /^~across[^~]*across~/],
    ['code', `\`${within}\``, /`across[^`]*across ?`$/, /^` ?across[^`]*across`/],
    [
      'a link',
      `[${within}](https://a.b/c?d=e&f=g)`,
      /<https:\/\/a\.b\/c\?d=e&amp;f=g\|[^<>|]*across>$/,
      /^<https:\/\/a\.b\/c\?d=e&amp;f=g\|across[^<>|]*>/,
    ],
  ])('%s that lies across the border is whole in both sections', (_, span, end, start) => {
    const sections = sectionsOf({ text: `${before} ${span} ${words(30)}` })
    expect(sections).toHaveLength(2)
    expect(sections[0]).toMatch(end)
    expect(sections[1]).toMatch(start)
    expect(Math.max(...sections.map(({ length }) => length))).toBeLessThanOrEqual(3_000)
    expect(wordsIn(sections)).toEqual([...wordsIn([before]), ...wordsIn([words(30)])])
    expect(sections.join(' ').match(/across/g)).toHaveLength(80)
  })

  it('a fence is closed where it is cut, and opened again', () => {
    const sections = sectionsOf({ text: `\`\`\`\n${'across\n'.repeat(500)}\`\`\`` })
    expect(sections).toHaveLength(2)
    for (const section of sections) expect(section).toMatch(/^```\n(across\n)+```$/)
    expect(Math.max(...sections.map(({ length }) => length))).toBeLessThanOrEqual(3_000)
    expect(sections.join('').match(/across/g)).toHaveLength(500)
  })

  it('that is no Markdown is cut too, counted as Slack reads it', () => {
    const sections = sectionsOf({ text: '😀&'.repeat(570), plain: true })
    expect(sections.length).toBeGreaterThan(1)
    expect(Math.max(...sections.map(({ length }) => length))).toBeLessThanOrEqual(3_000)
    expect(sections.join('')).toBe('😀&amp;'.repeat(570))
  })

  it('and no longer is one section, as it is shown in the text', () => {
    expect(sectionsOf({ text: `**${'x'.repeat(2_998)}**` })).toEqual([`*${'x'.repeat(2_998)}*`])
    expect(sectionsOf({ text: '' })).toEqual(['…'])
    expect(sectionsOf({ text: '```\n```' })).toEqual(['```\n```'])
  })

  it('that shows nothing is shown as it was written, in sections as well', () => {
    const sections = sectionsOf({ text: `\`\`\`${'x'.repeat(3_500)}\n\`\`\`` })
    expect(sections.length).toBeGreaterThan(1)
    expect(Math.max(...sections.map(({ length }) => length))).toBeLessThanOrEqual(3_000)
    expect(sections.join('').match(/x/g)).toHaveLength(3_500)
  })
})

it('[S7.slack-limit] words of our own fit once they are escaped', () => {
  const { text } = cutOf({ text: '&'.repeat(4_000), plain: true })
  expect(text.length).toBeLessThanOrEqual(4_000)
  expect(text).toMatch(/^(&amp;)+\n\n…$/)
})
