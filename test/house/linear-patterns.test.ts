// No pattern of ours takes more than linear time: a pattern is one step for whoever counts steps, so each is fed what it repeats.
import { expect, it } from 'vitest'
import { slowPump } from './pump.ts'
import { filesOf, source } from './source.ts'
import { walk } from './syntax.ts'

/** With the reason why its text is short, or nobody's but ours. */
const SLOW: Readonly<Record<string, string>> = {
  'src/config/installed-plugin.ts /\\$\\{([A-Za-z_][\\w.]*)(?::-([^}]*))?\\}/g':
    'a command line of a plugin that the operator installed',
  'src/platforms/email/mail/addresses.ts /"(?:[^"\\\\]|\\\\.)*"/g': 'at most MOST_FROM characters',
}

const ours = ['src', 'web']
  .flatMap(filesOf)
  .filter((file) => /\.tsx?$/.test(file) && !/\.test\.|^src\/testing\/|\/fixtures\//.test(file))

const patterns = ours.flatMap((file) => patternsIn(file).map((pattern) => ({ file, pattern })))

it('[I13.linear-patterns] every pattern takes linear time, or its text is short', () => {
  expect(patterns.length).toBeGreaterThan(500)
  // Many stand in several files: each is tried once.
  const each = new Map(patterns.map(({ pattern }) => [String(pattern), pattern]))
  const slow = new Map(
    [...each].flatMap(([key, pattern]) => {
      const pump = slowPump(pattern)
      return pump ? [[key, pump] as const] : []
    }),
  )
  const found = patterns.flatMap(({ file, pattern }) => {
    const pump = slow.get(String(pattern))
    return pump ? [{ key: `${file} ${pattern}`, pump }] : []
  })
  // A run is looked through once where the pattern cannot begin within it: (?<!\s)\s+$ instead of \s+$.
  expect(found.filter(({ key }) => SLOW[key] === undefined)).toEqual([])
  expect(Object.keys(SLOW).filter((key) => !found.some((one) => one.key === key))).toEqual([])
})

it.each([/\s+$/, /<!--[\s\S]*?-->/, /^([^\S\n]*)#/m, /^x(a|a)*$/, /"(?:[^"\\]|\\.)*"/y])(
  'finds that %s is slow',
  (pattern) => {
    expect(slowPump(pattern)).toBeDefined()
  },
)

it.each([
  /(?<!\s)\s+$/,
  /\s+/g,
  /^\s+/,
  /<[^<>]*>/g,
  /^([^\S\n\r\u2028\u2029]*)#/m,
  /^(a|b)*c/,
  /a\s*\n\s*/,
  /[a-z]+|\d+/gi,
])('finds that %s is not', (pattern) => {
  expect(slowPump(pattern)).toBeUndefined()
})

function patternsIn(file: string): readonly RegExp[] {
  const found: RegExp[] = []
  walk(source(file).tree, ({ regex }) => {
    if (regex === undefined || regex === null) return
    const { pattern, flags } = regex as { readonly pattern: string; readonly flags: string }
    found.push(new RegExp(pattern, flags))
  })
  return found
}
