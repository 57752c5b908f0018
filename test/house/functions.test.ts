// Functions fit a screen or two: counted are their own lines, without those of the functions in them.
import { describe, expect, it } from 'vitest'
import { filesOf, parse, type Source, source } from './source.ts'
import { childrenOf, FUNCTIONS, type Node, nameOf } from './syntax.ts'

const MOST_OWN_LINES = 80

/** With the reason. */
const LONGER: Readonly<Record<string, string>> = {
  'src/store/assemble.ts assembleStore':
    'a table: each member of the store, and the verb behind it, in a line',
}

const ours = ['src', 'web']
  .flatMap(filesOf)
  .filter((file) => /\.tsx?$/.test(file) && !/\.test\.|^src\/testing\/|\/fixtures\//.test(file))

const long = ours.flatMap((file) =>
  functionsIn(source(file))
    .filter(({ ownLines }) => ownLines > MOST_OWN_LINES)
    .map(({ name, ownLines }) => ({ key: `${file} ${name}`, ownLines })),
)

describe('[I13.functions] functions', () => {
  it(`have at most ${MOST_OWN_LINES} lines of their own`, () => {
    expect(ours.length).toBeGreaterThan(900)
    expect(long.filter(({ key }) => LONGER[key] === undefined)).toEqual([])
  })

  it('no exception outlives its reason', () => {
    expect(Object.keys(LONGER).filter((key) => !long.some((one) => one.key === key))).toEqual([])
  })

  it('lines of a function within do not count; those of a call or an object do', () => {
    const text = [
      'export function outer(x: number) {',
      '  const inner = () => {',
      '    return 1',
      '  }',
      '  const one = x > 1',
      '  return {',
      '    one,',
      '    two() {',
      '      return inner()',
      '    },',
      '    many: [1, 2].map((each) => each),',
      '  }',
      '}',
    ].join('\n')
    expect(functionsIn(parse('x.ts', text))).toEqual([
      { name: 'inner', ownLines: 3 },
      { name: 'two', ownLines: 3 },
      { name: 'many', ownLines: 1 },
      { name: 'outer', ownLines: 7 },
    ])
  })
})

interface Counted {
  readonly name: string
  readonly ownLines: number
}

function functionsIn({ text, tree }: Pick<Source, 'text' | 'tree'>): readonly Counted[] {
  const lineAt = lineFinder(text)
  const counted: Counted[] = []
  /** Resolves to how many lines the functions within take: those of more than one line. */
  const within = (node: Node, name: string): number => {
    const called = calledBy(node) ?? name
    const inner = childrenOf(node).reduce((lines, child) => lines + within(child, called), 0)
    if (!FUNCTIONS.has(node.type)) return inner
    const all = lineAt(node.end - 1) - lineAt(node.start) + 1
    counted.push({ name: called, ownLines: all - inner })
    return all > 1 ? all : 0
  }
  within(tree, '')
  return counted
}

function calledBy(node: Node): string | null {
  return nameOf(node.type === 'Property' ? node.key : node.id)
}

function lineFinder(text: string): (at: number) => number {
  const starts = [...text.matchAll(/^/gm)].map(({ index }) => index)
  return (at) => {
    let [low, high] = [0, starts.length - 1]
    while (low < high) {
      const middle = (low + high + 1) >> 1
      if ((starts[middle] ?? 0) <= at) low = middle
      else high = middle - 1
    }
    return low
  }
}
