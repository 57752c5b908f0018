// Which files a change touches: since a commit (`--changed=main`), or what is not committed yet (`--changed`).
import { spawnSync } from 'node:child_process'

/** Read the sources as text, so every change reaches them. */
const ALWAYS = [
  'test/house.test.ts',
  'test/requirements.test.ts',
  'test/reference.test.ts',
  'test/true-tests.test.ts',
]

/** Files that are there, relative to the root, and what every change reaches. Throws with git's words. */
export function changedFiles(root, flag) {
  const git = (...words) => {
    const done = spawnSync('git', words, { cwd: root, encoding: 'utf8' })
    if (done.status !== 0) throw new Error(`git ${words.join(' ')} failed: ${done.stderr}`)
    return done.stdout.split('\n').filter((line) => line !== '')
  }
  const since = flag === '--changed' ? 'HEAD' : flag.slice('--changed='.length)
  const from = git('merge-base', since, 'HEAD')[0]
  const changed = new Set([
    ...git('diff', '--name-only', '--diff-filter=d', '--relative', from),
    ...git('ls-files', '--others', '--exclude-standard'),
  ])
  return { since, changed: [...changed], reached: [...changed, ...ALWAYS] }
}
