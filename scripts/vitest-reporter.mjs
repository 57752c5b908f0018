// What a test run prints: a line per file, each skip with its reason, every failure in full, and the count alone on
// the last line. On CI a test that needs PostgreSQL may not be skipped: such a skip is counted as a failure.
import { relative } from 'node:path'
import { stripVTControlCharacters } from 'node:util'

const onCi = process.env.CI === 'true' || process.env.CI === '1'
const print = (text) => process.stdout.write(`${text}\n`)
const indent = (text) => text.replace(/^/gm, '    ')

export default class CountingReporter {
  #root = process.cwd()
  #failures = []
  #passed = 0
  #failed = 0
  #skipped = 0

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
      this.#failures.push({ title, errors })
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
        if (onCi && /postgres/i.test(`${title} ${reason}`)) {
          fail(title, [{ message: `skipped on CI, where PostgreSQL may not be missing: ${reason}` }])
        } else {
          count.skipped += 1
          lines.push(`  - skipped: ${test.fullName} (${reason})`)
        }
      }
    }
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
    for (const { title, errors } of this.#failures) {
      print(`\n✗ ${title}`)
      for (const error of errors) print(indent(describe(error)))
    }
    if (this.#failed > 0) process.exitCode = 1
    print('')
    print(tally({ passed: this.#passed, failed: this.#failed, skipped: this.#skipped }))
  }
}

function tally({ passed, failed, skipped }) {
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
