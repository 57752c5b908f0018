// Instances as a person meets them: two projects on one machine, a file that is another one's, old data, a taken port.
import { spawn } from 'node:child_process'
import {
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { startClaudeCode } from '../../src/testing/emulate.ts'
import { BINARY, bareEnvironment } from '../faults/daemon.ts'
import { post } from '../faults/hook-client.ts'
import { createScene, type Ran } from '../faults/scene.ts'
import { until } from '../faults/until.ts'

const scene = createScene()

interface Up {
  readonly url: string
  readonly data: string
  readonly config: string | null
  readonly pid: number
}

/** A home with projects in it, and commands as they are typed there. */
function machine() {
  const home = realpathSync(scene.folder())
  const environment = { ...bareEnvironment(), HOME: home }
  const place = (path: string) => join(home, path)
  return {
    home,
    environment,
    place,
    project(name: string, yaml = YAML): string {
      mkdirSync(place(name), { recursive: true })
      writeFileSync(join(place(name), 'switchboard.yaml'), yaml)
      return place(name)
    },
    run: (cwd: string, ...words: readonly string[]) => command(cwd, environment, words),
    async detached(cwd: string, ...words: readonly string[]): Promise<Up> {
      const ran = await command(cwd, environment, ['up', '--detach', '--json', ...words])
      if (ran.code !== 0) throw new Error(ran.stderr)
      const up = json<Up>(ran)
      scene.onEnd(async () => {
        await command(cwd, environment, ['stop', '--data', up.data])
      })
      return up
    },
    async up(cwd: string, ...words: readonly string[]): Promise<Up & { end(): Promise<void> }> {
      const child = spawn(process.execPath, [BINARY, 'up', '--json', ...words], {
        cwd,
        env: environment,
        stdio: ['ignore', 'pipe', 'pipe'],
      })
      let out = ''
      let err = ''
      child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
        out += chunk
      })
      child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
        err += chunk
      })
      const ended = new Promise<void>((resolve) => child.once('close', () => resolve()))
      scene.onEnd(async () => {
        child.kill('SIGKILL')
        await ended
      })
      await until(`up in ${cwd}: ${err}`, () => out.includes('\n') || child.exitCode !== null)
      if (child.exitCode !== null) throw new Error(err)
      return {
        ...(JSON.parse(out.slice(0, out.indexOf('\n'))) as Up),
        async end() {
          child.kill('SIGTERM')
          await ended
        },
      }
    },
  }
}

const YAML = `integrations:
  - { id: demo, platform: webhook, sender_header: X-Sender, two_way: true, access: { allow_from: [dev] } }
agents:
  - id: demo
    connector: { type: demo }
    inbound_bindings: [{ plugin: webhook, instance: demo }]
`

function command(cwd: string, env: Record<string, string>, words: readonly string[]): Promise<Ran> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [BINARY, ...words], { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] })
    const told = { stdout: '', stderr: '' }
    for (const name of ['stdout', 'stderr'] as const)
      child[name].setEncoding('utf8').on('data', (chunk: string) => {
        told[name] += chunk
      })
    child.once('error', reject)
    child.once('close', (code) => resolve({ code, ...told }))
  })
}

const json = <T>({ stdout }: Ran) => JSON.parse(stdout) as T
const lines = <T>({ stdout }: Ran) =>
  stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as T)
const say = (url: string, text: string) => post(`${url}/hooks/demo`, text, { 'x-sender': 'dev' })
const texts = (ran: Ran) => lines<{ text: string }>(ran).map(({ text }) => text)

describe('two projects of one user', () => {
  it('[I14.two-projects] [I14.port-next] [I14.status-instance] [I14.instances-list] [I14.data-unseen-by-git] have a daemon each', async () => {
    const { project, run, up, place, home } = machine()
    const [a, b] = [project('a'), project('b')]
    mkdirSync(join(b, 'src'))
    const ofA = await up(a)
    const ofB = await up(join(b, 'src'))
    expect(ofA.data).toBe(join(a, '.switchboard'))
    expect(ofB).toMatchObject({ data: join(b, '.switchboard'), config: join(b, 'switchboard.yaml') })
    // Neither asked for a port: the second takes the next one that is free.
    expect(new URL(ofB.url).port).not.toBe(new URL(ofA.url).port)
    expect((await say(ofA.url, 'for a')).status).toBe(200)
    expect((await say(ofB.url, 'for b')).status).toBe(200)
    await until('each has its own', async () => texts(await run(b, 'turns', '--json')).length === 1)
    expect(texts(await run(a, 'turns', '--json'))).toEqual(['for a'])
    expect(texts(await run(join(b, 'src'), 'turns', '--json'))).toEqual(['for b'])
    expect(json<{ instance: object }>(await run(b, 'status', '--json')).instance).toEqual({
      name: 'b',
      config: join(b, 'switchboard.yaml'),
      data: join(b, '.switchboard'),
    })
    expect(existsSync(place('.switchboard/switchboard.db'))).toBe(false)
    expect(readFileSync(join(a, '.switchboard/.gitignore'), 'utf8')).toBe('*\n')
    await ofA.end()
    const listed = lines<{ name: string }>(await run(home, 'instances', '--json'))
    expect(listed.sort((x, y) => x.name.localeCompare(y.name))).toEqual([
      {
        name: 'a',
        state: 'stopped',
        url: null,
        pid: null,
        config: join(a, 'switchboard.yaml'),
        data: ofA.data,
      },
      { name: 'b', state: 'running', url: ofB.url, pid: ofB.pid, config: ofB.config, data: ofB.data },
    ])
  })

  it('[I14.port-next] a port that was asked for and is taken is not exchanged for another', async () => {
    const { project, run } = machine()
    const other = createServer()
    scene.onEnd(() => void other.close())
    const port = await new Promise<number>((resolve) =>
      other.listen(0, '127.0.0.1', () => resolve((other.address() as { port: number }).port)),
    )
    const written = project('written', `server: { port: ${port} }\n${YAML}`)
    for (const ran of [await run(written, 'up'), await run(project('plain'), 'up', '--port', String(port))])
      expect(ran).toMatchObject({ code: 1, stderr: expect.stringContaining('in use by another process') })
  })
})

describe('a file that is not the daemon’s', () => {
  it('[I14.file-mismatch] [I14.file-missing] [I14.found-ignored] is told with both paths and the remedy, and answers for nobody', async () => {
    const { project, run, up, home } = machine()
    const [a, b] = [project('a'), project('b')]
    const ofA = await up(a)
    const [fileA, fileB] = [join(a, 'switchboard.yaml'), join(b, 'switchboard.yaml')]
    for (const words of [
      ['status', '--data', ofA.data, '--config', fileB],
      ['reload', '--data', ofA.data, '--config', fileB],
    ]) {
      const ran = await run(home, ...words)
      expect(ran).toMatchObject({ code: 2, stdout: '' })
      expect(ran.stderr).toContain(`runs ${fileA}, not ${fileB}`)
      expect(ran.stderr).toContain(`--config ${fileA}`)
      expect(ran.stderr).toContain(`switchboard up --config ${fileB}`)
    }
    expect((await run(home, 'status', '--config', join(home, 'nope.yaml'))).stderr).toContain(
      'there is no file',
    )
    expect((await run(home, 'status', '--config', join(home, 'nope.yaml'))).code).toBe(2)
    expect((await run(home, 'status', '--data', ofA.data, '--config', join(home, 'nope.yaml'))).code).toBe(2)
    // Found in b, but the folder was named: the daemon of that folder answers.
    const named = await run(b, 'status', '--json', '--data', ofA.data)
    expect(json<{ instance: object }>(named).instance).toMatchObject({ config: fileA })
    await ofA.end()
    // Without the daemon the folder is read with the file that was last run from it.
    const read = await run(b, 'status', '--json', '--data', ofA.data)
    expect(json<{ ready: boolean; instance: object }>(read)).toMatchObject({
      ready: false,
      instance: { config: fileA, data: ofA.data },
    })
    expect((await run(b, 'reload')).stderr).toContain('start one with: switchboard up')
  })
})

describe('a file of another user', () => {
  it('[I14.file-foreign] is not run when it was only found, and says to name it', async (context) => {
    if (process.getuid?.() !== 0) context.skip('needs root to give a file away')
    const { project, run, up } = machine()
    const a = project('a')
    chownSync(join(a, 'switchboard.yaml'), 65_534, 65_534)
    const refused = await run(a, 'up')
    expect(refused).toMatchObject({ code: 2, stdout: '' })
    expect(refused.stderr).toContain('belongs to another user')
    expect(refused.stderr).toContain(`switchboard up --config ${join(a, 'switchboard.yaml')}`)
    expect(existsSync(join(a, '.switchboard'))).toBe(false)
    await (await up(a, '--config', join(a, 'switchboard.yaml'))).end()
  })
})

describe('a shim', () => {
  const CHANNEL = YAML.replace('connector: { type: demo }', 'connector: { type: channel }')

  it('[I14.shim-mismatch] [I14.two-projects] of one project is handed nothing of another, and says whose daemon that is', async () => {
    const { project, up, environment } = machine()
    const [a, b] = [project('a', CHANNEL), project('b', CHANNEL)]
    const [ofA, ofB] = [await up(a), await up(b)]
    const host = async (cwd: string, ...words: readonly string[]) => {
      const args = [BINARY, 'channel', '--agent', 'demo', ...words]
      const claude = await startClaudeCode({
        ...{ command: process.execPath, args, cwd, env: environment },
        channels: ['server:switchboard'],
      })
      scene.onEnd(async () => {
        claude.kill('SIGKILL')
        await claude.exited
      })
      return claude
    }
    const own = await host(b)
    const fileB = join(b, 'switchboard.yaml')
    const lost = await host(b, '--config', fileB, '--data', ofA.data)
    await say(ofA.url, 'for a')
    await say(ofB.url, 'for b')
    await until('b hears its own', () => own.prompts.length > 0)
    expect(own.prompts.map(({ content }) => content)).toEqual(['for b'])
    expect(lost.prompts).toEqual([])
    expect(lost.instructions).toContain(
      `runs ${join(a, 'switchboard.yaml')}, and this session is for ${fileB}`,
    )
    const answer = await lost.call('reply', { chat_id: 'demo:dev', text: 'hi' })
    expect(JSON.stringify(answer)).toContain('and this session is for')
  })
})

describe('data of an earlier version', () => {
  it('[I14.no-start-beside-old] [I14.adopt] [I14.adopt-live] is not started beside empty, and can be moved beside the file', async () => {
    const { project, run, up, place, home } = machine()
    const old = place('.switchboard')
    const before = await up(project('earlier'), '--data', old)
    await say(before.url, 'long ago')
    const a = project('work/a')
    const [live, other] = [await run(a, 'instances', 'adopt', old), project('other', 'integrations: []\n')]
    expect(live).toMatchObject({ code: 1, stderr: expect.stringContaining('a daemon holds') })
    expect(existsSync(join(a, '.switchboard'))).toBe(false)
    await before.end()

    const refused = await run(a, 'up')
    expect(refused).toMatchObject({ code: 2, stdout: '' })
    expect(refused.stderr).toContain(`${old} holds turns of demo`)
    expect(refused.stderr).toContain(`switchboard up --data ${old}`)
    expect(refused.stderr).toContain(`switchboard instances adopt ${old}`)
    expect(await run(a, 'up', '--detach')).toMatchObject({ code: 2, stderr: refused.stderr })
    expect(existsSync(join(a, '.switchboard'))).toBe(false)
    // A folder without a database, as a shim or a move that was cut short leaves it, is no data.
    mkdirSync(join(a, '.switchboard'), { mode: 0o700 })
    writeFileSync(join(a, '.switchboard/daemon.log'), '')
    expect(await run(a, 'up')).toMatchObject({ code: 2, stdout: '' })
    // A file that names none of them is not concerned.
    await (await up(other)).end()

    const moved = await run(a, 'instances', 'adopt', old, '--json')
    expect(json<object>(moved)).toMatchObject({ ok: true, from: old, data: join(a, '.switchboard') })
    // What else is there is of the home itself: the instances that it knows, and the command that began one.
    expect(readdirSync(old).filter((name) => !['known', 'program.json'].includes(name))).toEqual([])
    const after = await up(a)
    expect(texts(await run(a, 'turns', '--json'))).toEqual(['long ago'])
    expect((await run(a, 'audit', 'verify')).code).toBe(0)
    await after.end()

    // Two histories cannot be joined.
    await (await up(home)).end()
    const second = await run(a, 'instances', 'adopt', old)
    expect(second).toMatchObject({ code: 1, stderr: expect.stringContaining('holds data of its own') })
  })

  it('[I35.b6] what the embedded default received stands in the way of no project', async () => {
    const { project, run, up, detached, home } = machine()
    const first = await up(home)
    await say(first.url, 'the first minute')
    await first.end()
    const a = project('a')
    const started = await detached(a, '--port', '0')
    expect(started.data).toBe(join(a, '.switchboard'))
    expect(texts(await run(a, 'turns', '--json'))).toEqual([])

    const b = join(home, 'b')
    mkdirSync(b)
    expect(await run(b, 'init', '--yes')).toMatchObject({ code: 0 })
    expect((await detached(b, '--port', '0')).data).toBe(join(b, '.switchboard'))
  })

  it('[I35.b6] turns that were received under a file stand in the way, but not of --data and --fresh', async () => {
    const { project, run, up, detached, place, home } = machine()
    const old = place('.switchboard')
    for (const cwd of [project('earlier'), home]) {
      const daemon = await up(cwd, '--data', old)
      await say(daemon.url, `in ${cwd}`)
      await daemon.end()
    }
    for (const words of [['up'], ['up', '--detach']])
      expect(await run(project('a'), ...words)).toMatchObject({
        code: 2,
        stdout: '',
        stderr: expect.stringContaining(`${old} holds turns of demo`),
      })
    const named = await detached(project('a'), '--data', place('a/.switchboard'), '--port', '0')
    expect(named.data).toBe(place('a/.switchboard'))
    const fresh = await detached(project('b'), '--fresh', '--port', '0')
    expect(fresh.data).toBe(place('b/.switchboard'))
    await (await up(project('c'), '--fresh')).end()
    const joined = await detached(project('d'), '--data', old, '--port', '0')
    expect(joined.data).toBe(old)
    expect(texts(await run(place('d'), 'turns', '--json', '--data', old))).toHaveLength(2)
  })

  it('[I14.adopt-crash] a move that was interrupted is finished by the next one, and nothing starts in between', async () => {
    const { project, run, up, place, home } = machine()
    const old = place('.switchboard')
    const before = await up(home)
    await say(before.url, 'long ago')
    await before.end()
    const a = project('a')
    const own = join(a, '.switchboard')
    // As a kill in the middle leaves it: the notes, one entry here and the rest there.
    mkdirSync(own, { mode: 0o700 })
    const note = JSON.stringify({ from: old, to: own })
    for (const folder of [old, own]) writeFileSync(join(folder, 'adopting.json'), note, { mode: 0o600 })
    renameSync(join(old, 'switchboard.db'), join(own, 'switchboard.db'))
    for (const [cwd, ...words] of [
      [a, 'up'],
      [home, 'up'],
    ] as const)
      expect(await run(cwd, ...words)).toMatchObject({
        code: 2,
        stderr: expect.stringContaining(`switchboard instances adopt ${old}`),
      })
    expect(await run(a, 'instances', 'adopt', old)).toMatchObject({ code: 0 })
    // Killed behind the last entry, it is asked for once more.
    expect(await run(a, 'instances', 'adopt', old)).toMatchObject({ code: 0 })
    const after = await up(a)
    expect(texts(await run(a, 'turns', '--json'))).toEqual(['long ago'])
    expect((await run(a, 'audit', 'verify')).code).toBe(0)
    await after.end()
  })
})
