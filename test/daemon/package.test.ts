// The package as others meet it: subpath exports from a project of their own, both names of the command, `npm start`.
import { spawn } from 'node:child_process'
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { bareEnvironment } from '../faults/daemon.ts'
import { postDemo } from '../faults/hook-client.ts'
import { createScene, run } from '../faults/scene.ts'
import { until } from '../faults/until.ts'

const scene = createScene()
const ROOT = fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, '')
const PACKAGE = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  readonly name: string
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
    const inside = `await import('${PACKAGE.name}/dist/app/daemon.js')`
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
