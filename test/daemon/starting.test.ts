// A daemon that is still starting, or that does not answer: what stop, restart and a second up make of it.
import { spawn } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import type { DaemonNote } from '../../src/config/instance/daemon-note.ts'
import { BINARY, bareEnvironment } from '../faults/daemon.ts'
import { createScene, switchboard } from '../faults/scene.ts'
import { until } from '../faults/until.ts'
import { writeYaml } from './admin.ts'

const scene = createScene()

/** Is made when a file appears: until then its daemon starts. */
const LATE = `import { existsSync } from 'node:fs'
export const version = '1.0.0'
const options = { '~standard': { version: 1, vendor: 'own', validate: (value) => ({ value }),
  jsonSchema: { input: () => ({ type: 'object', properties: {} }), output: () => ({ type: 'object', properties: {} }) } } }
export const connectors = [{ name: 'late', options, docs: 'https://example.com', async create() {
  while (!existsSync(new URL('./go', import.meta.url))) await new Promise((resolve) => setTimeout(resolve, 20))
  throw new Error('it is late')
} }]
`

/** A folder whose daemons start until `go` is called. */
function lateFolder() {
  const data = scene.folder()
  writeFileSync(join(data, 'late.mjs'), LATE)
  const config = writeYaml(
    data,
    `modules: [./late.mjs]
agents:
  - { id: slow, connector: { type: late } }
`,
  )
  const go = () => writeFileSync(join(data, 'go'), '')
  return {
    data,
    config,
    go,
    /** The daemon that starts, as soon as it listens. */
    async starting(env: Readonly<Record<string, string>> = {}) {
      const begun = scene.launch({ data, config, env })
      scene.onEnd(go)
      await until('it listens', () => existsSync(join(data, 'switchboard.sock')))
      return { ...begun, pid: begun.process.pid as number }
    },
    /** Who is there in the background by its own note; its process ends with the test. */
    background(note: 'starting.json' | 'daemon.json') {
      const daemon = JSON.parse(readFileSync(join(data, note), 'utf8')) as DaemonNote
      scene.onEnd(() => {
        try {
          process.kill(daemon.pid, 'SIGKILL')
        } catch {
          // it has ended already
        }
      })
      return daemon
    },
  }
}

/** A command that is not waited for: all that it says, and its exit code. */
function begin(data: string, ...words: readonly string[]) {
  const child = spawn(process.execPath, [BINARY, ...words, '--data', data], {
    cwd: data,
    env: bareEnvironment(),
  })
  scene.onEnd(() => void child.kill('SIGKILL'))
  let said = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      said += text
    })
  const code = new Promise((resolve) => child.once('close', resolve))
  return {
    said: () => said,
    code,
    says: (what: string) => until(`it says ${what}`, () => said.includes(what)),
  }
}

it('[I18.stop] a daemon that is still starting is told to stop, waited for, and not called absent', async () => {
  const { data, go, starting } = lateFolder()
  const { pid, exited } = await starting()
  const other = await switchboard(data, 'stop', '--config', join(data, 'late.mjs'))
  expect(other).toMatchObject({ code: 2, stderr: expect.stringContaining('runs ') })
  const stopping = begin(data, 'stop')
  await stopping.says('is not ready yet')
  go()
  expect(await stopping.code).toBe(0)
  expect(stopping.said()).toContain(`stopped (process ${pid}); it stays so until: switchboard up`)
  expect(await exited).toMatchObject({ code: 0 })
  expect(readdirSync(data)).not.toContain('starting.json')
})

it('[I18.stop] one that is ready and has lost its socket is stopped, and not said to be starting', async () => {
  const data = scene.folder()
  const daemon = await scene.start({ data })
  rmSync(join(data, 'switchboard.sock'))
  const { code, stdout, stderr } = await switchboard(data, 'stop')
  expect({ code, stdout }).toEqual({
    code: 0,
    stdout: `stopped (process ${daemon.pid}); it stays so until: switchboard up\n`,
  })
  expect(stderr).toBe(`the daemon (process ${daemon.pid}) is told to stop; waiting at most 45 s\n`)
  expect(await daemon.exited).toMatchObject({ code: 0 })
})

it('[I18.stop] [I14.stopped-stays] one whose start fails meanwhile stays stopped, or is not said to', async () => {
  const { data, go, starting } = lateFolder()
  // In the way of the last thing that a start does.
  writeFileSync(join(data, 'a.sock'), '')
  const stopNext = async () => {
    rmSync(join(data, 'go'), { force: true })
    const { pid, exited } = await starting()
    const stopping = begin(data, 'stop')
    await stopping.says('is not ready yet')
    go()
    expect([await stopping.code, (await exited).code]).toEqual([0, 2])
    return stopping.said().trim().split('\n').at(-1)?.replace(String(pid), 'PID')
  }
  // No daemon was ever ready here: nothing keeps a shim from starting one.
  expect(await stopNext()).toBe(
    'ended (process PID), but not because it was stopped: a session that needs it may start it again; see: switchboard logs',
  )
  const life = { host: '127.0.0.1', port: 4_747, end: 'running' }
  writeFileSync(join(data, 'last-life.json'), JSON.stringify(life))
  expect(await stopNext()).toBe('stopped (process PID); it stays so until: switchboard up')
  expect(JSON.parse(readFileSync(join(data, 'last-life.json'), 'utf8'))).toEqual({ ...life, end: 'stopped' })
})

it('[I18.restart] [S6.one-daemon] beside one that starts, up names its process, and restart ends it and starts its file', async () => {
  const { data, config, go, starting, background } = lateFolder()
  const first = await starting()
  const second = await switchboard(data, 'up', '--port', '0')
  expect(second).toMatchObject({ code: 1, stdout: '' })
  expect(second.stderr).toContain(`is held by process ${first.pid}, which is starting`)
  const restarting = begin(data, 'restart')
  await restarting.says('is not ready yet')
  go()
  expect(await restarting.code, restarting.said()).toBe(0)
  expect(await first.exited).toMatchObject({ code: 0 })
  expect(restarting.said()).toContain(`stopped (process ${first.pid})`)
  const next = background('daemon.json')
  expect(next.config).toBe(config)
  expect(next.pid).not.toBe(first.pid)
  // Where the one before it listened, which was not ready then.
  expect(first.stderr()).toContain(`"url":"${next.url}"`)
})

it('[I18.restart] one that starts for a service manager is left to it', async () => {
  const { data, go, starting } = lateFolder()
  const first = await starting({ NOTIFY_SOCKET: join(data, 'nobody'), SWITCHBOARD_UNIT: 'swb.service' })
  const refused = await switchboard(data, 'restart')
  expect(refused).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('systemctl --user restart swb.service'),
  })
  go()
  expect(await first.ready).toMatchObject({ pid: first.pid })
})

it('[I14.up-keeps-folder] one that a shim started gives way to up also while it starts', async () => {
  const { data, config, go } = lateFolder()
  const shims = begin(data, 'up', '--idle-exit', '10m', '--port', '0', '--config', config)
  await until('it listens', () => existsSync(join(data, 'switchboard.sock')))
  const own = scene.launch({ data, config })
  scene.onEnd(go)
  await shims.says('stopping')
  go()
  expect(await shims.code).toBe(0)
  expect(await own.ready).toMatchObject({ pid: own.process.pid })
})

it('[I18.detach] up --detach says that the daemon was stopped while it was starting', async () => {
  const { data, config, go, background } = lateFolder()
  const detached = begin(data, 'up', '--detach', '--port', '0', '--config', config)
  await until('it listens', () => existsSync(join(data, 'switchboard.sock')))
  const { pid } = background('starting.json')
  const stopping = begin(data, 'stop')
  await stopping.says('is not ready yet')
  go()
  expect([await stopping.code, await detached.code]).toEqual([0, 1])
  expect(detached.said()).toContain(`error: the daemon (process ${pid}) was stopped while it was starting`)
})
