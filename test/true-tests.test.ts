// Tests that can fail: suites are counted by their calls, and a test that asserts nothing is found, by syntax.
import { describe, expect, it } from 'vitest'
import { filesOf } from './house/source.ts'
import {
  parseTest,
  silentReturns,
  suitesCalled,
  testsThatMayAssertNothing,
  testsWithoutAssertion,
} from './house/tests.ts'

describe('[I13.no-bare-test] tests', () => {
  const tests = ['src', 'test', 'bench', 'examples']
    .flatMap(filesOf)
    .filter((file) => file.endsWith('.test.ts') || /^src\/testing\/.*\.ts$/.test(file))
    .map((file) => parseTest(file))
  const find = (look: (test: ReturnType<typeof parseTest>) => readonly string[]) => tests.flatMap(look)

  it('all assert something', () => {
    expect(find(testsWithoutAssertion)).toEqual([])
  })

  it('assert before they return: what cannot be tested is skipped, context.skip(why)', () => {
    expect(find(silentReturns)).toEqual([])
  })

  it('assert not only in a catch, under an if, or in a loop over a list that may be empty: say first what is in it', () => {
    expect(find(testsThatMayAssertNothing)).toEqual([])
  })

  const inTest = (body: string) =>
    parseTest('x.test.ts', `const LIST = [1]\nit('x', async () => {\n${body}\n})`)
  it.each([
    ['expect(x).toBe(1)', 'fine'],
    ['expect(true).toBe(true)', 'bare'],
    ['expect(1).toBe(1)', 'bare'],
    ['await until("x", () => true)', 'fine'],
    ['await expect.poll(() => 1).toBe(1)', 'fine'],
    ['const check = () => expect(x).toBe(1)\ncheck()', 'fine'],
    ['for (const one of [1]) expect(one).toBe(1)', 'fine'],
    ['for (const one of LIST.entries()) expect(one).toBe(1)', 'fine'],
    ['expect(found).toHaveLength(3)\nfor (const one of found) expect(one).toBe(1)', 'fine'],
    ['if (a) expect(a).toBe(1)\nelse expect(b).toBe(1)', 'fine'],
    ['expect(x).toBe(1)\nif (done) return', 'fine'],
    ['await page.click()', 'bare'],
    ['if (a === null) return\nexpect(x).toBe(1)', 'silent'],
    ['for (const one of found) expect(one).toBe(1)', 'doubtful'],
    ['found.forEach((one) => expect(one).toBe(1))', 'doubtful'],
    ['for (const one of LIST.filter(Boolean)) expect(one).toBe(1)', 'doubtful'],
    ['try { work() } catch (thrown) { expect(thrown).toBe(1) }', 'doubtful'],
    ['await work().catch((thrown) => expect(thrown).toBe(1))', 'doubtful'],
    ['if (a) expect(a).toBe(1)', 'doubtful'],
  ])('%s is %s', (body, judgement) => {
    const test = inTest(body)
    const judged = [
      ...testsWithoutAssertion(test).map(() => 'bare'),
      ...silentReturns(test).map(() => 'silent'),
      ...testsThatMayAssertNothing(test).map(() => 'doubtful'),
    ]
    expect(judged).toEqual(judgement === 'fine' ? [] : [judgement])
  })
})

describe('[I13.suite-ran] a suite that', () => {
  const IMPORT = `import { describePlatform as suite } from '../../testing/index.ts'\n`
  it.each([
    ['is called', `${IMPORT}suite('x', make)`, ['describePlatform']],
    ['is called in a describe', `${IMPORT}describe('x', () => { suite('x', make) })`, ['describePlatform']],
    ['is named in a comment', `${IMPORT}// suite('x', make)`, []],
    ['is imported and not called', `${IMPORT}it('x', () => undefined)`, []],
    ['is called by a function that nobody calls', `${IMPORT}function later() { suite('x', make) }`, []],
    ['is called by condition', `${IMPORT}if (process.env.CI) suite('x', make)`, []],
    ['is called behind a condition', `${IMPORT}process.env.CI && suite('x', make)`, []],
    ['is called inside a test', `${IMPORT}it('x', () => { suite('x', make) })`, []],
    ['has its name from elsewhere', `import { describePlatform } from './own.ts'\ndescribePlatform()`, []],
  ])('%s is seen as it is', (_, text, seen) => {
    expect(suitesCalled(parseTest('src/platforms/x/x.test.ts', text))).toEqual(seen)
  })
})
