// Holds promises and proofs to each other: what is marked built has a test that cites it, and nothing else is cited.
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { citations, citationsIn } from './citations.ts'
import { requirements } from './requirements/row.ts'
import { REQUIREMENTS } from './requirements.ts'

const cited = citations(fileURLToPath(new URL('..', import.meta.url)))
const citedIds = new Set(cited.map(({ id }) => id))
const FLIP = 'run: node scripts/flip-requirements.mjs'

describe('[I2.requirements] requirements', () => {
  it('have unique ids of one form', () => {
    const ids = REQUIREMENTS.map(({ id }) => id)
    expect(ids.filter((id, at) => ids.indexOf(id) !== at)).toEqual([])
    expect(ids.filter((id) => !/^[SFI]\d+\.[a-z0-9-]+$/.test(id))).toEqual([])
  })

  it('cover every section of SPEC, the seed lists and the first issues', () => {
    const prefixes = new Set(REQUIREMENTS.map(({ id }) => id.split('.')[0]))
    const sections = Array.from({ length: 17 }, (_, at) => `S${at + 1}`)
    for (const prefix of [...sections, 'F7', 'I2', 'I3']) expect(prefixes).toContain(prefix)
  })

  it('are the only ids that tests cite', () => {
    const known = new Set(REQUIREMENTS.map(({ id }) => id))
    const unknown = cited.filter(({ id }) => !known.has(id))
    expect(unknown.map(({ id, file, line }) => `${id} at ${file}:${line}`)).toEqual([])
  })

  it('that are marked built have a test that cites them', () => {
    const bare = REQUIREMENTS.filter(({ status, id }) => status === 'built' && !citedIds.has(id))
    expect(
      bare.map(({ id, promise }) => `${id}: ${promise}`),
      'built, but no test proves them',
    ).toEqual([])
  })

  it('that a test cites are marked built', () => {
    const unflipped = REQUIREMENTS.filter(({ status, id }) => status === 'pending' && citedIds.has(id))
    expect(
      unflipped.map(({ id }) => id),
      `proven, but still marked pending; ${FLIP}`,
    ).toEqual([])
  })

  it('that are pending are counted by issue', () => {
    const pending = new Map<number, number>()
    for (const { status, issue } of REQUIREMENTS) {
      if (status === 'pending') pending.set(issue, (pending.get(issue) ?? 0) + 1)
    }
    const built = REQUIREMENTS.filter(({ status }) => status === 'built').length
    const byIssue = [...pending]
      .sort(([a], [b]) => a - b)
      .map(([issue, count]) => `${issue === 0 ? 'not planned yet' : `issue ${issue}`}: ${count}`)
    console.log(
      `requirements: ${built} of ${REQUIREMENTS.length} built; pending: ${byIssue.join(', ') || 'none'}`,
    )
    expect(built + [...pending.values()].reduce((sum, count) => sum + count, 0)).toBe(REQUIREMENTS.length)
  })
})

describe('the readers', () => {
  const quote = (id: string) => `[${id}]`

  it('take several ids from one name', () => {
    const text = `  it('${quote('S2.dup-key')} ${quote('S2.no-id-fresh')} says so', run)`
    expect(citationsIn('a.test.ts', text).map(({ id }) => id)).toEqual(['S2.dup-key', 'S2.no-id-fresh'])
  })

  it('pass over comments and tests that are switched off', () => {
    const text = [
      `// see ${quote('S2.a')}`,
      ` * ${quote('S2.b')}`,
      `it.skip('${quote('S2.c')} later')`,
      `it.todo('${quote('S2.d')} later')`,
    ].join('\n')
    expect(citationsIn('a.test.ts', text)).toEqual([])
  })

  it('refuse a line that is no requirement', () => {
    expect(() => requirements('x', '\nbuilt two S1.a promise')).toThrow('line 1')
  })
})
