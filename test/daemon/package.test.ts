// The package as others meet it: subpath exports from a project of their own, both names of the command, `npm start`.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { bareEnvironment } from '../faults/daemon.ts'
import { post, postDemo } from '../faults/hook-client.ts'
import { createScene, type Ran, run } from '../faults/scene.ts'
import { until } from '../faults/until.ts'
import { SCOPE } from '../scenarios/deal.ts'
import { githubSignature } from './admin.ts'

const scene = createScene()
const ROOT = fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, '')
const PACKAGE = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  readonly name: string
  readonly files: readonly string[]
  readonly scripts: Readonly<Record<string, string>>
  readonly bin: Readonly<Record<string, string>>
  readonly exports: Readonly<Record<string, string | { readonly types: string; readonly default: string }>>
}

/** A project that has installed the package. */
function project(): string {
  const folder = scene.folder()
  mkdirSync(join(folder, 'node_modules'))
  symlinkSync(ROOT, join(folder, 'node_modules', PACKAGE.name))
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
  return folder
}

describe('the library', () => {
  it('[I2.library-door] every subpath export loads in a project of its own, and nothing else can be reached', async () => {
    const folder = project()
    const doors = Object.keys(PACKAGE.exports).filter(
      (door) => !door.endsWith('.json') && door !== './testing',
    )
    for (const door of doors) {
      const name = door.replace('.', PACKAGE.name)
      const script = `import * as door from '${name}'; console.log(JSON.stringify(Object.keys(door)))`
      const ran = await run(process.execPath, ['--input-type=module', '-e', script], folder)
      expect({ name, code: ran.code, stderr: ran.stderr }).toEqual({ name, code: 0, stderr: '' })
      expect(JSON.parse(ran.stdout).length).toBeGreaterThan(0)
    }
    const inside = `await import('${PACKAGE.name}/dist/daemon/daemon.js')`
    const shut = await run(process.execPath, ['--input-type=module', '-e', inside], folder)
    expect(shut.stderr).toContain('ERR_PACKAGE_PATH_NOT_EXPORTED')
    for (const door of Object.values(PACKAGE.exports)) {
      if (typeof door === 'string') continue
      for (const file of [door.types, door.default])
        expect(readFileSync(join(ROOT, file), 'utf8')).not.toBe('')
    }
  })

  it('[I2.library-door] runs a daemon from a few lines', async () => {
    const folder = project()
    const script = `
      import { runDaemon } from '${PACKAGE.name}'
      const daemon = await runDaemon({ dataDir: './data', port: 0, logLevel: 'silent' })
      const said = await fetch(daemon.url + '/hooks/demo', { method: 'POST', body: 'hello', headers: { 'x-sender': 'dev' } })
      console.log(said.status, (await said.json()).state)
      await daemon.stop()
      console.log(await daemon.done)`
    const ran = await run(process.execPath, ['--input-type=module', '-e', script], folder)
    expect(ran).toEqual({ code: 0, stdout: '200 queued\n0\n', stderr: '' })
  })
})

describe('the command', () => {
  it('[S14.cli-alias] swb is switchboard', async () => {
    expect(PACKAGE.bin.swb).toBe(PACKAGE.bin.switchboard)
    const folder = scene.folder()
    for (const [name, file] of Object.entries(PACKAGE.bin)) {
      symlinkSync(join(ROOT, file), join(folder, name))
      const ran = await run(join(folder, name), ['version', '--json'], folder)
      expect(ran).toMatchObject({ code: 0, stderr: '' })
      expect(JSON.parse(ran.stdout)).toHaveProperty('version')
    }
  })

  it('[I2.start] npm start runs the embedded default and says where it listens', async () => {
    const home = scene.folder()
    const child = spawn('npm', ['start', '--silent', '--', '--port', '0', '--data', join(home, 'data')], {
      cwd: ROOT,
      env: { ...bareEnvironment(), HOME: home, npm_config_update_notifier: 'false' },
      stdio: ['ignore', 'pipe', 'pipe'],
      // npm does not pass every signal on: the whole group is ended, as Ctrl-C in a terminal does.
      detached: true,
    })
    const ended = new Promise<number | null>((resolve) => child.once('close', (code) => resolve(code)))
    scene.onEnd(async () => {
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGTERM')
      await ended
    })
    let said = ''
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      said += chunk
    })
    const [, url = ''] = await until('it says where it listens', () =>
      /Switchboard is up at (http:\/\/127\.0\.0\.1:\d+)/.exec(said),
    )
    expect(said).toMatch(/chat +http:\/\/127\.0\.0\.1:\d+\/chat#ticket=/)
    expect(said).toMatch(/say +curl -H 'X-Sender: dev'/)
    expect((await postDemo(url, 'hello')).status).toBe(200)
  })
})

describe('the tarball', () => {
  it('[I18.pack-whole] in an empty prefix: init, up, a message, channel, stop', async () => {
    // What a fresh clone has, beside what `npm ci` puts there. `npm run test:all` packs a tree that was never built; every
    // other run one that the run itself has built.
    const clone = scene.folder()
    const { files } = PACKAGE
    const isBuilt = SCOPE !== 'all'
    expect(PACKAGE.scripts.prepack).toBe(PACKAGE.scripts.build)
    for (const name of [
      ...files,
      'package.json',
      'scripts',
      'src',
      'web',
      'tsconfig.json',
      'tsconfig.build.json',
    ])
      if ((name !== 'dist' || isBuilt) && !name.startsWith('!'))
        cpSync(join(ROOT, name), join(clone, name), { recursive: true })
    symlinkSync(join(ROOT, 'node_modules'), join(clone, 'node_modules'))
    const packed = await npm(clone, 'pack', '--json', ...(isBuilt ? ['--ignore-scripts'] : []))
    const [{ filename }] = JSON.parse(packed.stdout.slice(packed.stdout.indexOf('[')))

    const prefix = scene.folder()
    const installed = join(prefix, 'lib/node_modules/switchboard')
    await install(prefix, installed, join(clone, filename))
    expect(existsSync(join(installed, 'dist/web/index.html'))).toBe(true)
    // What its README leads to is there, and no test of ours.
    const readme = readFileSync(join(installed, 'README.md'), 'utf8')
    const led = [...readme.matchAll(/\]\((docs\/[^)#]+|examples\/[^)#]+)/g)].map(([, path = '']) => path)
    expect(led.length).toBeGreaterThan(5)
    expect(led.filter((path) => !existsSync(join(installed, path)))).toEqual([])
    const packedFiles = readdirSync(installed, { recursive: true, encoding: 'utf8' })
    expect(packedFiles.filter((name) => !/node_modules/.test(name) && /\.test\.\w+$/.test(name))).toEqual([
      'examples/own-adapters/marks.test.mjs',
      'examples/own-adapters/pager.test.mjs',
      'examples/own-adapters/parrot.test.mjs',
    ])

    const home = scene.folder()
    const project = join(home, 'project')
    mkdirSync(project)
    const swb = async (...words: string[]) => {
      const ran = await runIn(project, home, join(prefix, 'bin/switchboard'), words)
      expect({ words, code: ran.code, stderr: ran.stderr }).toMatchObject({ words, code: 0 })
      return ran.stdout
    }
    await swb('init', '--yes')
    const file = join(project, 'switchboard.yaml')
    const host = 'agents:\n  - { id: cc, connector: { type: channel }, inbound_bindings: [] }\n'
    writeFileSync(file, readFileSync(file, 'utf8').replace('agents:\n', host))
    scene.onEnd(async () => void (await runIn(project, home, join(prefix, 'bin/switchboard'), ['stop'])))
    const up = JSON.parse(await swb('up', '--detach', '--port', '0', '--json')) as { url: string }
    const secret = readFileSync(join(project, 'switchboard.alerts.secret'), 'utf8').trim()
    const headers = { 'x-hub-signature-256': githubSignature(secret, 'hello') }
    expect((await post(`${up.url}/hooks/alerts`, 'hello', headers)).status).toBe(200)
    await until('it is answered', async () => (await swb('turns', '--json')).includes('"state":"answered"'))
    expect((await fetch(`${up.url}/chat`)).status).toBe(200)
    const words = ['channel', '--agent', 'cc', '--no-start']
    const channel = spawn(join(prefix, 'bin/switchboard'), words, {
      cwd: project,
      env: { ...bareEnvironment(), HOME: home },
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    scene.onEnd(() => void channel.kill('SIGKILL'))
    channel.stdin.write(`${JSON.stringify(INITIALIZE)}\n`)
    const [answer] = await once(createInterface({ input: channel.stdout }), 'line')
    expect(JSON.parse(answer)).toMatchObject({
      result: { capabilities: { experimental: { 'claude/channel': {} } } },
    })
    channel.stdin.end()
    expect(await swb('stop')).toContain('stopped')
  })
})

const INITIALIZE = {
  ...{ jsonrpc: '2.0', id: 1, method: 'initialize' },
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'x', version: '1' } },
}

function runIn(cwd: string, home: string, program: string, args: readonly string[]): Promise<Ran> {
  return run('env', [`HOME=${home}`, program, ...args], cwd)
}

/**
 * npm asks its registry for each package that the tarball wants, which takes minutes where that is slow: `npm run test:all`
 * does that, every other run unpacks the tarball beside the packages that are here.
 */
async function install(prefix: string, installed: string, tarball: string): Promise<void> {
  if (SCOPE === 'all') {
    const quiet = ['--prefer-offline', '--no-audit', '--no-fund', '--ignore-scripts']
    return void (await npm(prefix, 'install', '--global', '--prefix', prefix, ...quiet, tarball))
  }
  for (const folder of [installed, join(prefix, 'bin')]) mkdirSync(folder, { recursive: true })
  expect(await run('tar', ['-xzf', tarball, '-C', installed, '--strip-components=1'], prefix)).toMatchObject({
    code: 0,
  })
  symlinkSync(join(ROOT, 'node_modules'), join(installed, 'node_modules'))
  for (const [name, file] of Object.entries(PACKAGE.bin))
    symlinkSync(join(installed, file), join(prefix, 'bin', name))
}

/** With the caches of whoever runs the tests, and their way to the registry: what `npm ci` fetched is not fetched again. */
async function npm(cwd: string, ...words: readonly string[]): Promise<Ran> {
  const reach = Object.entries(process.env).flatMap(([key, value]) =>
    /proxy$|cert|^npm_config_registry$/i.test(key) ? [`${key}=${value}`] : [],
  )
  const ran = await run('env', [`HOME=${homedir()}`, ...reach, 'npm', ...words], cwd)
  expect({ words, code: ran.code, stderr: ran.stderr }).toMatchObject({ words, code: 0 })
  return ran
}
