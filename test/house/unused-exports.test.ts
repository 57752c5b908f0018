// What is exported is imported: a name that only its own file uses is not exported, and what nobody uses goes.
import { describe, expect, it } from 'vitest'
import { ourModules, packageDoors, unusedExports } from './exports.ts'

/** Named by no import, and exported for a reason. */
const EXCEPTED: Readonly<Record<string, string>> = {
  'test/offer-postgres.ts: setup': 'called by vitest, as its global set-up',
  'web/shared/markdown-view.tsx: elementsOf':
    'loaded by name in test/browser/markdown-view.test.ts: the page has types of its own',
  'test/longest-first.ts: LongestFirst': 'named by vitest.config.ts, which is in no folder that is looked at',
}

describe('exports', () => {
  const unused = unusedExports(ourModules(), packageDoors()).map(({ file, name }) => `${file}: ${name}`)

  it('the doors of the package are found', () => {
    expect(packageDoors()).toContain('src/adapter.ts')
    expect(packageDoors().length).toBeGreaterThan(5)
  })

  it('are imported by somebody', () => {
    expect(unused.filter((each) => EXCEPTED[each] === undefined)).toEqual([])
  })

  it('no exception outlives its reason', () => {
    expect(Object.keys(EXCEPTED).filter((each) => !unused.includes(each))).toEqual([])
  })
})
