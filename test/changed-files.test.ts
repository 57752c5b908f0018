// What `npm test -- --changed` looks at: files of a real git repository, changed since a commit or not committed yet.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
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
const write = (name: string, text: string) => writeFileSync(join(root, name), text)

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
