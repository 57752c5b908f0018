// What `npm test -- --changed` looks at: files of a real git repository, changed since a commit or not committed yet.
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { changedFiles } from '../scripts/changed-files.mjs'
import { exists } from './house/source.ts'

const root = mkdtempSync(join(tmpdir(), 'sb-changed-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))
const git = (...words: string[]) => {
  const who = ['-c', 'user.name=t', '-c', 'user.email=t@example.com']
  const done = spawnSync('git', [...who, ...words], { cwd: root, encoding: 'utf8' })
  if (done.status !== 0) throw new Error(done.stderr)
}
const write = (name: string, text: string) => {
  mkdirSync(dirname(join(root, name)), { recursive: true })
  writeFileSync(join(root, name), text)
}

beforeAll(() => {
  git('init', '-q', '-b', 'main')
  write('.gitignore', 'ignored.ts\n')
  for (const name of ['old.ts', 'edited.ts', 'gone.ts', 'committed.ts']) write(name, 'before')
  git('add', '.')
  git('commit', '-qm', 'first')
  git('checkout', '-qb', 'work')
  write('committed.ts', 'after')
  git('commit', '-qam', 'second')
  write('edited.ts', 'after')
  write('fresh.ts', 'new')
  write('ignored.ts', 'not ours')
  rmSync(join(root, 'gone.ts'))
})

it('[I13.changed] takes what is not committed, new files too, and what every change reaches', () => {
  const { changed, reached } = changedFiles(root, '--changed')
  expect([...changed].sort()).toEqual(['edited.ts', 'fresh.ts'])
  const always = reached.filter((file) => !changed.includes(file))
  expect(always).toContain('test/house.test.ts')
  expect(always.filter((file) => !exists(file))).toEqual([])
})

it('[I13.changed] takes what changed since a commit as well', () => {
  expect([...changedFiles(root, '--changed=main').changed].sort()).toEqual([
    'committed.ts',
    'edited.ts',
    'fresh.ts',
  ])
  expect(() => changedFiles(root, '--changed=nowhere')).toThrow('nowhere')
})

it('[I13.changed] reaches the tests that load a changed file, and neither processes nor what is loaded by name', () => {
  write('src/a/deep.ts', 'export const one = 1')
  write('src/a/near.ts', "import {\n  one,\n} from './deep.ts'\nexport { one }")
  write('src/a/near.test.ts', "import { one } from './near.ts'")
  write('src/b/far.test.ts', "export * from '../a/near.ts'")
  write('src/b/typed.test.ts', "import type { one } from '../a/deep.ts'")
  write('src/b/late.test.ts', "const late = await import('../a/deep.ts')")
  write('test/faults/big.test.ts', "import '../../src/a/deep.ts'")
  git('add', '.')
  git('commit', '-qm', 'third')
  write('src/a/deep.ts', 'export const one = 2')
  const { reached } = changedFiles(root, '--changed')
  const own = reached.filter((file) => !exists(file)).sort()
  expect(own).toEqual(['src/a/near.test.ts', 'src/b/far.test.ts'])
  write('test/faults/big.test.ts', "import '../../src/a/near.ts'")
  expect(changedFiles(root, '--changed').reached).toContain('test/faults/big.test.ts')
})

it('[I13.changed] a change of the core reaches scenarios, but those of adapters and of thousands of messages only through these', () => {
  write('src/core/river.ts', 'export const river = 1')
  write('src/platforms/p/index.ts', 'export const adapter = 1')
  write('test/scenarios/scripted.test.ts', "import '../../src/core/river.ts'")
  write('test/scenarios/ten-thousand.test.ts', "import '../../src/core/river.ts'")
  write(
    'test/scenarios/emulated.test.ts',
    "import '../../src/core/river.ts'\nimport '../../src/platforms/p/index.ts'",
  )
  git('add', '.')
  git('commit', '-qm', 'fourth')
  const scenarios = () =>
    changedFiles(root, '--changed').reached.filter((file) => file.startsWith('test/scenarios/'))
  write('src/core/river.ts', 'export const river = 2')
  expect(scenarios()).toEqual(['test/scenarios/scripted.test.ts'])
  write('src/platforms/p/index.ts', 'export const adapter = 2')
  expect([...scenarios()].sort()).toEqual([
    'test/scenarios/emulated.test.ts',
    'test/scenarios/scripted.test.ts',
  ])
  write('test/scenarios/ten-thousand.test.ts', "import '../../src/core/river.ts'\n")
  expect(scenarios()).toContain('test/scenarios/ten-thousand.test.ts')
})
