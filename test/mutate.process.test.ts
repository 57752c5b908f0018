// A whole run over a small project: what is tested dies, what is not survives, and nothing is changed but a copy.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { mutate } from '../scripts/mutate/mutate.ts'
import { LEFT_TO_TEST_ALL } from '../scripts/vitest-reporter.mjs'
import { SCOPE } from './scenarios/deal.ts'

const MODULES = fileURLToPath(new URL('../node_modules', import.meta.url))
const CODE = `export const isTested = (n: number) => n > 3
export const isReached = (n: number) => n > 3
export const isAlone = (n: number) => n > 3
export const isLeant = (n: number) => n > 3
export const LIMIT = 5
export const loops = (n: number) => { while (n < 3) n += 1; return n }
`
const TEST = `import { expect, it } from 'vitest'
import { isLeant, isReached, isTested, loops } from './code.ts'
it('tells (all) of them', () => { expect([isTested(3), isTested(4)]).toEqual([false, true]); isReached(5) })
it('loops', () => { expect(loops(1)).toBe(3) })
let prepared = false
it('prepares', () => { prepared = true })
it('leans on the one before it', () => { expect([isLeant(3), prepared]).toEqual([false, true]) })
`
// Both share the modules that they load, and only this one asks for the limit.
const OTHER_TEST = `import { expect, it } from 'vitest'
import { LIMIT } from './code.ts'
it('has a limit', () => { expect(LIMIT).toBe(5) })
`

it('[I13.mutate] [I13.mutate-copy] [I13.mutate-unclear] kills what is tested, names what survives, and leaves the tree as it is', async (context) => {
  if (SCOPE !== 'all') return context.skip(LEFT_TO_TEST_ALL)
  const root = mkdtempSync(join(tmpdir(), 'sb-mutated-'))
  try {
    writeFileSync(join(root, 'code.ts'), CODE)
    writeFileSync(join(root, 'code.test.ts'), TEST)
    writeFileSync(join(root, 'limit.test.ts'), OTHER_TEST)
    writeFileSync(
      join(root, 'vitest.config.ts'),
      `export default { test: { pool: 'forks', isolate: false, maxWorkers: 1 } }\n`,
    )
    writeFileSync(join(root, '.gitignore'), 'node_modules\n')
    symlinkSync(MODULES, join(root, 'node_modules'))
    spawnSync('git', ['init', '-q'], { cwd: root })
    const said: string[] = []
    const options = {
      root,
      targets: ['code.ts'],
      seed: 1,
      minutes: 5,
      say: (line: string) => void said.push(line),
    }
    const report = await mutate(options)
    const fates = (name: string) =>
      report.tried
        .filter(({ line }) => CODE.split('\n')[line - 1]?.includes(name))
        .map(({ from, to, fate }) => `${from} → ${to} ${fate}`)
        .sort()
    expect(fates('isTested')).toEqual(['3 → 4 killed', '> → >= killed'])
    expect(fates('isReached')).toEqual(['3 → 4 survived', '> → >= survived'])
    expect(fates('isAlone')).toEqual(['3 → 4 unreached', '> → >= unreached'])
    expect(fates('loops')).toEqual(['1 → 2 survived', '3 → 4 killed', '< → <= killed'])
    expect(fates('isLeant')).toEqual(['3 → 4 unclear', '> → >= unclear'])
    expect(fates('LIMIT')).toEqual(['5 → 6 killed'])
    expect(report.score).toBeCloseTo(5 / 10)
    expect(said[0]).toContain('seed 1: 12 mutants in 1 files')
    expect(readFileSync(join(root, 'code.ts'), 'utf8')).toBe(CODE)
  } finally {
    rmSync(root, { recursive: true, force: true })
  }
})
