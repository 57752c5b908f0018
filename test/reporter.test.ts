// What a run of the tests prints at its end: where the time went, and which suite did not run.
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { bothLooks, secondLook } from '../scripts/second-look.mjs'
import { suitesMissing, timeTable } from '../scripts/vitest-reporter.mjs'
import { foldersOf } from './house/source.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))

it('[I13.time-table] seconds by folder and the slowest files stand at the end', () => {
  const table = timeTable(
    [
      { file: 'src/store/a.test.ts', seconds: 2, passed: 3 },
      { file: 'src/store/deep/b.test.ts', seconds: 40.25, passed: 1 },
      { file: 'test/house.test.ts', seconds: 1, passed: 2 },
      { file: 'bench/deep/c.test.ts', seconds: 3, passed: 2 },
    ],
    23.4,
  ).map((line) => line.trim().replace(/ +/g, ' '))
  expect(table).toEqual([
    '',
    'folder seconds files tests',
    'src/store 42.3 2 4',
    'bench 3.0 1 2',
    'test 1.0 1 2',
    'all 46.3 4 8',
    'took 23 s; the slowest files:',
    '40.3 src/store/deep/b.test.ts',
    '3.0 bench/deep/c.test.ts',
    '2.0 src/store/a.test.ts',
    '1.0 test/house.test.ts',
  ])
})

it('[I13.suite-ran] a run of all tests misses the suite of whoever did not run it', () => {
  const all = [
    ...foldersOf('src/platforms').map((name) => `src/platforms/${name}/x.test.ts: platform ${name}`),
    ...foldersOf('src/agents').map((name) => `src/agents/${name}/x.test.ts: connector suite`),
    'src/store/sqlite/x.test.ts: store',
    'src/store/postgres/x.test.ts: store',
  ]
  expect(all.length).toBeGreaterThan(8)
  expect(suitesMissing(ROOT, new Set(all))).toEqual([])
  for (const one of all) {
    const folder = one.split('/').slice(0, 3).join('/')
    expect(suitesMissing(ROOT, new Set(all.filter((other) => other !== one)))).toEqual([
      `the shared suite did not run for ${folder}`,
    ])
  }
  const quick = suitesMissing(ROOT, new Set(), 'quick')
  const system = suitesMissing(ROOT, new Set(), 'system')
  expect(system).toContain('the shared suite did not run for src/platforms/email')
  expect([...quick, ...system].toSorted()).toEqual([...suitesMissing(ROOT, new Set())].toSorted())
  const half = (nth: number) =>
    `src/store/postgres/x.test.ts: [I2.suite-store] PostgreSQL store, part ${nth} of 2`
  const others = all.filter((one) => !one.startsWith('src/store/postgres/'))
  expect(suitesMissing(ROOT, new Set([...others, half(1), half(2)]))).toEqual([])
  expect(suitesMissing(ROOT, new Set([...others, half(2)]))).toEqual([
    'part 1 of the shared suite did not run for src/store/postgres',
  ])
})

it('looks a second time at a few red files, never at many or at what is no test', () => {
  const red = (...files: (string | undefined)[]) => ({
    ...{ passed: 10, failed: files.length, skipped: 0 },
    failures: files.map((file) => ({ title: `${file} > a test`, file })),
  })
  expect(secondLook(red())).toBeNull()
  expect(secondLook(red('a.test.ts', 'a.test.ts', 'b.test.ts'))).toEqual(['a.test.ts', 'b.test.ts'])
  expect(secondLook(red('a', 'b', 'c', 'd', 'e', 'f'))).toBeNull()
  expect(secondLook(red('a', undefined))).toBeNull()
  expect(secondLook({ passed: 0, failed: 1, skipped: 0, failures: [] })).toBeNull()
})

it('names what was green only alone, and keeps what stayed red', () => {
  const first = { passed: 10, failed: 1, skipped: 2, failures: [{ title: 'a > one', file: 'a' }] }
  const alone = { passed: 4, failed: 0, skipped: 0, failures: [] }
  const count = { passed: 11, failed: 0, skipped: 2 }
  expect(bothLooks(first, alone)).toEqual({ ...count, unsteady: ['a > one'] })
  expect(bothLooks(first, { ...alone, failed: 1 })).toMatchObject({ passed: 10, failed: 1, unsteady: [] })
  expect(bothLooks(first, { ...alone, passed: 0 })).toMatchObject({ failed: 1 })
  expect(bothLooks(first, null)).toMatchObject({ failed: 1 })
})
