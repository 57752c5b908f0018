// Mutation testing: changes the code in a copy, one place at a time, and runs the tests that reach the place. If no
// test notices a change, it survived: a test is missing, or the code is not needed.
import { spawn, spawnSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { apply, inOrder, instrument, type Mutant, readMutants } from './mutants.ts'
import { type Reach, type ReachingTest, readReach, testsReaching } from './reach.ts'

export interface MutateOptions {
  readonly root: string
  /** The files to change, relative to the root. */
  readonly targets: readonly string[]
  readonly seed: number
  readonly minutes: number
  /** The most mutants to try. */
  readonly sample?: number
  /** Arguments of vitest that select tests. */
  readonly tests?: readonly string[]
  readonly say: (line: string) => void
}

/**
 * `unclear`: a test that failed with the change also fails without it, because the machine is busy or because it
 * depends on another test. That says nothing about the change.
 */
export type Fate = 'killed' | 'timeout' | 'survived' | 'unreached' | 'unclear'
export interface Tried extends Mutant {
  readonly fate: Fate
}

export interface MutationReport {
  readonly seed: number
  /** All mutants of the targets. */
  readonly mutants: number
  readonly tried: readonly Tried[]
  /** The share of killed ones among those tried and not unclear, 0 to 1; null without any. */
  readonly score: number | null
  readonly seconds: number
}

/** How many of the quickest tests run first. They kill most mutants. */
const FIRST_TESTS = 25
const LEAST_TIMEOUT_MS = 120_000
const RECORDER = fileURLToPath(new URL('./record-reach.ts', import.meta.url))

export async function mutate(options: MutateOptions): Promise<MutationReport> {
  const began = Date.now()
  const deadline = began + options.minutes * 60_000
  const copy = copyOf(options.root)
  try {
    const sources = options.targets.map((file) => {
      const text = readFileSync(join(copy, file), 'utf8')
      return { file, text, ...readMutants(file, text) }
    })
    const all = sources.flatMap(({ mutants }) => mutants)
    const chosen = inOrder(all, options.seed).slice(0, options.sample)
    options.say(
      `seed ${options.seed}: ${all.length} mutants in ${sources.length} files, ${chosen.length} chosen`,
    )

    for (const { file, text, places } of sources) writeFileSync(join(copy, file), instrument(text, places))
    const reaches = await recordReach(copy, options.tests ?? [], deadline - Date.now())
    for (const { file, text } of sources) writeFileSync(join(copy, file), text)
    const known = reaches.reduce((sum, { tests }) => sum + tests.length, 0)
    options.say(
      `${known} tests in ${reaches.length} files reach what they reach; ${secondsSince(began)} s so far`,
    )
    if (known === 0) throw new Error('no test passes in the copy: there is nothing to kill mutants with')

    const tried: Tried[] = []
    const green = new Set<string>()
    for (const mutant of chosen) {
      if (Date.now() > deadline) break
      const text = sources.find(({ file }) => file === mutant.file)?.text ?? ''
      const change = (changed: boolean) =>
        writeFileSync(join(copy, mutant.file), changed ? apply(text, mutant) : text)
      const reaching = testsReaching(mutant.within, reaches)
      const fate = await fateOf({ copy, deadline, green, change }, reaching).finally(() => change(false))
      if (fate === null) break
      tried.push({ ...mutant, fate })
      options.say(`${tried.length} ${fate}  ${describe(mutant)}`)
    }
    const counted = tried.filter(({ fate }) => fate !== 'unclear')
    const killed = counted.filter(({ fate }) => fate === 'killed' || fate === 'timeout').length
    return {
      seed: options.seed,
      mutants: all.length,
      tried,
      score: counted.length === 0 ? null : killed / counted.length,
      seconds: secondsSince(began),
    }
  } finally {
    rmSync(copy, { recursive: true, force: true })
  }
}

export function describe({ file, line, from, to }: Mutant): string {
  const short = (text: string) => {
    const flat = text.replace(/\s+/g, ' ')
    return flat.length > 60 ? `${flat.slice(0, 60)}…` : flat
  }
  return `${file}:${line}  ${short(from)} → ${short(to)}`
}

function secondsSince(began: number): number {
  return Math.round((Date.now() - began) / 1000)
}

/** Copies every file that git knows or would add, and links the packages. */
function copyOf(root: string): string {
  const copy = mkdtempSync(join(tmpdir(), 'sb-mutate-'))
  const listed = spawnSync('git', ['ls-files', '-co', '--exclude-standard', '-z'], {
    cwd: root,
    encoding: 'utf8',
  })
  if (listed.status !== 0) throw new Error(`git does not list the files: ${listed.stderr}`)
  for (const file of listed.stdout.split('\0').filter((name) => name !== '')) {
    mkdirSync(dirname(join(copy, file)), { recursive: true })
    cpSync(join(root, file), join(copy, file), { verbatimSymlinks: true })
  }
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'))
  return copy
}

async function recordReach(
  copy: string,
  tests: readonly string[],
  limitMs: number,
): Promise<readonly Reach[]> {
  const to = mkdtempSync(join(tmpdir(), 'sb-reach-'))
  try {
    // The recorder is in the copy, so that it finds the test runner.
    const recorder = join(copy, '.mutate-record-reach.ts')
    cpSync(RECORDER, recorder)
    const config = join(copy, 'vitest.mutate.config.ts')
    writeFileSync(config, CONFIG)
    await vitest(copy, [...tests], { SWITCHBOARD_REACH: to }, limitMs)
    return readReach(to)
  } finally {
    rmSync(to, { recursive: true, force: true })
  }
}

// The projects with the recorder before each test file. During the recording each file loads its modules again.
// Otherwise a module that another file had loaded would not count as reached.
const CONFIG = `import base from './vitest.config.ts'
const recording = process.env.SWITCHBOARD_REACH !== undefined
const patient = (test) => ({
  ...test,
  testTimeout: 60_000,
  ...(recording
    ? { isolate: true, setupFiles: [...(test.setupFiles ?? []), './.mutate-record-reach.ts'] }
    : {}),
})
const { projects, ...test } = base.test ?? {}
export default {
  ...base,
  test: projects
    ? { ...test, projects: projects.map((one) => ({ ...one, test: patient(one.test) })) }
    : patient(test),
}
`

interface Trial {
  readonly copy: string
  readonly deadline: number
  /** Tests that passed alone, without a change. */
  readonly green: Set<string>
  readonly change: (changed: boolean) => void
}

/** Returns null if the time ran out. */
async function fateOf(trial: Trial, reaching: readonly ReachingTest[]): Promise<Fate | null> {
  if (reaching.length === 0) return 'unreached'
  for (const tests of [reaching.slice(0, FIRST_TESTS), reaching.slice(FIRST_TESTS)]) {
    if (tests.length === 0) continue
    trial.change(true)
    const outcome = await run(trial, tests)
    if (outcome === null) return null
    if (outcome === 'passed') continue
    const { late, red } = outcome
    const suspects = late ? red : red.filter((test) => !trial.green.has(nameIn(test)))
    if (suspects.length > 0) {
      trial.change(false)
      const again = await run(trial, suspects)
      if (again === null) return null
      if (again !== 'passed') return 'unclear'
      if (!late) for (const test of suspects) trial.green.add(nameIn(test))
    }
    return late ? 'timeout' : 'killed'
  }
  return 'survived'
}

const nameIn = ({ file, name }: ReachingTest) => `${file} ${name}`

/** Returns the tests that failed, or may have. `late`: they exceeded their time. */
async function run(
  { copy, deadline }: Trial,
  tests: readonly ReachingTest[],
): Promise<'passed' | { readonly late: boolean; readonly red: readonly ReachingTest[] } | null> {
  const expected = tests.reduce((sum, { ms }) => sum + ms, 0)
  const timeoutMs = LEAST_TIMEOUT_MS + 10 * expected
  const files = [...new Set(tests.map(({ file }) => relative(copy, file)))]
  const names = tests.map(({ name }) => name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
  // An argument's length is limited. With too many names, whole files are run.
  const pattern = `^(?:${names.join('|')})$`
  const only = pattern.length < 100_000 ? ['-t', pattern] : []
  const to = join(copy, '.mutate-outcome.json')
  rmSync(to, { force: true })
  const told = ['--reporter=json', `--outputFile=${to}`]
  const limitMs = Math.min(timeoutMs, deadline - Date.now())
  const code = await vitest(copy, ['--bail', '1', ...told, ...only, ...files], {}, limitMs)
  if (code === 'late') return Date.now() >= deadline ? null : { late: true, red: tests }
  // Without an outcome file the run crashed, maybe because of the change.
  const outcome = existsSync(to) ? (JSON.parse(readFileSync(to, 'utf8')) as Outcome) : null
  // Names that match no test would let every mutant survive.
  if (code === 0 && outcome?.numPassedTests === 0)
    throw new Error(`none of the tests was run: ${pattern.slice(0, 200)}`)
  if (code === 0) return 'passed'
  const failed = (outcome?.testResults ?? []).flatMap(({ name: file, assertionResults }) =>
    assertionResults.filter(({ status }) => status === 'failed').map((one) => ({ ...one, file })),
  )
  const late = failed.some(({ failureMessages }) => failureMessages.some((text) => /timed out/i.test(text)))
  const red = tests.filter(({ file, name }) =>
    failed.some((one) => one.file === file && one.fullName === name),
  )
  // A file that could not be loaded names no test.
  return { late, red: red.length > 0 ? red : tests }
}

interface Outcome {
  readonly numPassedTests: number
  readonly testResults: readonly {
    readonly name: string
    readonly assertionResults: readonly {
      readonly fullName: string
      readonly status: string
      readonly failureMessages: readonly string[]
    }[]
  }[]
}

function vitest(
  copy: string,
  args: readonly string[],
  more: Readonly<Record<string, string>>,
  limitMs: number,
): Promise<number | 'late'> {
  return new Promise((resolve) => {
    const child = spawn(
      process.execPath,
      [join(copy, 'node_modules/vitest/vitest.mjs'), 'run', '--config', 'vitest.mutate.config.ts', ...args],
      {
        cwd: copy,
        detached: true,
        stdio: 'ignore',
        env: { ...process.env, SWITCHBOARD_TEST_SCOPE: 'first', ...more },
      },
    )
    let late = false
    const timer = setTimeout(
      () => {
        late = true
        // The whole group, because one of its workers may run for ever.
        if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL')
      },
      Math.max(0, limitMs),
    )
    child.once('close', (code) => {
      clearTimeout(timer)
      resolve(late ? 'late' : (code ?? 1))
    })
  })
}
