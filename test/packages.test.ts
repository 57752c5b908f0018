// The packages that no engine here can run: their files are read, and held to what the pages say of them.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { loadSettings, renderProblems } from '../src/config/index.ts'
import { createModuleCatalog } from '../src/modules/module-catalog.ts'

const ROOT = join(import.meta.dirname, '..')
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')

interface Instruction {
  readonly word: string
  readonly rest: string
}
const instructions: readonly Instruction[] = read('Dockerfile')
  .split('\n')
  .filter((line) => line !== '' && !line.startsWith('#'))
  .map((line) => {
    const cut = line.indexOf(' ')
    return { word: line.slice(0, cut), rest: line.slice(cut + 1) }
  })
const all = (word: string) => instructions.filter((one) => one.word === word).map((one) => one.rest)
const last = (word: string) => instructions.findLastIndex((one) => one.word === word)

describe('[I18.dockerfile] the image', () => {
  it('is built in stages, and what runs has neither sources nor tools', () => {
    expect(all('FROM')).toHaveLength(3)
    const run = instructions.slice(last('FROM'))
    const copied = run.filter((one) => one.word === 'COPY').map((one) => one.rest)
    expect(copied).toEqual([
      '--from=packages /src/node_modules ./node_modules',
      '--from=build /src/dist ./dist',
      'package.json README.md LICENSE ./',
    ])
    expect(all('RUN').filter((line) => line.startsWith('npm'))).toEqual([
      'npm ci --ignore-scripts',
      'npm run build',
      'npm ci --omit=dev --ignore-scripts',
    ])
  })

  it('runs as somebody who is not root, writes to its volume alone, and is asked for its health', () => {
    expect(all('USER')).toEqual(['node'])
    expect(last('USER')).toBeGreaterThan(last('RUN'))
    expect(all('VOLUME')).toEqual(['/data'])
    expect(all('ENV').join(' ')).toContain('SWITCHBOARD_DATA=/data')
    expect(all('HEALTHCHECK')[0]).toContain('/readyz')
    expect(JSON.parse(all('CMD')[0] ?? '')).toContain('/etc/switchboard/switchboard.yaml')
    expect(read('.dockerignore')).toMatch(/^\.git$[\s\S]*^node_modules$[\s\S]*\*\*\/\*\.secret$/m)
  })
})

describe('[I18.compose] compose.yaml', () => {
  const { services, volumes } = parse(read('compose.yaml'), { merge: true }) as {
    readonly volumes: Readonly<Record<string, unknown>>
    readonly services: Readonly<Record<string, Readonly<Record<string, unknown>>>>
  }

  it('has PostgreSQL and two nodes, each with a folder and a port of its own, and no secret inside', () => {
    expect(Object.keys(services)).toEqual(['postgres', 'node1', 'node2'])
    for (const name of ['node1', 'node2']) {
      expect(services[name]).toMatchObject({
        ...{ hostname: name, read_only: true, cap_drop: ['ALL'] },
        depends_on: { postgres: { condition: 'service_healthy' } },
        environment: { SWITCHBOARD_KEY: expect.stringMatching(/^\$\{.*:\?\}$/) },
      })
      expect(services[name]?.volumes).toContain(`${name}:/data`)
    }
    expect(Object.keys(volumes)).toEqual(['postgres', 'node1', 'node2'])
    expect(services.node1?.ports).not.toEqual(services.node2?.ports)
    expect(services.postgres).toHaveProperty('healthcheck')
  })

  it('runs a configuration that holds', async () => {
    const result = await loadSettings(join(ROOT, 'deploy/switchboard.yaml'), {
      adapters: createModuleCatalog(),
      failedModules: 'refused',
      defaultStore: 'sqlite:/x/db',
    })
    expect(result.ok ? '' : renderProblems('', result.problems)).toBe('')
    expect(result.ok && result.settings.store).toBe('env:DATABASE_URL')
  })
})

it('[I18.marketplace] the folder is a marketplace whose plugin is there', () => {
  const { plugins } = JSON.parse(read('.claude-plugin/marketplace.json')) as {
    readonly plugins: readonly { readonly name: string; readonly source: string }[]
  }
  expect(plugins.map(({ name }) => name)).toEqual(['switchboard'])
  const manifest = JSON.parse(read(join(plugins[0]?.source ?? '', '.claude-plugin/plugin.json'))) as object
  expect(manifest).toMatchObject({ name: 'switchboard' })
})
