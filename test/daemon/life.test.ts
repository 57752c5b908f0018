// The life of a daemon by command: in the background, stopped, started again, its log; and what a service manager hears.
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { BINARY, bareEnvironment } from '../faults/daemon.ts'
import { postDemo } from '../faults/hook-client.ts'
import { askJson, askLines, createScene, run, switchboard } from '../faults/scene.ts'
import { until } from '../faults/until.ts'
import { writeYaml } from './admin.ts'

const scene = createScene()

interface Up {
  readonly pid: number
  readonly url: string
  readonly chat_link: string | null
  readonly config: string | null
}

const alive = (pid: number) => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

/** Ends whatever daemon the folder has when the test is over. */
function folder(): string {
  const data = scene.folder()
  scene.onEnd(() => {
    try {
      process.kill((JSON.parse(readFileSync(join(data, 'daemon.json'), 'utf8')) as Up).pid, 'SIGKILL')
    } catch {
      // it has ended already
    }
  })
  return data
}

/** `switchboard logs -f`, as in a terminal until Ctrl-C. */
function follow(data: string) {
  const child = spawn(process.execPath, [BINARY, 'logs', '-f', '--data', data], {
    env: bareEnvironment(),
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  scene.onEnd(() => void child.kill('SIGKILL'))
  let said = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    said += text
  })
  const ended = new Promise((resolve) => child.once('exit', (...how) => resolve(how)))
  return { said: () => said, interrupt: () => child.kill('SIGINT'), ended }
}

describe('in the background', () => {
  it('[I18.detach] [I18.stop] [I18.restart] [I18.logs] [I18.logs-follow] [I14.stopped-stays] is started, survives kill -9, restarted where it was, and stopped', async () => {
    const data = folder()
    const begun = JSON.parse(
      (await switchboard(data, 'up', '--detach', '--port', '0', '--json')).stdout,
    ) as Up
    expect(begun).toMatchObject({ ready: true, config: null, chat_link: expect.stringContaining('/chat#') })
    expect(alive(begun.pid)).toBe(true)
    expect((await postDemo(begun.url, 'hello')).status).toBe(200)
    // A second one is told why not, with the words of the daemon that could not start.
    const second = await switchboard(data, 'up', '--detach', '--port', '0')
    expect(second).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(/error: .*held|daemon/),
    })

    process.kill(begun.pid, 'SIGKILL')
    await until('it is gone', () => !alive(begun.pid))
    // Shims go by this: what was killed they revive, what was stopped they leave alone.
    const end = () => (JSON.parse(readFileSync(join(data, 'last-life.json'), 'utf8')) as { end: string }).end
    expect(end()).toBe('running')
    const again = JSON.parse(
      (await switchboard(data, 'up', '--detach', '--port', '0', '--json')).stdout,
    ) as Up
    const following = follow(data)
    const starts = () => following.said().split('switchboard is ready').length - 1
    await until('it tells what was logged', () => starts() === 2)
    const restarted = JSON.parse((await switchboard(data, 'restart', '--json')).stdout) as Up
    await until('it goes on with the next daemon', () => starts() === 3)
    expect(following.said()).toMatch(/ stopped$/m)
    following.interrupt()
    expect(await following.ended).toEqual([null, 'SIGINT'])
    expect(restarted.pid).not.toBe(again.pid)
    expect(restarted.url).toBe(again.url)
    expect(alive(again.pid)).toBe(false)
    await until('the turn of before the kill is answered', async () =>
      (await askLines<{ state: string }>(data, 'turns')).every((turn) => turn.state === 'answered'),
    )

    const told = (await switchboard(data, 'logs')).stdout
    expect(told).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d switchboard is ready /m)
    const lines = await askLines<{ msg?: string }>(data, 'logs', '--lines', '5000')
    expect(lines.filter(({ msg }) => msg === 'switchboard is ready')).toHaveLength(3)
    // A link that lets in is in no log.
    expect(readFileSync(join(data, 'daemon.log'), 'utf8')).not.toContain('#ticket')

    expect(await askJson(data, 'stop')).toMatchObject({ ok: true, stopped: true, pid: restarted.pid })
    expect(alive(restarted.pid)).toBe(false)
    expect(end()).toBe('stopped')
    expect(await askJson(data, 'stop')).toMatchObject({ ok: true, stopped: false })
    expect(await askJson(data, 'audit', 'verify')).toMatchObject({ ok: true })
  })

  it('[I18.detach] [I18.logs-integration] [I18.logs-turn] a file that does not hold is told by its own error; a log is asked by integration and turn', async () => {
    const data = folder()
    const file = writeYaml(data, 'integrations:\n  - { id: web, platfrom: web }\n')
    const wrong = await switchboard(data, 'up', '--detach', '--config', file)
    expect(wrong).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('platfrom') })
    writeYaml(
      data,
      `integrations:
  - { id: hook, platform: webhook, sender_header: X-Sender, two_way: true, access: { allow_from: [dev] } }
  - { id: tg, platform: telegram, token: "secret:TG" }
agents:
  - { id: demo, connector: { type: demo }, inbound_bindings: [{ plugin: webhook, instance: hook }] }
`,
    )
    const done = await switchboard(data, 'up', '--detach', '--port', '0', '--config', file)
    expect(done.stdout).toMatch(/^ {2}hook +webhook +up +http:\/\/127\.0\.0\.1:\d+\/hooks\/hook$/m)
    expect(done.stdout).toMatch(/^ {2}tg +telegram +down +\(secret:TG leads to nothing/m)
    expect(done.stdout).toContain('switchboard stop')
    const { url } = JSON.parse(readFileSync(join(data, 'daemon.json'), 'utf8')) as Up
    const said = await fetch(`${url}/hooks/hook`, {
      method: 'POST',
      body: 'hi',
      headers: { 'x-sender': 'dev' },
    })
    const { id } = (await said.json()) as { id: string }
    await until('it is answered', async () =>
      (await askLines<{ id: string; state: string }>(data, 'turns')).some(
        (turn) => turn.id === id && turn.state === 'answered',
      ),
    )
    const own = await askLines<{ integration?: string; part?: string }>(data, 'logs', '--integration', 'tg')
    expect(own.length).toBeGreaterThan(0)
    expect(own.every((line) => line.integration === 'tg' || line.part === 'integration:tg')).toBe(true)
    const way = await askLines<{ kind: string; ref: string; to: string }>(data, 'logs', '--turn', id)
    expect(way.filter(({ ref }) => ref === id).map(({ to }) => to)).toEqual(['queued', 'handed', 'answered'])
    // For people: times that can be read, fields and not JSON within JSON, and nothing that has no time.
    const told = (await switchboard(data, 'logs', '--turn', id)).stdout.trim().split('\n')
    expect(told.length).toBeGreaterThan(2)
    expect(told.every((line) => /^20\d\d-\d\d-\d\d \d\d:\d\d:\d\d \S/.test(line))).toBe(true)
    expect(told[0]).toMatch(/queued sender=dev /)
    expect(told.at(-1)).toMatch(/handed → answered$/)
    const lines = (await switchboard(data, 'logs')).stdout.trim().split('\n')
    expect(lines.filter((line) => line.includes('ready'))).toEqual([expect.stringMatching(/^20.* is ready /)])
    expect((await switchboard(data, 'logs', '--integration', 'gt')).stderr).toContain('about "gt"')
    expect((await switchboard(data, 'logs', '--turn', 'none')).code).toBe(1)
    expect(await askJson(data, 'stop')).toMatchObject({ stopped: true })
  })
})

/** What is received without its descriptors closes them, as the manager does: that is how systemd-notify knows it was heard. */
const SERVE = `import socket,sys
s=socket.socket(socket.AF_UNIX,socket.SOCK_DGRAM); s.bind(sys.argv[1])
while True: print(s.recv(4096).decode())`

it('[I18.service-notify] a service manager hears that it is ready, alive, reloading and stopping', async (context) => {
  for (const program of ['python3', 'systemd-notify'])
    if ((await run('sh', ['-c', `command -v ${program}`], '.')).code !== 0)
      return context.skip(`${program} is not installed`)
  const data = folder()
  const socket = join(data, 'notify.sock')
  const heard: string[] = []
  const listener = spawn('python3', ['-uc', SERVE, socket], { stdio: ['ignore', 'pipe', 'ignore'] })
  scene.onEnd(() => void listener.kill('SIGKILL'))
  listener.stdout.setEncoding('utf8').on('data', (text: string) => heard.push(text))
  await until('the socket is there', async () => (await run('test', ['-S', socket], '.')).code === 0)
  const daemon = spawn(process.execPath, [BINARY, 'up', '--json', '--port', '0', '--data', data], {
    cwd: data,
    env: {
      ...bareEnvironment(),
      NOTIFY_SOCKET: socket,
      WATCHDOG_USEC: '1000000',
      SWITCHBOARD_UNIT: 'swb.service',
    },
    stdio: 'ignore',
  })
  const ended = new Promise((resolve) => daemon.once('exit', resolve))
  scene.onEnd(() => void daemon.kill('SIGKILL'))
  const hears = (what: string) => until(`it says ${what}`, () => heard.join('').includes(what))
  await hears('READY=1')
  expect(heard.join('')).toContain('STATUS=ready at http://')
  await hears('WATCHDOG=1')
  const refused = await switchboard(data, 'restart')
  expect(refused).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('systemctl --user restart swb.service'),
  })
  heard.length = 0
  daemon.kill('SIGHUP')
  await hears('RELOADING=1')
  await hears('READY=1')
  expect(await askJson(data, 'stop')).toMatchObject({ stopped: true })
  expect(await ended).toBe(0)
  await hears('STOPPING=1')
})
