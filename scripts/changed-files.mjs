// Finds the files that a change touches, since a commit (`--changed=main`) or uncommitted (`--changed`), and the tests
// that it reaches: those that import a changed file, directly or through others, by static imports. Modules that load
// later by name, such as an adapter from the registry, are not followed. The whole run tests them together.
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, posix, sep } from 'node:path'

/** They read the sources as text, so every change reaches them. */
const ALWAYS = ['test/house.test.ts', 'test/requirements.test.ts', 'test/reference.test.ts']
const FOLDERS = ['src', 'test', 'examples', 'bench', 'web', 'scripts']
/** They start daemons and browsers. The whole run includes them, or a change of their own file. */
const PROCESSES = /^test\/(faults|daemon|browser)\/|\.process\.test\.ts$/
/**
 * They send thousands of messages, which takes a minute of a core. The whole run includes them, or their own change.
 */
const VOLUMES = /^test\/scenarios\/(ten-thousand|long-queue|many-approvals|looked-all)\.test\.ts$/
/**
 * Scenarios on a scripted platform prove the behaviour of these rooms. Scenarios with an emulated platform, on real
 * time, are for work on adapters. Three platforms have no service behind them and are part of the other scenarios.
 */
const INNER = /^src\/(core|store|gateway|health|operations|modules|runtime|daemon)\//
const ADAPTER = /^src\/platforms\/(?!(?:mcp|web|webhook)\/)[^/]+\/index\.ts$/
const SCENARIO = /^test\/scenarios\//
const IMPORT = /^(?:import|export)\s+(?!type\s)(?:[^'"]*?\sfrom\s+)?['"](\.{1,2}\/[^'"]+)['"]/gm

/** Returns the existing changed files, relative to the root, and the tests that they reach. Throws git's error. */
export function changedFiles(root, flag) {
  const git = (...words) => {
    const done = spawnSync('git', words, { cwd: root, encoding: 'utf8' })
    if (done.status !== 0) throw new Error(`git ${words.join(' ')} failed: ${done.stderr}`)
    return done.stdout.split('\n').filter((line) => line !== '')
  }
  const since = flag === '--changed' ? 'HEAD' : flag.slice('--changed='.length)
  const from = git('merge-base', since, 'HEAD')[0]
  const changed = [
    ...new Set([
      ...git('diff', '--name-only', '--diff-filter=d', '--relative', from),
      ...git('ls-files', '--others', '--exclude-standard'),
    ]),
  ]
  const reached = testsFor(root, changed).filter(
    (file) => changed.includes(file) || !(PROCESSES.test(file) || VOLUMES.test(file)),
  )
  return { since, changed, reached: [...new Set([...reached, ...ALWAYS])] }
}

function testsFor(root, changed) {
  const importers = importersIn(root)
  const ofAdapters = testsReachedBy(importers, [...importers.keys()].filter(isAdapter))
  const ofInner = testsReachedBy(importers, changed.filter(isInner))
  return [
    ...testsReachedBy(
      importers,
      changed.filter((file) => !isInner(file)),
    ),
    ...[...ofInner].filter((file) => !(SCENARIO.test(file) && ofAdapters.has(file))),
  ]
}

const isInner = (file) => INNER.test(file)
const isAdapter = (file) => ADAPTER.test(file)

function testsReachedBy(importers, files) {
  const reached = new Set(files)
  // A loop over a set also visits items that are added during it.
  for (const file of reached) for (const one of importers.get(file) ?? []) reached.add(one)
  return new Set([...reached].filter((file) => file.endsWith('.test.ts')))
}

/** Returns the importers of each file. */
function importersIn(root) {
  const importers = new Map()
  for (const file of FOLDERS.flatMap((folder) => filesIn(root, folder))) {
    for (const [, to] of readFileSync(join(root, file), 'utf8').matchAll(IMPORT)) {
      const target = posix.join(posix.dirname(file), to)
      importers.set(target, [...(importers.get(target) ?? []), file])
    }
  }
  return importers
}

function filesIn(root, folder) {
  if (!existsSync(join(root, folder))) return []
  return readdirSync(join(root, folder), { recursive: true })
    .map((name) => posix.join(folder, name.split(sep).join('/')))
    .filter((file) => /\.(ts|tsx|mjs|mts)$/.test(file) && !file.includes('node_modules/'))
}
