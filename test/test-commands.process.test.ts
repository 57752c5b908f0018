// `npm test` and `npm run test:system` share the test files out: each runs in exactly one of them, and CI runs both.
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { expect, it } from 'vitest'
import { filesOf } from './house/source.ts'

const ROOT = join(import.meta.dirname, '..')
const PROJECTS = ['unit', 'steps', 'smoke', 'processes']

it('[I35.a0] every test file runs in one of the two commands, and CI runs both', () => {
  const listed = execFileSync(
    process.execPath,
    ['node_modules/vitest/vitest.mjs', 'list', '--filesOnly', '--json'],
    {
      cwd: ROOT,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    },
  )
  const files = JSON.parse(listed.slice(listed.indexOf('['))) as { file: string; projectName: string }[]
  const names = files.map(({ file }) => relative(ROOT, file))
  expect(names.filter((name, at) => names.indexOf(name) !== at)).toEqual([])
  const written = ['src', 'test', 'examples', 'bench']
    .flatMap(filesOf)
    .filter((file) => /\.test\.ts$/.test(file))
  expect(written.length).toBeGreaterThan(400)
  expect(names.toSorted()).toEqual(written.filter((file) => !file.includes('/fixtures/')).toSorted())
  expect([...new Set(files.map(({ projectName }) => projectName))].toSorted()).toEqual(PROJECTS.toSorted())
  const ci = readFileSync(join(ROOT, '.ci/run'), 'utf8').split('\n')
  expect(ci).toEqual(expect.arrayContaining(['npm test', 'npm run test:system']))
})
