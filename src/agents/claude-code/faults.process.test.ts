// Bounds and faults, with the double as the program.
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { pause, until } from '../../../test/faults/until.ts'
import { createProcessKeeper } from '../../kit/processes/index.ts'
import { createRealClock, createRealRandom } from '../../runtime/real-clock.ts'
import { createRecordingLog } from '../../testing/recording-log.ts'
import { scratchFolder } from '../../testing/scratch.ts'
import { startChild } from './child.ts'
import { claudeStage, claudeWorld, isAlive, S1, S2 } from './fixtures/claude-scene.ts'

const { scene, clear } = claudeStage()
afterEach(clear)

describe('bounds', () => {
  it('[I22.cc-bounds] an idle process makes room for another session; a busy one does not', async () => {
    const { turn, says, connector, of } = await scene({ options: { max_processes: 1 } })
    await turn('hello')
    expect(await turn('hello', { session: S2 })).toMatchObject({ session: S2 })
    expect(connector.processes?.()).toHaveLength(1)
    const busy = await says('endless', { session: S2 })
    await until('it runs', () => of('evidence').find((one) => one.turn === busy))
    await expect(says('hello', { session: S1 })).rejects.toMatchObject({
      code: 'agent_absent',
      retryAfterMs: expect.any(Number),
    })
  })

  it('[I22.cc-bounds] [I22.cc-resume] one idle for idle_after is ended, and the next message resumes it', async () => {
    const { turn, connector, pid } = await scene({ options: { idle_after: 150 } })
    await turn('hello')
    const first = await pid()
    await until('it was ended', () => connector.processes?.().length === 0)
    expect(isAlive(first)).toBe(false)
    await turn('again')
    const args = readFileSync(`/proc/${await pid()}/cmdline`, 'utf8').split('\0')
    expect(args[args.indexOf('--resume') + 1]).toBe(S1)
  })

  it('[I22.cc-bounds] a chat that began a new session leaves no process behind', async () => {
    const { turn, pid, connector } = await scene()
    await turn('hello')
    const old = await pid()
    await turn('fresh', { session: S2 })
    await until('the old one is gone', () => !isAlive(old))
    // Its end is noticed a moment later.
    await expect.poll(() => connector.processes?.().length).toBe(1)
  })

  it('[I22.cc-endless] a turn that never ends is ended and told, and the next one is answered', async () => {
    const { turn } = await scene({ options: { turn_timeout: 400 } })
    expect(await turn('endless')).toMatchObject({
      kind: 'failed',
      reason: 'agent_failed',
      detail: expect.stringContaining('turn_timeout'),
    })
    expect(await turn('hello')).toMatchObject({ text: 'You said: hello' })
  })

  it('[I22.cc-hang] one that is silent and does not answer is ended, and its turn goes on in another; one that answers is left alone', async () => {
    const { turn, says, ended, pid, connector } = await scene({ options: { silence: 1_500 } })
    expect(await turn('deaf')).toMatchObject({
      kind: 'returned',
      counted: true,
      detail: expect.stringContaining('it said nothing and did not answer'),
    })
    await until('it is gone', () => connector.processes?.().length === 0)
    // It is silent for longer than that, but alive, so it is only slow.
    const slow = await says('slow 8000 a-text-of-20-letters')
    const alive = await pid()
    expect(await ended(slow)).toMatchObject({ text: 'a-text-of-20-letters' })
    expect(await pid()).toBe(alive)
  })

  it('[I22.cc-endless] waiting for a person does not count', async () => {
    const { says, decide, ended, asked } = await scene({ options: { turn_timeout: 2_000 } })
    const id = await says('call Bash {"command":"make"}')
    await asked()
    // The time itself is tested. It is real, because the program is real.
    await pause(2_600)
    await decide('allow')
    expect(await ended(id)).toMatchObject({ kind: 'say' })
  })

  it('[I22.cc-huge] [I22.keep-lines] a huge answer comes whole, and garbage beside it is survived', async () => {
    const { turn } = await scene()
    const huge = await turn('huge 3000000')
    expect(huge.kind === 'say' && huge.text.length).toBe(3_000_000)
    expect(await turn('garbage')).toMatchObject({ text: 'after the garbage' })
  })
})

describe('what goes wrong', () => {
  it('[I22.cc-flood] garbage and questions without end cost a few lines of the log and a bounded number of questions', async () => {
    const { turn, of, deps } = await scene()
    expect(await turn('flood 500')).toMatchObject({ text: '480 were denied' })
    expect(of('ask')).toHaveLength(20)
    const lines = deps.log.lines.filter((line) => line.includes('that are no messages')).length
    expect(lines).toBe(3)
  })

  it('[I22.cc-missing] a missing program is told with how to install it, and found when it is there', async () => {
    const { recorded, says, world } = await scene({ options: { command: 'no-such-claude' } })
    expect(recorded.attached).toBe(false)
    await expect(says('hello')).rejects.toMatchObject({
      code: 'agent_absent',
      hint: expect.stringContaining('npm install'),
    })
    expect(readdirSync(join(world.folder, 'processes'))).toEqual([])
  })

  it('[I35.b45-cwd] a folder that the configuration names and that is not there is an error, and is not made', async () => {
    const cwd = join(scratchFolder('claude'), 'not', 'there')
    const { recorded, says, details } = await scene({ options: { cwd } })
    expect(recorded.attached).toBe(false)
    expect(details.join()).toContain(`the folder it works in is not there: ${cwd}`)
    await expect(says('hello')).rejects.toMatchObject({ code: 'agent_absent' })
    expect(existsSync(cwd)).toBe(false)
  })

  it('[I22.cc-missing] a folder that is gone is told as the reason, and nobody waits for it unseen', async () => {
    const { turn, says, world, connector, recorded, details } = await scene({ options: { idle_after: 50 } })
    await turn('hello')
    await until('it sleeps', () => connector.processes?.().length === 0)
    const { rmSync } = await import('node:fs')
    rmSync(world.work, { recursive: true })
    await expect(says('again')).rejects.toMatchObject({ code: 'agent_absent' })
    await until('it is away', () => !recorded.attached)
    expect(details.at(-1)).toContain(`is not there: ${world.work}`)
  })

  it('[I22.cc-missing] one that is not signed in is told to the person with what to do, and shown', async () => {
    const { turn, details } = await scene({ env: { DOUBLE_SIGNED_OUT: '1' } })
    expect(await turn('hello')).toMatchObject({ kind: 'failed', detail: expect.stringContaining('/login') })
    expect(details.at(-1)).toContain('not signed in')
  })

  it('[I22.cc-missing] wrong flags are told with the words of the program, and tried again with patience', async () => {
    const { says } = await scene({ options: { args: ['--no-such-flag'] } })
    await expect(says('hello')).rejects.toMatchObject({
      code: 'platform_unavailable',
      message: expect.stringContaining("unknown option '--no-such-flag'"),
      retryAfterMs: expect.any(Number),
    })
    await expect(says('hello')).rejects.toMatchObject({
      code: 'agent_absent',
      message: expect.stringContaining('failed 1 times'),
    })
  })

  it.each([401, 403])(
    '[I35.b45-wrong-key] a key that the API refuses (%i) ends the turn at the second try, and is a problem until it is taken',
    async (status) => {
      const { turn, recorded } = await scene()
      expect(await turn(`refused ${status}`)).toMatchObject({
        kind: 'failed',
        reason: 'agent_failed',
        detail: expect.stringContaining(`refuses the key or sign-in of Claude Code (${status})`),
      })
      expect(recorded.reached.at(-1)).toContain(String(status))
      expect(await turn('hello')).toMatchObject({ text: 'You said: hello' })
      expect(recorded.reached.at(-1)).toBeNull()
      // Also if the program itself gives up at once.
      expect(await turn(`refused ${status} once`)).toMatchObject({ kind: 'failed' })
      expect(recorded.reached.at(-1)).toContain(String(status))
    },
  )

  it('an error of the API is told, whatever its subtype says', async () => {
    const { turn } = await scene()
    expect(await turn('error API Error: 529 overloaded')).toMatchObject({
      kind: 'failed',
      reason: 'agent_failed',
      detail: 'API Error: 529 overloaded',
    })
    expect(await turn('hello')).toMatchObject({ kind: 'say' })
  })

  it('[I22.cc-exit] [I22.cc-resume] an exit in mid-turn gives the turn back, and it goes on in a resumed process', async () => {
    const { says, ended, turn } = await scene()
    const id = await says('exit 7')
    const end = await ended(id)
    expect(end).toMatchObject({ kind: 'returned', turns: [id], counted: true })
    expect(end.kind === 'returned' && end.detail).toContain('the double has had enough')
    await until('it may start again', () =>
      turn('exit 7', { turn: `${id}`, repeat: true, attempt: 2 }).then(() => true),
    )
  })

  it('[I22.cc-killed] [S6.resume-not-replay] what has a result is not run again, and one without is told as unknown', async () => {
    const world = claudeWorld()
    const first = await scene({ world })
    const id = await first.says('call Bash {"command":"make once"}', { turn: 'tA' })
    await first.decide('allow')
    await first.ended(id)
    expect(world.ran()).toEqual(['make once'])
    // The daemon ends before the answer was stored. The next run finds it in the transcript.
    await first.connector.stop()
    const second = await scene({ world })
    expect(
      await second.turn('call Bash {"command":"make once"}', {
        turn: 'tA',
        continuation: true,
        repeat: true,
        attempt: 2,
      }),
    ).toMatchObject({
      kind: 'say',
      text: 'The tool said: ran make once',
    })
    expect(second.connector.processes?.()).toEqual([])
    // Killed during a tool.
    const tB = await second.says('call Bash {"command":"sleep 60000"}', { turn: 'tB' })
    await second.decide('allow')
    await until('the call stands in the transcript', () =>
      readFileSync(world.transcript(S1), 'utf8').includes('sleep 60000'),
    )
    process.kill(await second.pid(), 'SIGKILL')
    expect(await second.ended(tB)).toMatchObject({ kind: 'returned' })
    await second.connector.stop()
    const third = await scene({ world })
    expect(
      await third.turn('call Bash {"command":"sleep 60000"}', {
        turn: 'tB',
        continuation: true,
        repeat: true,
        attempt: 2,
      }),
    ).toMatchObject({
      text: 'I went on. 1 calls are without a result.',
    })
    expect(world.ran()).toEqual(['make once'])
    expect(third.of('ask')).toEqual([])
  })

  it('[I22.cc-killed-ask] killed in mid-approval: an old verdict reaches nobody, and the tool did not run', async () => {
    const world = claudeWorld()
    const first = await scene({ world })
    const id = await first.says('call Bash {"command":"touch x"}', { turn: 'tC' })
    await first.asked()
    process.kill(await first.pid(), 'SIGKILL')
    await first.ended(id)
    expect(await first.decide('allow')).toBe('gone')
    await first.connector.stop()
    const second = await scene({ world })
    expect(
      await second.turn('call Bash {"command":"touch x"}', {
        turn: 'tC',
        continuation: true,
        repeat: true,
        attempt: 2,
      }),
    ).toMatchObject({
      text: 'I went on. 1 calls are without a result.',
    })
    expect(world.ran()).toEqual([])
  })

  it('[I22.cc-transcript] a message that never got into the transcript is handed over again, one that did is not', async () => {
    const world = claudeWorld()
    const first = await scene({ world })
    await first.turn('hello')
    const never = await first.turn('lost on the way', { turn: 'tD', repeat: true, attempt: 2 })
    expect(never).toMatchObject({ text: 'You said: lost on the way' })
    const lines = readFileSync(world.transcript(S1), 'utf8')
    expect(lines).toContain('redelivery=\\"true\\"')
  })

  it('[I22.cc-resume] a conversation that is gone from the disk is begun anew, and the person is told', async () => {
    const world = claudeWorld()
    const first = await scene({ world, options: { idle_after: 50 } })
    await first.turn('hello')
    await until('it sleeps', () => first.connector.processes?.().length === 0)
    const { rmSync } = await import('node:fs')
    rmSync(world.transcript(S1))
    expect(await first.turn('again')).toMatchObject({ text: 'You said: again' })
    expect(first.of('say').some(({ text }) => text.includes('could not be found'))).toBe(true)
  })

  it('[I22.cc-resume] one that began and could not be noted is resumed all the same', async () => {
    const world = claudeWorld()
    const first = await scene({ world })
    await first.turn('hello')
    await first.connector.stop()
    writeFileSync(
      join(world.folder, 'agent/sessions', `${S1}.json`),
      JSON.stringify({ id: S1, begun: false }),
    )
    const second = await scene({ world })
    expect(await second.turn('again')).toMatchObject({ text: 'You said: again' })
    const args = readFileSync(`/proc/${await second.pid()}/cmdline`, 'utf8').split('\0')
    expect(args).toContain('--resume')
  })

  it('[I22.cc-resume] one that is gone before our first question says itself why', async () => {
    const clock = createRealClock()
    const random = createRealRandom()
    const keeper = createProcessKeeper(
      {
        folder: join(scratchFolder('claude-gone'), 'records'),
        limits: { processes: 1, memoryBytes: null },
        timings: { graceMs: 20_000 },
      },
      { clock, random, log: createRecordingLog() },
    )
    const started = startChild(
      'kate',
      {
        ...{ command: 'sh', cwd: scratchFolder('claude-gone-work'), secrets: [], hint: '' },
        args: ['-c', 'exec <&-; echo "Session ID is already in use" >&2; exec sleep 60'],
        env: { PATH: process.env.PATH ?? '/usr/bin:/bin' },
      },
      {
        ...{ clock, random, onEvent: () => undefined, onNoise: () => undefined },
        ...{ isBusy: () => false, silentMs: 60_000 },
        keeper: {
          start: (name, launch, ready) =>
            keeper.start(name, launch, async (one) => {
              await until('its input is closed', () => one.stderr().length > 0)
              return ready?.(one).finally(() => process.kill(one.pid, 'SIGTERM'))
            }),
        },
      },
    )
    await expect(started).rejects.toMatchObject({
      code: 'agent_absent',
      message: expect.stringContaining('already in use'),
    })
    await keeper.stop()
  })

  it('[I22.keep-term] a child that forks and ignores SIGTERM is gone when the agent stops', async () => {
    const { says, world, connector, of } = await scene()
    const id = await says('stubborn')
    await until('it runs', () => of('evidence').find((one) => one.turn === id))
    const file = join(world.work, 'pids.log')
    await until(
      'it forked',
      () => existsSync(file) && readFileSync(file, 'utf8').trim().split('\n').length === 2,
    )
    const pids = readFileSync(file, 'utf8').trim().split('\n').map(Number)
    await connector.stop()
    expect(pids.map(isAlive)).toEqual([false, false])
  })

  it('[I22.cc-bounds] a session whose chat began another is ended when its work is done', async () => {
    const { says, turn, connector, of } = await scene()
    const busy = await says('endless')
    await until('it runs', () => of('evidence').find((one) => one.turn === busy))
    await turn('hello', { session: S2 })
    expect(connector.processes?.()).toHaveLength(2)
    await connector.cancel?.(S1, busy)
    await until('the old one is gone', () => connector.processes?.().length === 1)
    expect(connector.processes?.()[0]?.name).toContain(S2.slice(0, 8))
  })

  it('[I22.keep-worktree] with worktree: true two sessions work in two folders', async () => {
    const world = claudeWorld()
    const git = (...args: string[]) =>
      execFileSync('git', ['-C', world.work, '-c', 'user.name=a', '-c', 'user.email=a@x.test', ...args])
    git('init', '-q')
    git('commit', '-q', '--allow-empty', '-m', 'a')
    const { says, decide, ended, connector } = await scene({ world, options: { worktree: true } })
    for (const [at, session] of [S1, S2].entries()) {
      const id = await says('call Bash {"command":"make"}', { session, chatId: `place:${at}` })
      await decide('allow', { at })
      await ended(id)
      expect(readFileSync(join(world.folder, 'agent/worktrees', session, 'ran.log'), 'utf8')).toBe('make\n')
    }
    expect(world.ran()).toEqual([])
    expect(connector.processes?.()).toHaveLength(2)
    mkdirSync(join(world.folder, 'plain'))
    const plain = await scene({ options: { worktree: true, cwd: join(world.folder, 'plain') } })
    // Retries are counted and shown. In the end it gives up and reports.
    await expect(plain.says('hello')).rejects.toMatchObject({
      code: 'platform_unavailable',
      message: expect.stringContaining('no git worktree'),
    })
    expect(plain.details.at(-1)).toContain('no git worktree')
  })
})
