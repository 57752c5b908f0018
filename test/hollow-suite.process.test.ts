// The shared suites can fail: run on fixtures that bring nothing, no step that needs something passes.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { beforeAll, describe, expect, it } from 'vitest'

const ROOT = fileURLToPath(new URL('..', import.meta.url))

interface Step {
  readonly ancestorTitles: readonly string[]
  readonly title: string
  readonly status: 'passed' | 'failed' | 'skipped' | 'pending'
  readonly failureMessages: readonly string[]
}

/** The steps that need something of the fixture, and what. */
const NEEDS = {
  'real payloads become valid events': 'inbound',
  '[S16.unparsable] [S16.link-survives] unreadable payloads are recorded and change nothing else':
    'malformed',
  '[S16.401] what is not verified never reaches the intake': 'unverified',
  '[S2.ack-after-commit] received is said only after the commit, and never when there was none': 'inbound',
  '[S2.refused-again] what the store refused comes again, and is received once': 'inbound',
  '[I6.suite-lease] only the node with the lease receives, and the one that loses it stops': 'lease',
  '[I15.suite-history] a deaf link, a ghost or a gap: its history has what the link did not bring, under the ids of the link':
    'history',
  '[I15.suite-history] tells when its link was made': 'history',
  '[I15.suite-history] makes another link when it is asked to': 'history',
  '[I13.cut-plain] plain text that the outlet cut at its limit is taken, and read there as it was written':
    'reads',
  '[I13.cut-markdown] Markdown that the outlet cut at its limit is taken, and all of it is read there':
    'reads',
  'no secret in errors, answers or logs': 'planted',
  'tells the truth when the platform is down': 'down',
  'tells the truth when the platform is silent': 'silent',
  'tells the truth when the platform rejects': 'rejects',
  'tells the truth when the platform is busy': 'busy',
}

let steps: readonly Step[] = []
let printed = ''

beforeAll(() => {
  const file = join(mkdtempSync(join(tmpdir(), 'swb-hollow-')), 'report.json')
  const args = ['run', '--config', 'test/fixtures/hollow-suite.config.ts', '--reporter=json']
  // Beside it the reporter of `npm test`, which prints skips with their reasons.
  const own = [`--outputFile.json=${file}`, '--reporter=./scripts/vitest-reporter.mjs']
  const ran = spawnSync(process.execPath, ['node_modules/vitest/vitest.mjs', ...args, ...own], {
    cwd: ROOT,
    encoding: 'utf8',
    env: { ...process.env, SWITCHBOARD_TEST_WHOLE: '', SWITCHBOARD_TEST_VERDICT: '' },
  })
  printed = ran.stdout
  const report = JSON.parse(readFileSync(file, 'utf8')) as { testResults: { assertionResults: Step[] }[] }
  steps = report.testResults.flatMap((one) => one.assertionResults)
  rmSync(dirname(file), { recursive: true })
})

const of = (suite: string, title: string) =>
  steps.find((step) => step.ancestorTitles.includes(suite) && step.title === title)

it('[I13.no-bare-test] a test that asserted nothing fails', () => {
  const step = of('tests that assert nothing', 'because the list is empty')
  expect(step?.status).toBe('failed')
  expect(step?.failureMessages.join('\n')).toContain('assertion')
})

describe('a fixture that brings nothing', () => {
  it.each(Object.entries(NEEDS))('[I13.suite-not-empty] does not pass: %s', (title, part) => {
    const step = of('platform hollow: the shared suite', title)
    expect(step?.status).toBe('failed')
    expect(step?.failureMessages.join('\n')).toContain(`say why in without.${part}`)
  })

  it('[I13.suite-not-empty] still passes what needs nothing of it', () => {
    expect(of('platform hollow: the shared suite', 'stops, twice without harm')?.status).toBe('passed')
  })
})

describe('an adapter with one fault', () => {
  const STEPS = [
    '[S2.ack-after-commit] received is said only after the commit, and never when there was none',
    '[S2.refused-again] what the store refused comes again, and is received once',
    '[I6.suite-lease] only the node with the lease receives, and the one that loses it stops',
    'stops, twice without harm',
  ]
  it.each([
    ['none', ['passed', 'passed', 'passed', 'passed'], []],
    ['drops', ['passed', 'failed', 'passed', 'passed'], ['did not arrive again']],
    ['ignores the lease', ['passed', 'passed', 'failed', 'passed'], ['the second node did not wait']],
    [
      'goes on after stop',
      ['passed', 'passed', 'failed', 'failed'],
      ['stop did not give the lease back', 'still calls intake.receive after stop'],
    ],
  ])('[I13.suite-finds-faults] %s: the step for it fails, and says why', (fault, expected, words) => {
    const suite = `platform with fault: ${fault}: the shared suite`
    expect(STEPS.map((title) => of(suite, title)?.status)).toEqual(expected)
    const failed = STEPS.flatMap((title) => of(suite, title)?.failureMessages ?? [])
    for (const part of words) expect(failed.join('\n')).toContain(part)
  })
})

describe('a fixture that says why it brings nothing', () => {
  it.each(Object.entries(NEEDS))('[I13.suite-skip-reason] is skipped with its reason: %s', (title, part) => {
    const suite = 'platform excused: the shared suite'
    expect(of(suite, title)?.status).toMatch(/skipped|pending/)
    expect(printed).toContain(`skipped: ${suite} > ${title} (nothing of ${part} can be played here)`)
  })

  it('[I13.suite-skip-reason] so is the permission that a connector never asks for', () => {
    expect(printed).toMatch(/skipped: connector suite: hollow > .* \(this agent never asks\)/)
  })
})
