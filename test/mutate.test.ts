// Mutants: which changes are made of a source, in which order, and that the places say when they are reached.
import { describe, expect, it } from 'vitest'
import { apply, inOrder, instrument, readMutants } from '../scripts/mutate/mutants.ts'

const made = (text: string) => readMutants('x.ts', text).mutants.map((one) => apply(text, one))

describe('[I13.mutate] mutants', () => {
  it.each([
    ['x = a > b', ['x = a >= b']],
    ['x = a === b', ['x = a !== b']],
    ['x = a && b', ['x = a || b']],
    ['x = a ?? b', ['x = a']],
    ['x = !a', ['x = a']],
    ['x = true', ['x = false']],
    ['x = 7', ['x = 8']],
    ['x = a - b', ['x = a + b']],
    ['x = a + "b"', []],
    ['x = a ? b : c', ['x = true ? b : c', 'x = false ? b : c']],
    ['if (a) b = c', ['if (true) b = c', 'if (false) b = c']],
    ['work()', [';']],
    ['x = a.some(b)', ['x = a.every(b)']],
    ['x = a.filter(b)', ['x = a']],
    ['x = a.constructor(b)', []],
    ['type A = 7 | true', []],
    ['let a: 7 = b as 8', []],
    ['interface A { readonly b: true }', []],
  ])('of %s', (text, changed) => {
    expect(made(text)).toEqual(changed)
  })

  it('know the function around them, and the file where there is none', () => {
    const { mutants } = readMutants('x.ts', 'const a = 1\nconst f = () => 2\nfunction g() { return 3 }')
    expect(mutants.map(({ line, within }) => [line, within])).toEqual([
      [1, 'x.ts'],
      [2, 'x.ts:22'],
      [3, 'x.ts:30'],
    ])
  })

  it('a file that says what is reached does what it did', () => {
    const text = 'const f = (a) => ({ a })\nfunction* g() { yield 3 }\nreturn [f(1), [...g()]]'
    const { places } = readMutants('x.ts', text.replace('return ', ''))
    const globals = globalThis as { reachedPlaces?: Set<string> | undefined }
    globals.reachedPlaces = new Set()
    const done = new Function(instrument(text, places))() as unknown
    const reached = [...globals.reachedPlaces]
    globals.reachedPlaces = undefined
    expect(done).toEqual([{ a: 1 }, [3]])
    expect(reached.sort()).toEqual(places.map(({ id }) => id).sort())
  })

  it('[I13.mutate-seed] come in the same order for the same seed, and all of them', () => {
    const lines = Array.from({ length: 50 }, (_, at) => `work(${at})`)
    const { mutants } = readMutants('x.ts', lines.join('\n'))
    expect(mutants).toHaveLength(100)
    expect(inOrder(mutants, 7)).toEqual(inOrder(mutants, 7))
    expect(inOrder(mutants, 7)).not.toEqual(inOrder(mutants, 8))
    expect(new Set(inOrder(mutants, 7))).toEqual(new Set(mutants))
  })

  it('[I13.mutate-seed] keep their order when other lines come and go', () => {
    const lines = Array.from({ length: 50 }, (_, at) => `work(${at % 7})`)
    const keys = (text: string) => inOrder(readMutants('x.ts', text).mutants, 7).map(({ key }) => key)
    const before = keys(lines.join('\n'))
    const after = keys(['const before = 1', ...lines.slice(0, 40), 'const after = 2'].join('\n'))
    expect(new Set(before).size).toBe(before.length)
    const shared = before.filter((key) => after.includes(key))
    expect(shared).toHaveLength(80)
    expect(after.filter((key) => before.includes(key))).toEqual(shared)
  })
})
