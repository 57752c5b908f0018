// `up --idle-exit` as a process: it ends by itself, in order, and what it held is there for the next one.
import { spawn } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { answering, openChannel } from './channel-scene.ts'
import { BINARY, bareEnvironment } from './daemon.ts'
import { createScene, switchboard } from './scene.ts'
import { until } from './until.ts'

const scene = createScene()

describe('up --idle-exit', () => {
  it('[S6.ch-idle-exit] ends by itself when nobody is attached, and not before', async () => {
    const place = openChannel(scene)
    const args = [BINARY, 'up', '--json', '--idle-exit', '8s', '--data', place.data, '--config', place.config]
    const child = spawn(process.execPath, args, { cwd: place.data, env: bareEnvironment(), stdio: 'ignore' })
    scene.onEnd(() => void child.kill('SIGKILL'))
    const ended = new Promise((resolve) => child.once('exit', (code, signal) => resolve({ code, signal })))
    await until('it is up', () => place.daemonPid())
    const claude = answering(await place.claude())
    const pid = place.daemonPid()
    await place.say('one')
    await place.turn('one', 'answered')
    // Longer than the time without anybody, with somebody there.
    await new Promise((resolve) => setTimeout(resolve, 10_000))
    expect(child.exitCode).toBeNull()
    await claude.close()
    expect(await ended).toEqual({ code: 0, signal: null })
    // The next session starts another one, with everything that was.
    const next = await place.claude()
    expect(await next.call('pending_messages', {})).toMatchObject({ text: '(nothing waits)' })
    expect(place.daemonPid()).not.toBe(pid)
    expect((await place.turns()).map(({ state }) => state)).toEqual(['answered'])
  })

  it('takes a duration, and says so when it is none', async () => {
    const { code, stderr } = await switchboard(scene.folder(), 'up', '--idle-exit', 'soon')
    expect({ code, stderr }).toMatchObject({ code: 2, stderr: expect.stringContaining('--idle-exit') })
  })
})
