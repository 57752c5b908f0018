// The modules of the house, re-derived: each is whole, light, and named nowhere but in its folder and its rows.
import { posix } from 'node:path'
import { describe, expect, it } from 'vitest'
import { platformDeps } from '../src/gateway/platform-deps.ts'
import { EMULATORS } from '../src/modules/emulators.ts'
import { CONNECTORS, PLANNED_CONNECTORS, PLANNED_PLATFORMS, PLATFORMS } from '../src/modules/registry.ts'
import { testIntegration } from '../src/testing/test-settings.ts'
import { CORE_MAY_NAME, compare, MAY_NAME } from './house/adapter-exceptions.ts'
import { COMMON, CONSTANTS, constantsOf, createNameFinder } from './house/names.ts'
import { exists, filesOf, foldersOf, parse, read, type Source, source } from './house/source.ts'

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

describe('[I13.late-sdk] a plain start', () => {
  it('loads neither the reader of files nor the tools: they come when they are used', () => {
    const reached = new Set<string>()
    const visit = (file: string) => {
      if (reached.has(file) || !exists(file)) return
      reached.add(file)
      const { text } = source(file)
      for (const [, from = ''] of text.matchAll(/^(?:import|export) (?!type )[^;'()]*from '(\.[^']+)'/gm))
        visit(posix.join(posix.dirname(file), from))
    }
    visit('src/daemon/daemon.ts')
    expect(reached.size).toBeGreaterThan(100)
    const late = /^src\/(config\/(load|schema\/|yaml\/yaml-text)|tools\/index|(platforms|agents)\/[^/]+\/)/
    expect([...reached].filter((file) => late.test(file))).toEqual([])
    // The reader is reached, for long answers are cut by it; its package comes with the first text that is read.
    expect([...reached]).toContain('src/kit/markdown/read.ts')
    const parsers = [...reached].filter((file) =>
      /^import (?!type).* from 'markdown-it'/m.test(source(file).text),
    )
    expect(parsers).toEqual([])
  })
})

const NAMES = BANKS.flatMap(({ rows, planned }) => [...Object.keys(rows), ...Object.keys(planned)])
const files = [...filesOf('src'), ...filesOf('web')].filter(
  (file) => /\.tsx?$/.test(file) && !/\.test\.tsx?$|\/fixtures\/|^src\/testing\//.test(file),
)
const found = (where: readonly string[], words: (one: Source) => Iterable<string>) =>
  new Map(where.map((file) => [file, new Set(words(source(file)))] as const))

describe('the name of an adapter', () => {
  const finder = createNameFinder(NAMES, Object.keys(COMMON))
  const rooms = files.filter((file) => /^src\/(contract|store)\//.test(file))

  it('[I13.no-names] is not written in the contract or the store', () => {
    expect(rooms.length).toBeGreaterThan(100)
    expect(compare(found(rooms, finder.in), MAY_NAME)).toEqual({ wrong: [], idle: [] })
  })

  it('[I13.core-no-platform] of a platform is nowhere in the core: not as a text, a pattern, a key or a word of code', () => {
    const strict = createNameFinder(Object.keys({ ...PLATFORMS, ...PLANNED_PLATFORMS }), [])
    const core = files.filter((file) => file.startsWith('src/core/'))
    expect(core.length).toBeGreaterThan(50)
    expect(compare(found(core, strict.in), CORE_MAY_NAME)).toEqual({ wrong: [], idle: [] })
  })

  it('is in no constant that others could read instead', () => {
    const shared = files.filter((file) => /^src\/(contract|kit)\//.test(file))
    expect(constantsOf(shared, NAMES)).toEqual(CONSTANTS)
  })

  it.each([
    ["platform === 'web'", 'web'],
    ["say('e.g. Slack, telegram-bot')", 'slack telegram'],
    [
      'say(`integrations: [{ platform: email }, { type: webhook }]\\nconnector: { type: claude-code }`)',
      'email webhook claude-code',
    ],
    ["say('add { platform: web }, or use --connector http')", 'web http'],
    ['/^(telegram|slack|whatsapp)$/.test(platform)', 'telegram slack whatsapp'],
    ['/^(web|mcp)$/.test(platform)', 'web mcp'],
    [
      'const n = { email: 1, web: 2, webhook: 3, mcp: 4, chorus: 5 }[platform]',
      'email web webhook mcp chorus',
    ],
    ['const n = { web: 2 }[platform]', 'web'],
    [
      'const { viaDiscord } = rows; rows.WHATSAPP_MS; claudeCodeModule(iMessages.iMessage)',
      'discord whatsapp claude-code imessage',
    ],
    ['const page = <p>on iMessage</p>', 'imessage'],
    ['platform === CHANNEL_PLATFORM', 'mcp'],
    ["say('slackening, the channel, a website at http://x, the MCP server'); ({ channel }); webPage()", ''],
  ])('is found in %s: %s', (text, names) => {
    expect([...finder.in(parse('x.tsx', text))].toSorted()).toEqual(
      names.split(' ').filter(Boolean).toSorted(),
    )
  })

  it('[I13.emulator-row] has an emulator only where it has a row', () => {
    expect(
      [...EMULATORS.keys()].filter((name) => !Object.hasOwn({ ...PLATFORMS, ...CONNECTORS }, name)),
    ).toEqual([])
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
    const shared = {
      servers: { all: () => [] } as never,
      lease: null,
      grants: { has: () => false, senders: () => [] },
      links: { get: () => undefined, all: () => [] },
      cluster: { reaches: () => false },
    }
    const given = (platform: string) =>
      Object.keys(platformDeps(deps, testIntegration('i', { platform }), shared))
    const all = given('telegram')
    for (const name of ['webhook', 'chorus', 'constructor', 'matrix']) expect(given(name)).toEqual(all)
    expect(given('mcp').filter((key) => !all.includes(key))).toEqual(['servers', 'shownPlaces'])
    expect(
      given('web')
        .filter((key) => !all.includes(key))
        .toSorted(),
    ).toEqual(['agentAt', 'agentHere', 'connections', 'maxBodyBytes', 'reachable'])
  })
})
