// The keeper with real children: short scripts that each misbehave in one way.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { until } from '../../../test/faults/until.ts'
import type { SwitchboardError } from '../../contract/index.ts'
import { createRealClock, createRealRandom } from '../../runtime/real-clock.ts'
import { createRecordingLog } from '../../testing/index.ts'
import { scratchFolder } from '../../testing/scratch.ts'
import { createProcessKeeper, type ProcessKeeper, reapProcesses } from './index.ts'
import type { ProcessLaunch } from './kept-process.ts'
import { bootId, MARK_NAME, markedBy, startTimeOf } from './proc-table.ts'
import type { KeeperTimings, ProcessLimits } from './process-keeper.ts'

const PATH = process.env.PATH ?? '/usr/bin:/bin'
const QUICK: Partial<KeeperTimings> = { graceMs: 150, readyMs: 5_000, retryBaseMs: 40, retryMaxMs: 80 }
const stops: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop()
})

function keeper(timings: Partial<KeeperTimings> = {}, limits: Partial<ProcessLimits> = {}) {
  const folder = join(scratchFolder('keeper'), 'records')
  const log = createRecordingLog()
  const made: ProcessKeeper = createProcessKeeper(
    {
      folder,
      limits: { processes: 4, memoryBytes: null, ...limits },
      timings: { ...QUICK, ...timings },
      path: PATH,
    },
    { clock: createRealClock(), random: createRealRandom(), log },
  )
  stops.push(made.stop)
  return { keeper: made, folder, log }
}

const sh = (script: string, more: Partial<ProcessLaunch> = {}): ProcessLaunch => ({
  command: 'sh',
  args: ['-c', script],
  env: { PATH },
  ...more,
})

/** Ready after its first line. */
const firstLine = (process: {
  readLines: (max: number, on: { line(text: string): void; tooLong(): void }) => void
}) =>
  new Promise<string>((resolve) => process.readLines(1_000_000, { line: resolve, tooLong: () => undefined }))

const isAlive = (pid: number) => startTimeOf(pid) !== null
const refusal = (promise: Promise<unknown>) =>
  promise.then(
    () => null,
    (thrown: SwitchboardError) => thrown,
  )

describe('starting', () => {
  it('[I22.keep-start] gives the listed environment alone, the folder, and is ready after its own proof', async () => {
    const { keeper: kept, folder } = keeper()
    const cwd = realpathSync(scratchFolder('keeper-cwd'))
    process.env.KEEPER_LEAK = 'leak'
    let said = ''
    const child = await kept.start(
      'one',
      sh('pwd -P; env | sort; echo END; cat >/dev/null', { cwd, env: { PATH, LISTED: 'yes' } }),
      (one) =>
        new Promise<void>((resolve) =>
          one.readLines(1_000_000, {
            line(text) {
              said += `${text}\n`
              if (text === 'END') resolve()
            },
            tooLong: () => undefined,
          }),
        ),
    )
    delete process.env.KEEPER_LEAK
    expect(said).toContain(`${cwd}\n`)
    expect(said).toContain('LISTED=yes\n')
    expect(said).not.toContain('KEEPER_LEAK')
    expect(readdirSync(folder)).toHaveLength(1)
    expect(kept.view()).toMatchObject([{ name: 'one', pid: child.pid, stderr: [] }])
    expect((await child.end('done')).asked).toBe('done')
    expect(isAlive(child.pid)).toBe(false)
    expect(readdirSync(folder)).toEqual([])
  })

  it('[I22.keep-start] one that is never ready is ended, and its last words are told', async () => {
    const { keeper: kept } = keeper({ readyMs: 300 })
    const hung = await refusal(kept.start('mute', sh('sleep 60'), firstLine))
    expect(hung).toMatchObject({
      code: 'agent_absent',
      message: expect.stringContaining('not ready within 0.3 s'),
    })
    const died = await refusal(kept.start('dead', sh('echo "no licence" >&2; exit 7'), firstLine))
    expect(died?.message).toContain('exit code 7')
    expect(died?.message).toContain('no licence')
    expect(kept.all()).toEqual([])
  })

  it('[I22.keep-start] one that closes its input and lives on is absent: it was given no work', async () => {
    const { keeper: kept } = keeper()
    const thrown = await refusal(
      kept.start('deaf', sh(`exec <&-; echo closed >&2; exec sleep 60`), async (one) => {
        await until('its input is closed', () => one.stderr().length > 0)
        await one.write('hello\n')
      }),
    )
    expect(thrown?.code).toBe('agent_absent')
    expect(thrown?.message).toMatch(/^deaf did not become ready: the input of deaf is closed$/)
    expect(kept.all()).toEqual([])
  })

  it('[I22.keep-missing] a program that is missing, or may not be run, is an error with the hint', async () => {
    const { keeper: kept, folder } = keeper()
    const hint = 'npm install -g it'
    const missing = await refusal(
      kept.start('a', { command: 'no-such-program', args: [], env: { PATH }, hint }),
    )
    expect(missing).toMatchObject({
      code: 'agent_absent',
      hint,
      message: expect.stringContaining('not on PATH'),
    })
    const plain = join(scratchFolder('keeper-plain'), 'plain')
    writeFileSync(plain, 'x', { mode: 0o600 })
    const denied = await refusal(kept.start('b', { command: plain, args: [], env: { PATH }, hint }))
    expect(denied?.message).toContain('may not be run')
    expect(readdirSync(folder)).toEqual([])
  })

  it('[I22.keep-backoff] failed starts are spaced, and the wait is told', async () => {
    const { keeper: kept } = keeper({ retryBaseMs: 5_000, retryMaxMs: 9_000 })
    const first = await refusal(kept.start('x', sh('exit 3'), firstLine))
    expect(first?.retryAfterMs).toBeGreaterThan(2_000)
    const second = await refusal(kept.start('x', sh('exit 3'), firstLine))
    expect(second?.message).toContain('failed 1 times')
    expect(second?.retryAfterMs).toBeGreaterThan(1_000)
    // It does not delay other processes.
    const other = await kept.start('y', sh('echo hi; cat >/dev/null'), firstLine)
    expect(other.isAlive()).toBe(true)
  })
})

describe('ending', () => {
  it('[I22.keep-term] a child that ignores SIGTERM and what it forked are gone', async () => {
    const { keeper: kept } = keeper()
    const file = join(scratchFolder('keeper-fork'), 'pid')
    const child = await kept.start(
      'deaf',
      sh(
        `trap '' TERM; (trap '' TERM; while :; do sleep 1; done) & echo $! > ${file}; echo up; while :; do sleep 1; done`,
      ),
      firstLine,
    )
    const forked = Number(readFileSync(file, 'utf8'))
    expect([isAlive(child.pid), isAlive(forked)]).toEqual([true, true])
    const end = await child.end('enough')
    expect(end).toMatchObject({ signal: 'SIGKILL', asked: 'enough' })
    await until('both are gone', () => !isAlive(child.pid) && !isAlive(forked))
  })

  it('[I22.keep-escaped] one that left the group, and holds the pipe, is found by its mark', async () => {
    const { keeper: kept } = keeper()
    const file = join(scratchFolder('keeper-escape'), 'pid')
    // In a separate session, with our pipes kept open.
    const child = await kept.start(
      'fork',
      sh(
        `setsid sh -c 'echo $$ > ${file}; exec sleep 300' & while [ ! -s ${file} ]; do sleep 0.05; done; echo up; exec sleep 300`,
      ),
      firstLine,
    )
    const escaped = Number(readFileSync(file, 'utf8'))
    expect(isAlive(escaped)).toBe(true)
    await child.end('enough', 'now')
    await until('the escaped one is gone', () => !isAlive(escaped))
  })

  it('one that exits by itself takes its helpers along, and what it said last is heard', async () => {
    const { keeper: kept } = keeper()
    const lines: string[] = []
    const child = await kept.start(
      'short',
      sh('sleep 300 & echo last words; echo why >&2; exit 4'),
      async (one) =>
        one.readLines(1_000, { line: (text) => void lines.push(text), tooLong: () => undefined }),
    )
    expect(await child.ended).toMatchObject({
      code: 4,
      asked: null,
      words: 'it ended (exit code 4); it said: why',
    })
    expect(lines).toEqual(['last words'])
    expect(child.isAlive()).toBe(false)
    expect((await refusal(child.write('x\n')))?.code).toBe('outcome_unknown')
  })
})

describe('bounds', () => {
  it('[I22.keep-limits] no more run at once than allowed; one that holds too much memory is ended and says so', async () => {
    const { keeper: kept } = keeper({ memoryEveryMs: 50 }, { processes: 1, memoryBytes: 60 * 1_048_576 })
    const script = `const held = []; setInterval(() => held.push(Buffer.alloc(8e6, 1)), 20); console.log('up')`
    const child = await kept.start(
      'fat',
      { command: process.execPath, args: ['-e', script], env: { PATH } },
      firstLine,
    )
    expect(kept.hasRoom()).toBe(false)
    expect((await refusal(kept.start('other', sh('true'))))?.message).toBe(
      '1 processes run already (max_processes)',
    )
    const end = await child.ended
    expect(end.words).toMatch(/it held \d+ MiB of memory, more than 60/)
    expect(kept.hasRoom()).toBe(true)
  })

  it('[I22.keep-stderr] stderr is masked, kept by a ring, and reaches the log in bounded numbers', async () => {
    const { keeper: kept, log } = keeper()
    const script =
      'i=0; while [ $i -lt 200 ]; do echo "line $i tok-secret-1" >&2; i=$((i+1)); done; echo up; cat >/dev/null'
    const child = await kept.start('loud', sh(script, { secrets: ['tok-secret-1'] }), firstLine)
    await until('all was read', () => child.stderr().at(-1)?.includes('line 199') === true)
    expect(child.stderr()).toHaveLength(20)
    expect(child.stderr()[0]).toBe('line 180 [redacted]')
    expect(kept.view()[0]?.stderr).toHaveLength(20)
    const told = log.lines.filter((line) => line.includes('loud says'))
    expect(told).toHaveLength(20)
    expect(log.lines.join()).not.toContain('tok-secret-1')
  })

  it('[I22.keep-lines] garbage, and a line of 10 MB, are survived', async () => {
    const { keeper: kept } = keeper()
    const lines: string[] = []
    let long = 0
    const script = `process.stdout.write(Buffer.from([0xff,0xfe,10])); process.stdout.write('x'.repeat(1e7)+'\\n'+'end\\n')`
    const child = await kept.start(
      'noisy',
      { command: process.execPath, args: ['-e', script], env: { PATH } },
      async (one) =>
        one.readLines(1_000_000, { line: (text) => void lines.push(text), tooLong: () => void long++ }),
    )
    await child.ended
    expect([lines.length, lines.at(-1), long]).toEqual([2, 'end', 1])
  })
})

describe('after kill -9', () => {
  /** A small daemon that keeps one child and waits. */
  const daemon = (folder: string, script: string): ChildProcess => {
    const index = join(import.meta.dirname, 'index.ts')
    const clock = join(import.meta.dirname, '../../runtime/real-clock.ts')
    const code = `
      import { createProcessKeeper } from ${JSON.stringify(index)}
      import { createRealClock, createRealRandom } from ${JSON.stringify(clock)}
      const log = { debug() {}, info() {}, warn() {}, error() {}, child: () => log }
      const keeper = createProcessKeeper({ folder: ${JSON.stringify(folder)}, limits: { processes: 4, memoryBytes: null }, path: process.env.PATH }, { clock: createRealClock(), random: createRealRandom(), log })
      await keeper.start('kept', { command: 'sh', args: ['-c', ${JSON.stringify(script)}], env: { PATH: process.env.PATH } })
      console.log('kept')
      setInterval(() => {}, 1000)`
    return spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', code], {
      stdio: ['ignore', 'pipe', 'inherit'],
      cwd: join(import.meta.dirname, '../../..'),
    })
  }
  const pidsIn = (file: string) => readFileSync(file, 'utf8').trim().split('\n').map(Number)

  it('[I22.keep-killed] the watcher ends the group, one that ignores SIGTERM and one that left', async () => {
    const scratch = scratchFolder('keeper-kill')
    const file = join(scratch, 'pids')
    const script = `trap '' TERM; echo $$ >> ${file}; (trap '' TERM; exec sh -c 'echo $$ >> ${file}; while :; do sleep 1; done') & setsid sh -c 'echo $$ >> ${file}; exec sleep 300' & while :; do sleep 1; done`
    const one = daemon(join(scratch, 'records'), script)
    stops.push(async () => one.kill('SIGKILL'))
    await until('three run', () => existsSync(file) && pidsIn(file).length === 3)
    expect(pidsIn(file).every(isAlive)).toBe(true)
    one.kill('SIGKILL')
    await until('all are gone', () => !pidsIn(file).some(isAlive))
    expect(pidsIn(file)).toHaveLength(3)
  })

  it('[I35.b15] a child is ended before it sees that we are gone: its input does not end', async () => {
    let quickestMs = Number.POSITIVE_INFINITY
    for (let run = 0; run < 5; run++) {
      const scratch = scratchFolder('keeper-alone')
      const file = join(scratch, 'pids')
      const alone = join(scratch, 'alone')
      // Helpers that wait only for the end of their input and then continue at once, faster than any watcher.
      const helper = `(read -r _; echo "went on" >> ${alone}) <&3 &`
      const script = `exec 3<&0; ${helper.repeat(8)} echo $$ >> ${file}; wait`
      const one = daemon(join(scratch, 'records'), script)
      stops.push(async () => one.kill('SIGKILL'))
      await new Promise((resolve) => one.stdout?.once('data', resolve))
      await until('it runs', () => existsSync(file))
      const killedAt = performance.now()
      one.kill('SIGKILL')
      await until('it is gone', () => !pidsIn(file).some(isAlive))
      quickestMs = Math.min(quickestMs, performance.now() - killedAt)
      expect(existsSync(alone) ? readFileSync(alone, 'utf8') : '').toBe('')
    }
    // A process that needs no input would continue until the watcher acts.
    expect(quickestMs).toBeLessThan(900)
  })

  it('[I22.keep-reaped] the next start ends what is left, and touches nobody whose number was given out again', async () => {
    const folder = scratchFolder('keeper-reap')
    const mark = (letter: string) => letter.repeat(32)
    const child = (env: Record<string, string>) => {
      const one = spawn('sh', ['-c', "trap '' TERM; while :; do sleep 1; done"], {
        detached: true,
        stdio: 'ignore',
        env: { PATH, ...env },
      })
      stops.push(async () => one.kill('SIGKILL'))
      return one.pid as number
    }
    const recorded = child({ [MARK_NAME]: mark('a') })
    const bystander = child({})
    const unnumbered = child({ [MARK_NAME]: mark('c') })
    await until('they run', () => markedBy(mark('a')).length > 0 && markedBy(mark('c')).length > 0)
    const put = (name: string, record: object) =>
      writeFileSync(join(folder, `${name}.json`), JSON.stringify({ name, boot: bootId(), ...record }))
    put(mark('a'), { mark: mark('a'), pid: recorded, start: startTimeOf(recorded) })
    // The pid was reused by a foreign process, whose start time differs.
    put(mark('b'), { mark: mark('b'), pid: bystander, start: '1' })
    // Killed between the start and the record of its pid.
    put(mark('c'), { mark: mark('c'), pid: null, start: null })
    // Recorded before the machine's last boot.
    put(mark('d'), { mark: mark('d'), pid: bystander, start: startTimeOf(bystander), boot: 'other' })
    writeFileSync(join(folder, 'broken.json'), '{')
    const log = createRecordingLog()
    expect(await reapProcesses(folder, { clock: createRealClock(), log })).toBe(2)
    expect([isAlive(recorded), isAlive(unnumbered), isAlive(bystander)]).toEqual([false, false, true])
    expect(readdirSync(folder)).toEqual([])
    expect(await reapProcesses(folder, { clock: createRealClock(), log })).toBe(0)
    expect(await reapProcesses(join(folder, 'none'), { clock: createRealClock(), log })).toBe(0)
  })
})

describe('a worktree a session', () => {
  it('[I22.keep-worktree] is made on a branch of its own, and found again', async () => {
    const { openWorktree } = await import('./index.ts')
    const scratch = scratchFolder('keeper-tree')
    const repository = join(scratch, 'repository')
    mkdirSync(repository)
    const environment = {
      PATH,
      HOME: scratch,
      GIT_AUTHOR_NAME: 'a',
      GIT_AUTHOR_EMAIL: 'a@x.test',
      GIT_COMMITTER_NAME: 'a',
      GIT_COMMITTER_EMAIL: 'a@x.test',
    }
    const git = (...args: string[]) =>
      execFileSync('git', ['-C', repository, ...args], { env: environment, encoding: 'utf8' })
    const wanted = { repository, folder: join(scratch, 'trees', 's1'), branch: 'switchboard/s1' }
    git('init', '-q')
    await expect(openWorktree({ ...wanted, repository: scratch }, environment)).rejects.toMatchObject({
      code: 'agent_absent',
    })
    writeFileSync(join(repository, 'a.txt'), 'a')
    git('add', '.')
    git('commit', '-qm', 'a')
    expect(await openWorktree(wanted, environment)).toBe(wanted.folder)
    writeFileSync(join(wanted.folder, 'b.txt'), 'b')
    expect(await openWorktree(wanted, environment)).toBe(wanted.folder)
    expect(existsSync(join(wanted.folder, 'b.txt'))).toBe(true)
    expect(existsSync(join(repository, 'b.txt'))).toBe(false)
    expect(git('worktree', 'list')).toContain('[switchboard/s1]')
    await openWorktree(
      { ...wanted, folder: join(scratch, 'trees', 's2'), branch: 'switchboard/s2' },
      environment,
    )
    expect(git('worktree', 'list').trim().split('\n')).toHaveLength(3)
  })
})
