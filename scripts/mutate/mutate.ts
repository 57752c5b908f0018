// Mutation testing: the code is changed one place at a time, in a copy, and the tests that reach the place are run. A
// change that no test notices has survived: there a test is missing, or the code is not needed.
import { spawn, spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { apply, instrument, type Mutant, readMutants, shuffled } from './mutants.ts'
import { type Reach, type ReachingTest, readReach, testsReaching } from './reach.ts'

export interface MutateOptions {
  readonly root: string
  /** The files that are changed, relative to the root. */
  readonly targets: readonly string[]
  readonly seed: number
  readonly minutes: number
  /** At most so many mutants. */
  readonly sample?: number
  /** Arguments of vitest that choose among the tests. */
  readonly tests?: readonly string[]
  readonly say: (line: string) => void
}

export type Fate = 'killed' | 'timeout' | 'survived' | 'unreached'
export interface Tried extends Mutant {
  readonly fate: Fate
}

export interface MutationReport {
  readonly seed: number
  /** All there are in the targets. */
  readonly mutants: number
  readonly tried: readonly Tried[]
  /** Killed of those that were tried, 0 to 1; null when none was. */
  readonly score: number | null
  readonly seconds: number
}

/** The quickest first: most mutants die in the first handful. */
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
    const chosen = shuffled(all, options.seed).slice(0, options.sample)
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
    for (const mutant of chosen) {
      if (Date.now() > deadline) break
      const text = sources.find(({ file }) => file === mutant.file)?.text ?? ''
      writeFileSync(join(copy, mutant.file), apply(text, mutant))
      const fate = await fateOf(copy, testsReaching(mutant.within, reaches), deadline)
      writeFileSync(join(copy, mutant.file), text)
      if (fate === null) break
      tried.push({ ...mutant, fate })
      options.say(`${tried.length} ${fate}  ${describe(mutant)}`)
    }
    const killed = tried.filter(({ fate }) => fate === 'killed' || fate === 'timeout').length
    return {
      seed: options.seed,
      mutants: all.length,
      tried,
      score: tried.length === 0 ? null : killed / tried.length,
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

/** Everything that git knows or would know, and the packages by a link. */
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
    // The recorder lies where its copy finds the test runner.
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

// The projects as they are, with the recorder before each file of tests.
const CONFIG = `import base from './vitest.config.ts'
const recorder = process.env.SWITCHBOARD_REACH ? ['./.mutate-record-reach.ts'] : []
const patient = (test) => ({ ...test, setupFiles: [...(test.setupFiles ?? []), ...recorder], testTimeout: 60_000 })
const { projects, ...test } = base.test ?? {}
export default {
  ...base,
  test: projects
    ? { ...test, projects: projects.map((one) => ({ ...one, test: patient(one.test) })) }
    : patient(test),
}
`

/** Null when the time ran out. */
async function fateOf(
  copy: string,
  reaching: readonly ReachingTest[],
  deadline: number,
): Promise<Fate | null> {
  if (reaching.length === 0) return 'unreached'
  for (const tests of [reaching.slice(0, FIRST_TESTS), reaching.slice(FIRST_TESTS)]) {
    if (tests.length === 0) continue
    const expected = tests.reduce((sum, { ms }) => sum + ms, 0)
    const timeoutMs = LEAST_TIMEOUT_MS + 10 * expected
    const files = [...new Set(tests.map(({ file }) => relative(copy, file)))]
    const names = tests.map(({ name }) => name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
    // An argument has a limit: with too many names the files are run whole.
    const pattern = `^(?:${names.join('|')})$`
    const only = pattern.length < 100_000 ? ['-t', pattern] : []
    const outcome = join(copy, '.mutate-outcome.json')
    rmSync(outcome, { force: true })
    const told = ['--reporter=json', `--outputFile=${outcome}`]
    const code = await vitest(
      copy,
      ['--bail', '1', ...told, ...only, ...files],
      {},
      Math.min(timeoutMs, deadline - Date.now()),
    )
    if (code === 'late') return Date.now() >= deadline ? null : 'timeout'
    if (code !== 0) return 'killed'
    // Names that match nothing would let every mutant live.
    const { numPassedTests } = JSON.parse(readFileSync(outcome, 'utf8')) as { numPassedTests: number }
    if (numPassedTests === 0) throw new Error(`none of the tests was run: ${pattern.slice(0, 200)}`)
  }
  return 'survived'
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
        // With its workers: one of them may run for ever.
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
