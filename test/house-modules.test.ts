// The modules of the house, re-derived: each is whole, light, and named nowhere but in its folder and its rows.
import { describe, expect, it } from 'vitest'
import { EMULATORS } from '../src/app/emulators.ts'
import { platformDeps } from '../src/app/platform-deps.ts'
import { CONNECTORS, PLANNED_CONNECTORS, PLANNED_PLATFORMS, PLATFORMS } from '../src/app/registry.ts'
import { testIntegration } from '../src/testing/test-settings.ts'
import { exists, filesOf, foldersOf, read, source } from './house/source.ts'

const BANKS = [
  { bank: 'platforms', rows: PLATFORMS, planned: PLANNED_PLATFORMS },
  { bank: 'agents', rows: CONNECTORS, planned: PLANNED_CONNECTORS },
] as const

describe('[I13.module-whole] every module', () => {
  for (const { bank, rows, planned } of BANKS) {
    it(`of ${bank} has one row, one folder, and is built or planned`, () => {
      expect(Object.keys(rows).toSorted()).toEqual(foldersOf(`src/${bank}`).toSorted())
      expect(Object.keys(planned).filter((name) => Object.hasOwn(rows, name))).toEqual([])
    })
    for (const [name, load] of Object.entries(rows)) {
      it(`${bank}/${name} has its members`, async () => {
        const module = await load()
        const { '~standard': standard } = module.options
        expect([module.name, standard.version]).toEqual([name, 1])
        expect(standard.jsonSchema.input({ target: 'draft-2020-12' })).toMatchObject({ type: 'object' })
        expect(module.create).toBeTypeOf('function')
        expect([module.docs, exists(module.docs)]).toEqual([`docs/${bank}/${name}.md`, true])
      })
      it(`[I13.late-sdk] ${bank}/${name} is known without its adapter`, () => {
        const text = read(`src/${bank}/${name}/module.ts`)
        expect(text).toMatch(/await import\('\.\/index\.ts'\)/)
        expect(text).not.toMatch(/^(import|export) .*from '\.\/index\.ts'/m)
        const light = ['module.ts', 'config.ts'].map((file) => `src/${bank}/${name}/${file}`).filter(exists)
        const packages = light.flatMap((file) =>
          source(file)
            .imports.map(({ from }) => from)
            .filter((from) => !/^(\.|node:)/.test(from)),
        )
        expect(packages.filter((from) => from !== 'zod')).toEqual([])
        expect(light.flatMap((file) => source(file).imports.map(({ from }) => from))).not.toContain(
          '../../kit/index.ts',
        )
      })
    }
  }
})

/** A file (or a folder ending in '/') that writes the name of an adapter, and why. */
const MAY_NAME: Readonly<Record<string, string>> = {
  'src/app/registry.ts': 'the rows',
  'src/app/emulators.ts': 'the rows of emulators',
  'src/platforms/planned.ts': 'what is not built yet',
  'src/agents/planned.ts': 'what is not built yet',
  'src/testing/': 'fakes of those very platforms',
  'src/contract/channel-servers.ts': 'CHANNEL_PLATFORM: bindings and mcp_servers call it that',
  'src/config/default-settings.ts': 'the embedded default is a configuration',
  'src/config/schema/agents.ts': 'the connector of an agent that names none',
  'src/app/look-over-module.ts': 'words that no platform may be called by: sources of turns',
  'src/app/chat-link.ts': '/chat is the page of that platform',
  'src/app/endpoints.ts': '/chat is the page of that platform',
  'src/app/daemon.ts': 'prints the link to /chat',
  'src/app/principals.ts': 'a kind of token, which the page has',
  'src/app/chorus-connections.ts': '/inbox is the door of that platform',
  'src/server/': 'paths of HTTP: /mcp',
  'src/chorus/': 'the library of that protocol',
  'src/kit/': 'fields of the protocols',
  'src/store/': 'names of columns',
  'src/tools/': 'fields and words of the seeds’ tools',
  'src/cli/program/': 'names of commands',
  'src/cli/claude-state.ts': 'plugins of Claude Code, not platforms',
  'src/cli/commands/': 'names of commands, and of what `init`, `import` and `agents add` write',
  'src/core/': 'a webhook’s turns were begun by no person',
}

describe('[I13.no-names] the name of an adapter', () => {
  const names = new Set(BANKS.flatMap(({ rows, planned }) => [...Object.keys(rows), ...Object.keys(planned)]))
  const mayName = (file: string) =>
    Object.keys(MAY_NAME).some((path) => (path.endsWith('/') ? file.startsWith(path) : file === path))
  const files = filesOf('src').filter(
    (file) => file.endsWith('.ts') && !/\.test\.ts$|\/fixtures\//.test(file),
  )
  const naming = files.filter((file) => source(file).strings.some((text) => names.has(text)))

  it('is written in its own folder, and elsewhere only with a reason', () => {
    const own = /^src\/(platforms|agents)\/[^/]+\//
    expect(naming.filter((file) => !own.test(file) && !mayName(file))).toEqual([])
  })

  it('of another adapter is in no folder but as a word of its own options', () => {
    const wrong = naming.flatMap((file) => {
      const [, bank, folder] = /^src\/(platforms|agents)\/([^/]+)\//.exec(file) ?? []
      const neighbours = foldersOf(`src/${bank ?? 'platforms'}`).filter((name) => name !== folder)
      const written = source(file).strings.filter((text) => neighbours.includes(text))
      return folder === undefined || written.length === 0 ? [] : written.map((name) => `${file}: ${name}`)
    })
    // How Telegram's updates come; what kind of token or channel it is.
    const words =
      /telegram\/(config|module|index|webhook-door)\.ts: webhook$|chorus\/.*: (channel|web)$|mcp\/.*: (web|webhook|channel|chorus)$/
    expect(wrong.filter((one) => !words.test(one))).toEqual([])
  })

  it('no exception is there for nothing', () => {
    const used = (path: string) =>
      naming.some((file) => (path.endsWith('/') ? file.startsWith(path) : file === path))
    expect(Object.keys(MAY_NAME).filter((path) => !used(path))).toEqual([])
  })

  it('[I13.emulator-row] has an emulator only where it has a row', () => {
    expect([...EMULATORS.keys()].filter((name) => !Object.hasOwn(PLATFORMS, name))).toEqual([])
  })
})

describe('[I13.alone] what one platform alone needs', () => {
  it('is given to no other', () => {
    const settings = {
      server: { publicUrl: null },
      integrations: [],
      agents: [],
      tunables: { maxBodyBytes: 7 },
    }
    const deps = {
      ...{ store: {}, clock: {}, random: {}, tokens: {}, secret: () => '', filesDir: () => '' },
      log: { child: () => ({}) },
      settings: () => settings,
    } as never
    const shared = { servers: { all: () => [] } as never, lease: null, grants: { has: () => false } }
    const given = (platform: string) =>
      Object.keys(platformDeps(deps, testIntegration('i', { platform }), shared))
    const all = given('telegram')
    for (const name of ['webhook', 'chorus', 'constructor', 'matrix']) expect(given(name)).toEqual(all)
    expect(given('mcp').filter((key) => !all.includes(key))).toEqual(['servers'])
    expect(
      given('web')
        .filter((key) => !all.includes(key))
        .toSorted(),
    ).toEqual(['agentAt', 'maxBodyBytes'])
  })
})
