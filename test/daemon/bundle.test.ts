// What is shipped is a bundle: few files are loaded before a daemon is ready and by a command beside it, and a module of
// others shares its code with the daemon, or brings a copy whose errors count like our own.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { bareEnvironment, SHIPPED } from '../faults/daemon.ts'
import { askLines, createScene, run } from '../faults/scene.ts'
import { until } from '../faults/until.ts'

const scene = createScene()
const ROOT = fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, '')

interface Loaded {
  /** Files of dist/. */
  readonly ours: readonly string[]
  /** Installed packages, once each. */
  readonly packages: readonly string[]
}

/** What a process loaded, as V8 wrote it down at its end. */
function loadedBy(folder: string): Loaded {
  const urls = readdirSync(folder).flatMap((name) => {
    const { result } = JSON.parse(readFileSync(join(folder, name), 'utf8')) as { result: { url: string }[] }
    return result.map(({ url }) => url)
  })
  const files = [...new Set(urls.filter((url) => url.startsWith('file:')).map((url) => fileURLToPath(url)))]
  const packageOf = (file: string) => /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(file)?.[1]
  return {
    ours: files.filter((file) => file.startsWith(join(ROOT, 'dist/'))),
    packages: [...new Set(files.flatMap((file) => packageOf(file) ?? []))].toSorted(),
  }
}

/** A native module can be taken into no bundle. */
const FOR_THE_STORE = ['@photostructure/sqlite', 'node-gyp-build']

it('[I23.few-files] a start, status and a shim load few files, and no package but the store’s', async () => {
  const data = scene.folder()
  const written = Object.fromEntries(
    ['up', 'status', 'channel'].map((name) => [name, join(scene.folder(), name)] as const),
  )
  const daemon = await scene.start({ data, binary: SHIPPED, env: { NODE_V8_COVERAGE: written.up ?? '' } })

  const status = await run(
    'env',
    [`NODE_V8_COVERAGE=${written.status}`, process.execPath, SHIPPED, 'status', '--data', data],
    data,
  )
  expect(status).toMatchObject({ code: 0, stderr: '' })
  expect(status.stdout).toContain('ready')

  const shim = spawn(
    process.execPath,
    [SHIPPED, 'channel', '--agent', 'demo', '--no-start', '--data', data],
    {
      cwd: data,
      env: { ...bareEnvironment(), NODE_V8_COVERAGE: written.channel },
      stdio: ['pipe', 'pipe', 'ignore'],
    },
  )
  scene.onEnd(() => void shim.kill('SIGKILL'))
  const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'x', version: '1' } }
  shim.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params })}\n`)
  const [answer] = await once(createInterface({ input: shim.stdout }), 'line')
  expect(JSON.parse(answer)).toMatchObject({ id: 1, result: { serverInfo: {} } })
  const ended = once(shim, 'exit')
  shim.stdin.end()
  await ended
  await daemon.terminate()

  const loaded = (name: 'up' | 'status' | 'channel') => loadedBy(written[name] ?? '')
  expect(loaded('up').packages).toEqual(FOR_THE_STORE)
  expect(loaded('up').ours.length).toBeLessThanOrEqual(50)
  // It asks the daemon: neither the store nor a schema is wanted.
  expect(loaded('status').packages).toEqual([])
  const holdsStore = (file: string) => readFileSync(file, 'utf8').includes('//#region src/store/')
  expect(loaded('status').ours.filter(holdsStore)).toEqual([])
  expect(loaded('up').ours.filter(holdsStore)).not.toEqual([])
  expect(loaded('status').ours.length).toBeLessThanOrEqual(16)
  expect(loaded('channel').packages).toEqual([])
  expect(loaded('channel').ours.length).toBeLessThanOrEqual(30)
})

const STUBBORN = `
import { SwitchboardError } from 'switchboard/adapter'
const options = { '~standard': { version: 1, vendor: 'x', validate: (value) => ({ value }),
  jsonSchema: { input: () => ({ type: 'object' }), output: () => ({ type: 'object' }) } } }
export const platforms = [{
  name: NAME, options, docs: 'https://example.com', defaultAccess: { dm: 'allowlist' },
  create: () => ({
    abilities: { idempotentSend: true, textLimit: { size: 500, unit: 'code-points' } },
    start: async () => {},
    send: async () => { throw new SwitchboardError('platform_rejected', 'nobody has that number') },
    stop: async () => {},
  }),
}]
`

it('[I23.few-files] an error that a module of others throws keeps its code, whether it shares our code or has a copy', async () => {
  const data = scene.folder()
  for (const name of ['shared', 'copied']) {
    const folder = join(data, name)
    mkdirSync(join(folder, 'node_modules'), { recursive: true })
    writeFileSync(join(folder, 'stubborn.mjs'), STUBBORN.replace('NAME', `'${name}'`))
  }
  symlinkSync(ROOT, join(data, 'shared/node_modules/switchboard'))
  const copy = join(data, 'copied/node_modules/switchboard')
  const isCode = (file: string) => !/\.map$|\.d\.ts$/.test(file)
  cpSync(join(ROOT, 'dist'), join(copy, 'dist'), { recursive: true, filter: isCode })
  cpSync(join(ROOT, 'package.json'), join(copy, 'package.json'))
  const config = join(data, 'switchboard.yaml')
  writeFileSync(
    config,
    `modules: [./shared/stubborn.mjs, ./copied/stubborn.mjs]
integrations:
  - { id: one, platform: shared, access: { allow_from: [kate] } }
  - { id: two, platform: copied, access: { allow_from: [kate] } }
agents: [{ id: demo, connector: { type: demo }, inbound_bindings: [] }]
`,
  )
  await scene.start({ data, config, binary: SHIPPED })
  for (const id of ['one', 'two']) {
    const sent = await run(process.execPath, [SHIPPED, 'send', `${id}:kate`, 'hello', '--data', data], data)
    expect(sent.stderr).toContain('nobody has that number')
  }
  // What is not known as ours would be `platform_unavailable`, and tried again for hours.
  const rows = await until('both are given up', async () => {
    const all = await askLines<{ state: string; reason: string; error?: string }>(data, 'outbox')
    return all.length === 2 && all.every(({ state }) => state === 'failed') ? all : null
  })
  expect(rows.map(({ reason }) => reason)).toEqual(['platform_rejected', 'platform_rejected'])
})

/** Packages that a file of dist/ and all that it imports, at once or later, name. */
function importedBy(door: string): readonly string[] {
  const files = new Set([join(ROOT, 'dist', `${door}.js`)])
  const packages = new Set<string>()
  for (const file of files) {
    const lines = readFileSync(file, 'utf8').split('\n')
    const text = lines.filter((line) => !/^\s*(?:\*|\/\*|\/\/)/.test(line)).join('\n')
    const named = [
      ...text.matchAll(/^(?:import|export)\s[^'"]*?['"]([^'"]+)['"];?$/gm),
      ...text.matchAll(/\bimport\(['"]([^'"]+)['"]\)/g),
      // What was taken in asks so for what was not.
      ...text.matchAll(/\b__require\(['"]([^'"]+)['"]\)/g),
    ]
    for (const [, path = ''] of named) {
      if (path.startsWith('.')) files.add(join(dirname(file), path))
      else if (!isBuiltin(path)) packages.add(/^(?:@[^/]+\/)?[^/]+/.exec(path)?.[0] ?? path)
    }
  }
  return [...packages].toSorted()
}

it('[I18.pack-whole] what is installed imports only what is installed with it; the suites alone want more', () => {
  const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
    dependencies: Record<string, string>
  }
  // Asked for by `debug` and `pg` where somebody has them, and done without elsewhere.
  const wanted = ['supports-color', 'pg-cloudflare', 'pg-native', ...Object.keys(manifest.dependencies)]
  const strange = (door: string) => importedBy(door).filter((name) => !wanted.includes(name))
  expect(importedBy('cli/main')).toEqual(expect.arrayContaining(['mailauth', 'openai']))
  const doors = ['cli/main', 'index', 'adapter', 'markdown', 'chorus/index', 'host/index', 'testing/emulate']
  expect(doors.map((door) => [door, strange(door)])).toEqual(doors.map((door) => [door, []]))
  expect(strange('testing/index')).toEqual(['fast-check', 'vitest'])
})
