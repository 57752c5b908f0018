// Tests that can fail: suites are counted by their calls, and a test that may assert nothing is found, by syntax.
import { describe, expect, it } from 'vitest'
import { hollowTests, silentReturns, unawaitedAssertions } from './house/hollow-tests.ts'
import { type Parsed, parseTest } from './house/parse-test.ts'
import { filesOf } from './house/source.ts'
import { suitesCalled } from './house/suites.ts'

describe('[I13.no-bare-test] tests', () => {
  const tests = ['src', 'test', 'bench', 'examples']
    .flatMap(filesOf)
    .filter((file) => file.endsWith('.test.ts') || /^src\/testing\/.*\.ts$/.test(file))
    .map((file) => parseTest(file))
  const find = (look: (test: Parsed) => readonly string[]) => tests.flatMap(look)

  it('all assert something, whichever way they take: not only in a catch, under an if or in a loop over what may be empty', () => {
    expect(tests.length).toBeGreaterThan(600)
    expect(find(hollowTests)).toEqual([])
  })

  it('assert before they return: what cannot be tested is skipped, context.skip(why)', () => {
    expect(find(silentReturns)).toEqual([])
  })

  it('wait for what they assert of a promise', () => {
    expect(find(unawaitedAssertions)).toEqual([])
  })

  const judge = (test: Parsed) => [
    ...hollowTests(test).map(() => 'hollow'),
    ...silentReturns(test).map(() => 'silent'),
    ...unawaitedAssertions(test).map(() => 'unawaited'),
  ]
  const inTest = (body: string) =>
    judge(parseTest('x.test.ts', `const LIST = [1]\nit('x', async (context) => {\n${body}\n})`))

  it.each([
    'expect(x).toBe(1)',
    'expect("a").toMatch(pattern)',
    'expect(make()).toEqual(make())',
    'await until("x", () => true)',
    'await expect.poll(() => 1).toBe(1)',
    'await expect(work()).rejects.toThrow()',
    'return expect(work()).rejects.toThrow()',
    'const refused = expect(work()).rejects.toThrow()\nawait refused',
    'expect.assertions(2)\nwork((one) => one && expect(one).toBe(1))',
    'const check = () => expect(x).toBe(1)\ncheck()',
    'const check = () => expect(x).toBe(1)\nLIST.forEach(check)',
    'await within(async () => { expect(x).toBe(1) })',
    'await work().then(() => expect.unreachable(), (thrown) => expect(thrown).toBe(1))',
    '(() => { expect(x).toBe(1) })()',
    'for (const one of [1]) expect(one).toBe(1)',
    'for (const one of LIST.entries()) expect(one).toBe(1)',
    'for (const one of [1]) { if (one > 1) continue\nelse expect(one).toBe(1)\nexpect(one).toBe(1) }\nexpect(x).toBe(1)',
    'for (let i = 0; i < 3; i++) expect(i).toBe(1)',
    'for (;;) { if (done()) { expect(x).toBe(1); break } }',
    'do { expect(x).toBe(1) } while (more())',
    'LIST.map((one) => expect(one).toBe(1))',
    'expect(found).toHaveLength(3)\nfor (const one of found) expect(one).toBe(1)',
    'if (a) expect(a).toBe(1)\nelse expect(b).toBe(1)',
    'if (a) expect(a).toBe(1)\nelse throw new Error("no a")',
    'if (a === null) return context.skip("needs a")\nexpect(a).toBe(1)',
    'if (a === null) context.skip("needs a")\nexpect(a).toBe(1)',
    'switch (a) { case 1: expect(x).toBe(1); break\ndefault: expect(x).toBe(2) }',
    'try { work(); expect.unreachable() } catch (thrown) { expect(thrown).toBe(1) }',
    'try { expect(x).toBe(1) } finally { close() }',
    'try { work() } finally { expect(x).toBe(1) }',
    'try { expect(x).toBe(1) } catch (thrown) { throw new Error("more", { cause: thrown }) }',
    'expect(x).toBe(1)\nif (done) return',
  ])('%s is fine', (body) => {
    expect(inTest(body)).toEqual([])
  })

  it.each([
    'expect(true).toBe(true)',
    'expect(1).toBe(1)',
    'expect([]).toEqual([])',
    'expect({ a: [`b`, -1] }).toEqual({ a: [`b`, -1] })',
    'expect(x).toBe(x)',
    'expect(x.y).not.toBe(x.y)',
    'expect(x)',
    'expect(x).not',
    'work(expect.any(Number))',
    'await page.click()',
    'a && expect(a).toBe(1)',
    'a ?? expect(a).toBe(1)',
    'a ||= expect(a).toBe(1)',
    'a ? expect(a).toBe(1) : null',
    'a?.forEach((one) => expect(one).toBe(1))',
    'const check = () => expect(x).toBe(1)\ncheck?.()',
    'if (a) expect(a).toBe(1)',
    'if (a) expect(a).toBe(1)\nelse noop()',
    'while (a) expect(a).toBe(1)',
    'while (true) { if (a) break\nexpect(a).toBe(1) }',
    'for (let i = 0; i < found.length; i++) expect(found[i]).toBe(1)',
    'for (let i = 0; i < 0; i++) expect(found[i]).toBe(1)',
    'for (const key in found) expect(key).toBe(1)',
    'for (const one of found) expect(one).toBe(1)',
    'for (const one of []) expect(one).toBe(1)',
    'for (const one of LIST.filter(Boolean)) expect(one).toBe(1)',
    'for (const one of LIST.slice(1)) expect(one).toBe(1)',
    'for (const one of a ? LIST : []) expect(one).toBe(1)',
    'for (const one of LIST) { if (one) continue\nexpect(one).toBe(1) }',
    'for (const one of LIST) { if (one) break\nexpect(one).toBe(1) }',
    'switch (a) { case 1: expect(x).toBe(1) }',
    'switch (a) { case 1: expect(x).toBe(1); break\ndefault: noop() }',
    'switch (a) { case 1: break\ndefault: expect(x).toBe(1) }',
    'found.forEach((one) => expect(one).toBe(1))',
    'found.map((one) => expect(one).toBe(1))',
    'found.map(expect)',
    'await Promise.all(found.map(async (one) => { expect(one).toBe(1) }))',
    'LIST.forEach(async (one) => { await work(); expect(one).toBe(1) })',
    'try { work() } catch (thrown) { expect(thrown).toBe(1) }',
    'try { expect(x).toBe(1) } catch {}',
    'await work().catch((thrown) => expect(thrown).toBe(1))',
    'await expect(work()).rejects.toThrow().catch(() => undefined)',
    'await work().then(undefined, (thrown) => expect(thrown).toBe(1))',
    'const check = () => expect(x).toBe(1)',
    'function check() { expect(x).toBe(1) }',
    'const check = () => { for (const one of found) expect(one).toBe(1) }\ncheck()',
    'server.on("end", () => expect(x).toBe(1))',
    'await within(async () => { if (a) return\nexpect(x).toBe(1) })',
  ])('%s is hollow', (body) => {
    expect(inTest(body)).toEqual(['hollow'])
  })

  it.each([
    'if (a === null) return\nexpect(x).toBe(1)',
    'if (a === null) return undefined\nexpect(x).toBe(1)',
    'if (a === null) return void 0\nexpect(x).toBe(1)',
    'if (a === null) return noop()\nexpect(x).toBe(1)',
    'for (const one of found) if (one) return\nexpect(x).toBe(1)',
    'try { work() } catch { return }\nexpect(x).toBe(1)',
    'switch (a) { case 1: return }\nexpect(x).toBe(1)',
  ])('%s is silent', (body) => {
    expect(inTest(body)).toEqual(['silent'])
  })

  it.each([
    'expect(work()).rejects.toThrow()',
    'void expect(work()).resolves.toBe(1)',
    'expect.poll(() => 1).toBe(1)',
    'until("x", () => true)',
    'const check = async () => { expect(await work()).toBe(1) }\ncheck()',
  ])('%s is unawaited', (body) => {
    expect(inTest(body)).toEqual(['unawaited'])
  })

  it.each([
    ['const check = () => expect(x).toBe(1)', []],
    ['const check = () => noop()', ['hollow']],
  ])('a test that is given by its name is looked at: %s', (declared, judgement) => {
    expect(judge(parseTest('x.test.ts', `${declared}\nit('x', check)`))).toEqual(judgement)
  })

  it.each([
    ["['a', check], ['b', (y) => expect(y).toBe(1)]", []],
    ["['a', check], ['b', noop]", ['hollow']],
    ["['a', check], ['b', null]", ['hollow']],
  ])('what its rows give it is looked at: %s', (rows, judgement) => {
    const named = 'const check = () => expect(x).toBe(1)\nconst noop = () => 0'
    const text = `${named}\nit.each([${rows}])('x', async (_, given) => { await given(1) })`
    expect(judge(parseTest('x.test.ts', text))).toEqual(judgement)
  })
})

describe('[I13.suite-ran] a suite that', () => {
  const IMPORT = `import { describePlatform as suite } from '../../testing/index.ts'\n`
  it.each([
    ['is called', `${IMPORT}suite('x', make)`],
    ['is called in a describe', `${IMPORT}describe('x', () => { suite('x', make) })`],
    ['is called for each of a written list', `${IMPORT}for (const x of ['a']) suite(x, make)`],
    ['is called after what may throw', `${IMPORT}if (!made) throw new Error('no')\nsuite('x', make)`],
    ['is called beside a function that returns', `${IMPORT}function f() { return 1 }\nsuite('x', make)`],
  ])('%s is counted', (_, text) => {
    expect(suitesCalled(parseTest('src/platforms/x/x.test.ts', text))).toEqual(['describePlatform'])
  })

  const inDescribe = (body: string) => `${IMPORT}describe('x', () => { ${body} })`
  it.each([
    ['is named in a comment', `${IMPORT}// suite('x', make)`],
    ['is imported and not called', `${IMPORT}it('x', () => undefined)`],
    ['is called by a function that nobody calls', `${IMPORT}function later() { suite('x', make) }`],
    ['is called by a class that nobody makes', `${IMPORT}class Later { x = suite('x', make) }`],
    ['is called by condition', `${IMPORT}if (process.env.CI) suite('x', make)`],
    ['is called behind a condition', `${IMPORT}process.env.CI && suite('x', make)`],
    ['is assigned by condition', `${IMPORT}process.env.CI ||= suite('x', make)`],
    ['is called inside a test', `${IMPORT}it('x', () => { suite('x', make) })`],
    ['has its name from elsewhere', `import { describePlatform } from './own.ts'\ndescribePlatform()`],
    ['is a member of something else', `${IMPORT}other.suite('x', make)`],
    ['is called after a return', inDescribe(`return; suite('x', make)`)],
    ['is called after a return by condition', inDescribe(`if (process.env.CI) return; suite('x', make)`)],
    ['is called after a return in a block', inDescribe(`{ return } suite('x', make)`)],
    ['is called after a throw', `${IMPORT}throw new Error('x'); suite('x', make)`],
    ['is called for each of nothing', `${IMPORT}for (const x of []) suite(x, make)`],
    ['is called for each of what may be nothing', `${IMPORT}for (const x of found()) suite(x, make)`],
    ['is called after a break', `${IMPORT}for (const x of ['a']) { if (x) break; suite(x, make) }`],
    ['is called in a describe that is skipped', `${IMPORT}describe.skip('x', () => { suite('x', make) })`],
    [
      'is called in a describe with options',
      `${IMPORT}describe('x', { skip: true }, () => { suite('x', make) })`,
    ],
    [
      'is called in a describe of its own',
      `${IMPORT}const describe = () => 0\ndescribe('x', () => { suite('x', make) })`,
    ],
  ])('%s is not counted', (_, text) => {
    expect(suitesCalled(parseTest('src/platforms/x/x.test.ts', text))).toEqual([])
  })
})
