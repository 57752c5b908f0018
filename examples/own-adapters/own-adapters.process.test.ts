// Follows docs/guide/testing-adapters.md in an empty folder outside of the repository, with the built package. The
// guide's files equal the example's, its suites are green, and a message passes through both adapters.
import { spawn } from 'node:child_process'
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { until } from '../../test/faults/until.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))
const here = join(root, 'examples/own-adapters')
const guide = readFileSync(join(root, 'docs/guide/testing-adapters.md'), 'utf8')
const TOKEN = 'pager-token-of-the-test'

/** Each `name` is followed by a block, as the guide writes them. */
const files = [...guide.matchAll(/^`([\w.-]+)`:\n\n```\w+\n([\s\S]*?)^```$/gm)].map(
  ([, name = '', text = '']) => ({
    name,
    text,
  }),
)

let folder = ''
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'sb-own-'))
  for (const { name, text } of files) writeFileSync(join(folder, name), text)
  // The result of `npm install`: the published package, and its dependencies. Of our development tools only vitest is
  // there, because the guide installs it.
  const { devDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const absent = Object.keys(devDependencies).filter((name) => name !== 'vitest')
  const installed = join(folder, 'node_modules')
  mkdirSync(installed)
  for (const name of readdirSync(join(root, 'node_modules')))
    if (!name.startsWith('.') && !absent.includes(name))
      symlinkSync(join(root, 'node_modules', name), join(installed, name))
  cpSync(join(root, 'dist'), join(installed, 'switchboard/dist'), { recursive: true })
  cpSync(join(root, 'package.json'), join(installed, 'switchboard/package.json'))
  return () => rmSync(folder, { recursive: true, force: true })
})

async function run(args: readonly string[], env = {}): Promise<{ code: number | null; out: string }> {
  const child = spawn(process.execPath, args, {
    cwd: folder,
    env: { ...process.env, PAGER_TOKEN: TOKEN, ...env },
  })
  let out = ''
  child.stdout.on('data', (chunk) => (out += chunk))
  child.stderr.on('data', (chunk) => (out += chunk))
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve))
  return { code, out }
}
const SWITCHBOARD = 'node_modules/switchboard/dist/cli/main.js'

describe('[I13.modules-guide] the guide', () => {
  it('holds the whole example', () => {
    const example = readdirSync(here).filter((name) => !name.endsWith('.ts'))
    expect(files.map(({ name }) => name).toSorted()).toEqual(example.toSorted())
    for (const { name, text } of files)
      expect([name, text]).toEqual([name, readFileSync(join(here, name), 'utf8')])
  })

  it('[I13.modules-example] leads to a green suite', async () => {
    const { code, out } = await run(['node_modules/vitest/vitest.mjs', 'run', '--root', folder], {
      NO_COLOR: '1',
    })
    expect([code, /Test Files +3 passed/.test(out)], out).toEqual([0, true])
    expect(out).toMatch(/Tests .*\d+ passed/)
    expect(out).not.toContain('failed')
  })

  it('[I13.modules-check] leads to a configuration that holds, and exits 2 where a module fails', async () => {
    expect(await run([SWITCHBOARD, 'check'])).toMatchObject({ code: 0 })
    writeFileSync(join(folder, 'broken.mjs'), 'throw new Error("no luck")')
    writeFileSync(join(folder, 'broken.yaml'), 'modules:\n  - ./broken.mjs\n')
    const { code, out } = await run([SWITCHBOARD, 'check', 'broken.yaml'])
    expect(code).toBe(2)
    expect(out).toContain('broken.yaml:2:5 module "./broken.mjs" threw while it was loaded: no luck')
  })
})

describe('[I13.modules-example] a daemon with them', () => {
  it('[I13.modules-down] [I13.modules-doctor] [I13.modules-reload] [I13.modules-secrets] carries a message around', async () => {
    const pages: { token: unknown; text: string }[] = []
    const pager = createServer((request, response) => {
      let body = ''
      request.on('data', (chunk) => (body += chunk))
      request.on('end', () => {
        pages.push({ token: request.headers['x-pager-token'], text: JSON.parse(body).text })
        response.end()
      })
    })
    await new Promise<void>((resolve) => pager.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void pager.close())
    const port = (pager.address() as AddressInfo).port
    const yaml = readFileSync(join(folder, 'switchboard.yaml'), 'utf8').replace('9797', String(port))
    const config = join(folder, 'running.yaml')
    // One more module, which fails: the agent that needs it is down, and the rest runs.
    const withBroken = `${yaml.replace('[./pager.mjs', '[./broken.mjs, ./pager.mjs')}  - { id: lost, connector: { type: lorikeet } }\n`
    writeFileSync(join(folder, 'broken.mjs'), 'throw new Error("no luck")')
    writeFileSync(config, withBroken)
    const data = join(folder, 'data')
    const given = ['--config', config, '--data', data]
    const env = { ...process.env, PAGER_TOKEN: TOKEN }
    const daemon = spawn(process.execPath, [SWITCHBOARD, 'up', '--port', '0', '--json', ...given], {
      cwd: folder,
      env,
    })
    onTestFinished(() => void daemon.kill('SIGKILL'))
    let said = ''
    daemon.stdout.on('data', (chunk) => (said += chunk))
    daemon.stderr.on('data', (chunk) => (said += chunk))
    const url = await until('it is ready', () => /http:\/\/127\.0\.0\.1:\d+/.exec(said)?.[0])

    const post = (token: string) =>
      fetch(`${url}/hooks/duty`, {
        method: 'POST',
        headers: { 'x-pager-token': token },
        body: JSON.stringify({ id: '1', from: 'kate', text: 'polly wants a cracker' }),
      })
    expect((await post('guess')).status).toBe(401)
    await until('it takes the page', async () => (await post(TOKEN)).status === 200)
    await until('the answer is paged', () => pages.length > 0)
    expect(pages[0]).toEqual({ token: TOKEN, text: 'POLLY WANTS A CRACKER' })

    const doctor = JSON.parse((await run([SWITCHBOARD, 'doctor', '--json', '--data', data])).out)
    expect(doctor.ok).toBe(false)
    expect(doctor.modules).toMatchObject([
      { from: './broken.mjs', problem: 'threw while it was loaded: no luck' },
      { from: './pager.mjs', version: '1.0.0', platforms: ['pager'], problem: null, changed: false },
      { from: './parrot.mjs', version: '1.0.0', connectors: ['parrot'], problem: null, changed: false },
    ])
    const lost = doctor.agents.find((one: { id: string }) => one.id === 'lost')
    expect(lost).toMatchObject({ attached: false, detail: expect.stringContaining('no luck') })
    expect(said).not.toContain(TOKEN)

    // A reload with it keeps the old configuration. A reload without it applies the new one.
    const reload = async () => run([SWITCHBOARD, 'reload', '--data', data])
    writeFileSync(config, withBroken.replace('kate', 'ada'))
    expect((await reload()).code).not.toBe(0)
    writeFileSync(config, yaml)
    expect((await reload()).code).toBe(0)
    daemon.kill('SIGTERM')
    await new Promise((resolve) => daemon.once('close', resolve))
  })
})
