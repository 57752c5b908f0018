// The output of a test run: a line per file, each skip with its reason, every failure in full, the time by folder, and
// the count alone on the last line. On CI a test that needs PostgreSQL may not be skipped: such a skip counts as a
// failure. In a run of all tests, a platform, connector or store whose suite did not run also counts as a failure.
import { readdirSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { stripVTControlCharacters } from 'node:util'

const onCi = process.env.CI === 'true' || process.env.CI === '1'
/** The skip reason of tests that run before an issue is resolved, and not for every change. */
export const LEFT_TO_TEST_ALL = 'with npm run test:all'
const print = (text) => process.stdout.write(`${text}\n`)
const indent = (text) => text.replace(/^/gm, '    ')

export default class CountingReporter {
  #root = process.cwd()
  #failures = []
  #passed = 0
  #failed = 0
  #skipped = 0
  #files = []
  #suites = new Set()
  #began = Date.now()

  onInit(vitest) {
    this.#root = vitest.config.root
  }

  onUserConsoleLog(log) {
    print(indent(log.content.trimEnd()))
  }

  onTestModuleEnd(module) {
    const file = relative(this.#root, module.moduleId)
    const count = { passed: 0, failed: 0, skipped: 0 }
    const lines = []
    const fail = (title, errors) => {
      count.failed += 1
      this.#failures.push({ title, errors, file })
      lines.push(`  ✗ ${title}`)
    }
    for (const error of module.errors()) fail(file, [error])
    for (const suite of module.children.allSuites()) {
      if (suite.errors().length > 0) fail(`${file} > ${suite.fullName}`, suite.errors())
    }
    for (const test of module.children.allTests()) {
      const result = test.result()
      const title = `${file} > ${test.fullName}`
      if (result.state === 'passed') count.passed += 1
      else if (result.state === 'failed') fail(title, result.errors)
      else {
        const reason = result.note ?? 'no reason given'
        if (onCi && reason !== LEFT_TO_TEST_ALL && /postgres/i.test(`${title} ${reason}`)) {
          fail(title, [{ message: `skipped on CI, where PostgreSQL may not be missing: ${reason}` }])
        } else {
          count.skipped += 1
          lines.push(`  - skipped: ${test.fullName} (${reason})`)
        }
      }
    }
    for (const suite of suitesIn(module)) this.#suites.add(`${file}: ${suite}`)
    this.#files.push({ file, seconds: module.diagnostic().duration / 1000, passed: count.passed })
    this.#passed += count.passed
    this.#failed += count.failed
    this.#skipped += count.skipped
    print(`${count.failed > 0 ? '✗' : '✓'} ${file}  ${tally(count)}  ${seconds(module)}`)
    for (const line of lines) print(line)
  }

  onTestRunEnd(_modules, unhandledErrors, reason) {
    for (const error of unhandledErrors) {
      this.#failed += 1
      this.#failures.push({ title: 'an error outside every test', errors: [error] })
    }
    if (reason === 'interrupted') {
      this.#failed += 1
      this.#failures.push({ title: 'the run was interrupted', errors: [] })
    }
    const part = process.env.SWITCHBOARD_TEST_WHOLE
    if (part && reason !== 'interrupted') {
      for (const missing of suitesMissing(this.#root, this.#suites, part)) {
        this.#failed += 1
        this.#failures.push({ title: missing, errors: [] })
      }
    }
    for (const line of timeTable(this.#files, (Date.now() - this.#began) / 1000)) print(line)
    for (const { title, errors } of this.#failures) {
      print(`\n✗ ${title}`)
      for (const error of errors) print(indent(describe(error)))
    }
    if (this.#failed > 0) process.exitCode = 1
    const verdict = process.env.SWITCHBOARD_TEST_VERDICT
    const count = { passed: this.#passed, failed: this.#failed, skipped: this.#skipped }
    const failures = this.#failures.map(({ title, file }) => ({ title, file }))
    if (verdict) writeFileSync(verdict, JSON.stringify({ ...count, failures }))
    print('')
    print(tally(count))
  }
}

/** Returns the shared suites with a passed test in this file. */
function suitesIn(module) {
  return [...module.children.allSuites()]
    .filter((suite) => SUITE.test(suite.name))
    .filter((suite) => [...suite.children.allTests()].some((test) => test.result().state === 'passed'))
    .map((suite) => suite.name)
}

/** The names of the suites in src/testing/. */
const SUITE = /^platform .*: the shared suite$|^connector suite: |\[I2\.suite-store\]/

/** Their suites need real servers or programs, so only the system tests run them. */
const SUITE_IN_SYSTEM = ['src/platforms/email', 'src/agents/acp', 'src/agents/claude-code']

/** Returns the folders whose suite did not run, in a whole run of `part`: quick, system or all. */
export function suitesMissing(root, ran, part = 'all') {
  const adapters = ['src/platforms', 'src/agents'].flatMap((bank) =>
    readdirSync(join(root, bank), { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map((entry) => `${bank}/${entry.name}`),
  )
  const folders = [...adapters, 'src/store/sqlite', 'src/store/postgres'].filter(
    (folder) => part === 'all' || SUITE_IN_SYSTEM.includes(folder) === (part === 'system'),
  )
  return folders.flatMap((folder) => {
    const here = [...ran].filter((one) => one.startsWith(`${folder}/`))
    if (here.length === 0) return [`the shared suite did not run for ${folder}`]
    // A suite that is split between files has run when all of its parts have.
    const shares = here.flatMap((one) => (SHARE.exec(one) ? [SHARE.exec(one).slice(1).map(Number)] : []))
    const nths = new Set(shares.map(([nth]) => nth))
    return Array.from({ length: shares[0]?.[1] ?? 0 }, (_, at) => at + 1)
      .filter((nth) => !nths.has(nth))
      .map((nth) => `part ${nth} of the shared suite did not run for ${folder}`)
  })
}

const SHARE = /, part (\d+) of (\d+)$/

/** Returns the seconds by folder, and the slowest files. A run of one or two files needs no table. */
export function timeTable(files, took) {
  if (files.length < 3) return []
  const folderOf = (file) => file.split('/').slice(0, 2).join('/')
  const folders = new Map()
  for (const { file, seconds, passed } of files) {
    const name =
      /^(src|test)\//.test(file) && file.split('/').length > 2 ? folderOf(file) : file.split('/')[0]
    const sum = folders.get(name) ?? { seconds: 0, files: 0, passed: 0 }
    folders.set(name, { seconds: sum.seconds + seconds, files: sum.files + 1, passed: sum.passed + passed })
  }
  const slowest = (list) => list.sort((a, b) => b.seconds - a.seconds)
  const row = (cells) =>
    `  ${cells[0].padEnd(28)}${cells
      .slice(1)
      .map((cell) => String(cell).padStart(9))
      .join('')}`
  const total = files.reduce((sum, { seconds }) => sum + seconds, 0)
  return [
    '',
    row(['folder', 'seconds', 'files', 'tests']),
    ...slowest([...folders].map(([name, sum]) => ({ name, ...sum }))).map((sum) =>
      row([sum.name, sum.seconds.toFixed(1), sum.files, sum.passed]),
    ),
    row(['all', total.toFixed(1), files.length, files.reduce((sum, { passed }) => sum + passed, 0)]),
    `  took ${took.toFixed(0)} s; the slowest files:`,
    ...slowest([...files])
      .slice(0, 10)
      .map(({ file, seconds }) => `  ${seconds.toFixed(1).padStart(8)}  ${file}`),
  ]
}

/** Returns the last line of every run. */
export function tally({ passed, failed, skipped }) {
  return `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`
}

function seconds(module) {
  return `${(module.diagnostic().duration / 1000).toFixed(2)} s`
}

function describe(error) {
  const parts = [
    error.stack?.includes(error.message) ? error.stack : `${error.message}\n${error.stack ?? ''}`,
  ]
  if (error.diff) parts.push(error.diff)
  for (let cause = error.cause; cause; cause = cause.cause) {
    parts.push(`caused by: ${cause.stack ?? cause.message ?? cause}`)
  }
  return stripVTControlCharacters(parts.join('\n').trimEnd())
}
