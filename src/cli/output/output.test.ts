// Formatting for people and scripts: durations, times, widths, tables, colour, and text that must not act.
import { stripVTControlCharacters } from 'node:util'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createPaint, wantsColour } from './colour.ts'
import { jsonLine } from './json-lines.ts'
import { renderTable } from './table.ts'
import { cutToWidth, displayWidth, oneLine, safeLines } from './text.ts'
import { parseDuration, parseMoment, relativeTime, spanOf } from './time.ts'

const NOW = Date.parse('2026-01-02T12:00:00.000Z')

describe('durations and moments', () => {
  it.each([
    ['90s', 90_000],
    ['15m', 900_000],
    ['2h', 7_200_000],
    ['1d', 86_400_000],
    ['1w', 604_800_000],
    ['1h30m', 5_400_000],
    ['1.5h', 5_400_000],
    ['250ms', 250],
    [' 1D ', 86_400_000],
  ])('%s is %d ms', (text, ms) => {
    expect(parseDuration(text, '--since')).toBe(ms)
  })

  it.each(['', '1', 'd', '-1d', '1y', '1 d x', '١d', 'NaNs'])(
    '"%s" is not a duration, and the option is named',
    (text) => {
      expect(() => parseDuration(text, '--wait')).toThrow(/^--wait: /)
    },
  )

  it('a moment is a duration back or ISO 8601', () => {
    expect(parseMoment('1d', '--since', NOW)).toBe(NOW - 86_400_000)
    expect(parseMoment('2026-01-01T00:00:00Z', '--since', NOW)).toBe(Date.parse('2026-01-01T00:00:00Z'))
    expect(parseMoment('2026-01-01', '--since', NOW)).toBe(Date.parse('2026-01-01'))
    expect(parseMoment('2026-01-01 08:30:00+01:00', '--since', NOW)).toBe(Date.parse('2026-01-01T07:30:00Z'))
  })

  it.each(['1', 'yesterday', '2026', '2026-13-45', ''])('"%s" is not a moment', (text) => {
    expect(() => parseMoment(text, '--until', NOW)).toThrow(/^--until: /)
  })

  it('is told relative to now', () => {
    const at = (ms: number) => relativeTime(new Date(NOW + ms).toISOString(), NOW)
    expect([at(0), at(-12_000), at(-180_000), at(-7_200_000), at(-3 * 86_400_000), at(540_000)]).toEqual([
      'now',
      '12s ago',
      '3m ago',
      '2h ago',
      '3d ago',
      'in 9m',
    ])
    expect(relativeTime(null, NOW)).toBe('-')
  })

  it('[I18.time-ahead] what was set a moment ago is not told as less than it is', () => {
    const at = (ms: number) => relativeTime(new Date(NOW + ms).toISOString(), NOW)
    const hour = 3_600_000
    expect([at(8 * hour - 5), at(8 * hour - 60_000), at(24 * hour - 1), at(10 * 60_000 - 3)]).toEqual([
      'in 8h',
      'in 8h',
      'in 1d',
      'in 10m',
    ])
    expect([at(7.5 * hour), at(90_000), at(40_000 - 1), at(1_001)]).toEqual([
      'in 7h',
      'in 1m',
      'in 40s',
      'in 2s',
    ])
  })

  it('a span has at most two units', () => {
    expect([spanOf(40), spanOf(725_000), spanOf(273_600_000)]).toEqual(['40ms', '12m 5s', '3d 4h'])
  })
})

describe('text from strangers', () => {
  it('cannot move the cursor, forge lines or reorder them', () => {
    const evil = 'a\u001b[2Jb\u009bc\nd\te\u202ef\u0007'
    expect(oneLine(evil)).toBe('a�[2Jb�c ⏎ d e�f�')
    expect(oneLine('a \r\n\r\n  b')).toBe('a ⏎ b')
    expect(safeLines(evil)).toBe('a�[2Jb�c\nd  e�f�')
    expect(jsonLine({ evil })).not.toMatch(/\p{Cc}/u)
    expect(JSON.parse(jsonLine({ evil }))).toEqual({ evil })
  })

  it('any text is one JSON line that reads back the same', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const line = jsonLine({ text })
        expect(line.split(/\r\n|[\n\r\u2028\u2029]/)).toHaveLength(1)
        expect(JSON.parse(line)).toEqual({ text })
      }),
    )
  })

  it('is cut by columns, wide characters and emoji counted as two', () => {
    expect(displayWidth('日本')).toBe(4)
    expect(cutToWidth('日本語です', 5)).toBe('日本…')
    expect(cutToWidth('hello', 5)).toBe('hello')
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.integer({ min: 1, max: 40 }), (text, width) => {
        expect(displayWidth(cutToWidth(text, width))).toBeLessThanOrEqual(width)
      }),
    )
  })
})

describe('tables', () => {
  const rows = [
    { id: 't_x_1', text: 'a long text that does not fit into a narrow terminal at all' },
    { id: 't_x_2', text: 'short' },
  ]
  const columns = [
    { title: 'ID', value: (row: { id: string }) => row.id },
    { title: 'TEXT', value: (row: { text: string }) => row.text, givesWay: 1 },
  ]

  it('[I14.turns-pipe] are cut to the width of the terminal; in a pipe only what is very long is', () => {
    const narrow = renderTable(rows, columns, { paint: createPaint(false), width: 24 })
    for (const line of narrow.split('\n')) expect(displayWidth(line)).toBeLessThanOrEqual(24)
    expect(narrow).toContain('…')
    expect(renderTable(rows, columns, { paint: createPaint(false), width: null })).toContain(
      'terminal at all',
    )
    const letter = [{ id: 'x'.repeat(300), text: 'y'.repeat(5_000) }]
    const [, piped = ''] = renderTable(letter, columns, { paint: createPaint(false), width: null }).split(
      '\n',
    )
    // Ids are what one goes on with: they stay whole.
    expect(piped).toContain('x'.repeat(300))
    expect(piped).toMatch(/y{119}…$/)
  })

  it('have no borders and keep columns straight when painted', () => {
    const plain = renderTable(rows, columns, { paint: createPaint(false), width: 60 })
    expect(plain.split('\n')).toHaveLength(3)
    expect(plain).toMatch(/^ID {5}TEXT\nt_x_1 {2}a long/)
    const painted = renderTable(
      rows,
      [
        {
          ...columns[0],
          title: 'ID',
          value: (row) => row.id,
          paint: (cell) => `\u001b[31m${cell}\u001b[39m`,
        },
        columns[1] as never,
      ],
      {
        paint: createPaint(true),
        width: 60,
      },
    )
    expect(stripVTControlCharacters(painted)).toBe(plain)
  })
})

describe('colour', () => {
  it('[I2.no-color] a flag wins, then NO_COLOR, then FORCE_COLOR, then the terminal', () => {
    const facts = { flag: undefined, env: {}, isTty: true }
    expect(wantsColour(facts)).toBe(true)
    expect(wantsColour({ ...facts, isTty: false })).toBe(false)
    expect(wantsColour({ ...facts, env: { CI: '1' }, isTty: false })).toBe(false)
    expect(wantsColour({ ...facts, env: { NO_COLOR: '1', FORCE_COLOR: '1' } })).toBe(false)
    expect(wantsColour({ ...facts, env: { NO_COLOR: '' } })).toBe(true)
    expect(wantsColour({ ...facts, env: { FORCE_COLOR: '1' }, isTty: false })).toBe(true)
    expect(wantsColour({ ...facts, env: { FORCE_COLOR: '0' } })).toBe(false)
    expect(wantsColour({ ...facts, env: { TERM: 'dumb' } })).toBe(false)
    expect(wantsColour({ flag: true, env: { NO_COLOR: '1' }, isTty: false })).toBe(true)
    expect(wantsColour({ flag: false, env: { FORCE_COLOR: '1' }, isTty: true })).toBe(false)
  })
})
