// The modules of the house, re-derived: each is whole, light, and named nowhere but in its folder and its rows.
import { posix } from 'node:path'
import { describe, expect, it } from 'vitest'
import { EMULATORS } from '../src/app/emulators.ts'
import { platformDeps } from '../src/app/platform-deps.ts'
import { CONNECTORS, PLANNED_CONNECTORS, PLANNED_PLATFORMS, PLATFORMS } from '../src/app/registry.ts'
import { testIntegration } from '../src/testing/test-settings.ts'
import { exists, filesOf, foldersOf, read, type Source, source } from './house/source.ts'

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
    visit('src/app/daemon.ts')
    expect(reached.size).toBeGreaterThan(100)
    const late = /^src\/(config\/(load|schema\/|yaml-text)|tools\/index|(platforms|agents)\/[^/]+\/)/
    expect([...reached].filter((file) => late.test(file))).toEqual([])
    // The reader is reached, for long answers are cut by it; its package comes with the first text that is read.
    expect([...reached]).toContain('src/kit/markdown/read.ts')
    const parsers = [...reached].filter((file) =>
      /^import (?!type).* from 'markdown-it'/m.test(source(file).text),
    )
    expect(parsers).toEqual([])
  })
})

/** A file, the names that it writes, and why. No folder but the fakes is let off. */
const MAY_NAME: Readonly<Record<string, readonly [names: string, why: string]>> = {
  'src/app/registry.ts': ['claude-code telegram slack discord whatsapp imessage', 'the rows'],
  'src/app/emulators.ts': ['telegram slack email discord whatsapp llm', 'the rows of emulators'],
  'src/contract/channel-servers.ts': [
    'mcp http',
    'CHANNEL_PLATFORM: bindings and mcp_servers call it that; a transport',
  ],
  'src/config/default-settings.ts': ['web webhook demo', 'the embedded default is a configuration'],
  'src/config/schema/agents.ts': [
    'channel slack',
    'the connector of an agent that names none; an example of a plugin',
  ],
  'src/config/schema/mcp-servers.ts': ['slack', 'an example of a plugin of Claude Code'],
  'src/config/installed-plugin.ts': ['slack', 'an example of a plugin of Claude Code'],
  'src/app/look-over-module.ts': ['channel', 'words that no platform may be called by: sources of turns'],
  'src/attach/remote-link.ts': ['http', 'the beginning of a URL'],
  'src/server/api/openapi.ts': ['http', 'a word of OpenAPI'],
  'src/server/wrong-credentials.ts': ['mcp', 'the door /mcp, as the metric calls it'],
  'src/app/chat-link.ts': ['web', '/chat is the page of that platform'],
  'src/app/endpoints.ts': ['web', '/chat is the page of that platform'],
  'src/app/desk-console.ts': ['web', 'a try of an agent is a chat of that platform'],
  'src/app/daemon.ts': ['web', 'prints the link to /chat'],
  'src/app/principals.ts': ['web', 'a kind of token, which the page has'],
  'src/app/chorus-connections.ts': ['chorus', '/inbox is the door of that platform'],
  'src/app/host-abilities.ts': ['channel', 'what a host is told from the file alone, where nothing runs'],
  'src/app/lent-tools.ts': ['mcp', 'a field of the Chorus protocol'],
  'src/server/pages.ts': ['mcp', 'the path /mcp'],
  'src/chorus/connect-mcp.ts': ['mcp', 'a field of the Chorus protocol'],
  'src/chorus/create-agent.ts': ['channel', 'a field of the Chorus protocol'],
  'src/kit/chorus/wire.ts': ['channel mcp', 'fields of the Chorus protocol'],
  'src/kit/wrap-channel.ts': ['channel', 'the tag <channel>'],
  'src/store/reads/sending.ts': ['channel', 'the name of a column'],
  'src/tools/tool.ts': ['channel', 'a field of the official plugins’ tools'],
  'src/tools/fetch-messages.ts': ['channel', 'a field of the official plugins’ tools'],
  'src/tools/message-format.ts': [
    'telegram',
    'MarkdownV2 is a format of that name, in the official plugin’s words',
  ],
  'src/cli/claude-state.ts': ['telegram discord imessage', 'plugins of Claude Code, not platforms'],
  'src/cli/program/setup.ts': ['channel telegram discord imessage', 'a command; plugins of Claude Code'],
  'web/console/pages/agents.tsx': [
    'chorus',
    'the connection string of that connector, and its place in the API',
  ],
  'src/cli/program/chorus.ts': ['chorus', 'the name of a command'],
  'src/cli/program/reading.ts': ['slack', 'an example of a source'],
  'src/cli/program/sending.ts': ['telegram', 'an example of a channel'],
  'src/cli/commands/agents.ts': [
    'http chorus web telegram',
    'its flags --http and --chorus; the chat page that it writes beside an agent; an example of a binding',
  ],
  'src/cli/commands/doctor.ts': ['channel', 'Claude Code is asked only where an agent waits for it'],
  'src/cli/commands/import.ts': ['imessage telegram discord', 'plugins of Claude Code, not platforms'],
  'src/cli/commands/init.ts': ['claude-code demo web', 'what `init` writes'],
  'src/cli/commands/agents-change.ts': [
    'demo',
    'what `init` puts there to begin with gives way to the first agent',
  ],
  'src/cli/commands/init-claude-code.ts': ['channel telegram', 'what `init claude-code` writes'],
}

/** Names that are no words of anything else: found also within a text, and in code within an identifier. */
const BRAND = /(?<![a-z])(telegram|slack|discord|imessage|whatsapp)(?![a-z])/gi
const BRAND_IN_CODE = /telegram|slack|discord|imessage|whatsapp/gi

describe('[I13.no-names] the name of an adapter', () => {
  const names = new Set(BANKS.flatMap(({ rows, planned }) => [...Object.keys(rows), ...Object.keys(planned)]))
  const files = [...filesOf('src'), ...filesOf('web')].filter(
    (file) => /\.tsx?$/.test(file) && !/\.test\.tsx?$|\/fixtures\/|^src\/testing\//.test(file),
  )
  const brandsIn = (code: string) => [...code.matchAll(BRAND_IN_CODE)].map(([name]) => name.toLowerCase())
  const namedIn = ({ strings, code }: Pick<Source, 'strings' | 'code'>) => {
    const whole = strings.filter((text) => names.has(text))
    const within = strings.flatMap((text) => [...text.matchAll(BRAND)].map(([name]) => name.toLowerCase()))
    return new Set([...whole, ...within, ...brandsIn(code)])
  }
  const named = new Map(files.map((file) => [file, namedIn(source(file))] as const))
  const allowed = (file: string) => MAY_NAME[file]?.[0].split(' ') ?? []

  it('is written in its own folder, and elsewhere only with a reason', () => {
    const own = /^src\/(platforms|agents)\/[^/]+\//
    const wrong = [...named].flatMap(([file, written]) =>
      own.test(file)
        ? []
        : [...written].filter((name) => !allowed(file).includes(name)).map((name) => `${file}: ${name}`),
    )
    expect(wrong).toEqual([])
  })

  it('is found as a literal, within a text, and in code as a part of any word', () => {
    const strings = ['web', 'a website', 'e.g. Slack, telegram-bot', 'the channel', 'slackening']
    expect([...namedIn({ strings, code: 'webPage' })]).toEqual(['web', 'slack', 'telegram'])
    const code = 'const { viaDiscord } = rows; rows.WHATSAPP_MS; <p>on iMessage</p>'
    expect([...namedIn({ strings: [], code })]).toEqual(['discord', 'whatsapp', 'imessage'])
  })

  it('of another adapter is in no folder but as a word of its own options', () => {
    const wrong = files.flatMap((file) => {
      const [, bank, folder] = /^src\/(platforms|agents)\/([^/]+)\//.exec(file) ?? []
      if (folder === undefined) return []
      const neighbours = foldersOf(`src/${bank}`).filter((name) => name !== folder)
      const { strings, code } = source(file)
      const brands = brandsIn(code).filter((name) => name !== folder)
      return [...strings.filter((text) => neighbours.includes(text)), ...brands].map(
        (name) => `${file}: ${name}`,
      )
    })
    // How Telegram's updates come; what kind of token or channel it is; the forms and senders that webhooks know; what tools call
    // the place that a message goes to; a transport of MCP.
    const words =
      /telegram\/(config|module|index|webhook-door)\.ts: webhook$|acp\/live-sessions\.ts: http$|claude-code\/launch\.ts: http$|webhook\/.*: (slack|discord)$|chorus\/.*: (channel|web)$|mcp\/.*: (web|webhook|channel|chorus|email)$/
    expect(wrong.filter((one) => !words.test(one))).toEqual([])
  })

  it('no exception is there for nothing', () => {
    const idle = Object.keys(MAY_NAME).flatMap((file) =>
      allowed(file)
        .filter((name) => !named.get(file)?.has(name))
        .map((name) => `${file}: ${name}`),
    )
    expect(idle).toEqual([])
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
      links: { get: () => undefined },
      cluster: { reaches: () => false },
    }
    const given = (platform: string) =>
      Object.keys(platformDeps(deps, testIntegration('i', { platform }), shared))
    const all = given('telegram')
    for (const name of ['webhook', 'chorus', 'constructor', 'matrix']) expect(given(name)).toEqual(all)
    expect(given('mcp').filter((key) => !all.includes(key))).toEqual(['servers'])
    expect(
      given('web')
        .filter((key) => !all.includes(key))
        .toSorted(),
    ).toEqual(['agentAt', 'agentHere', 'connections', 'maxBodyBytes', 'reachable'])
  })
})
