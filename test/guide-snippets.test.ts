// What the pages show holds: commands parse as the command line parses them, YAML is what a configuration takes.
import { readFileSync } from 'node:fs'
import { CommanderError } from 'commander'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { createProgram } from '../src/cli/program.ts'
import { loadSettings, renderProblems } from '../src/config/index.ts'
import { createModuleCatalog } from '../src/modules/module-catalog.ts'
import { PAGES, snippetsOf } from './page-snippets.ts'

const SNIPPETS = PAGES.flatMap(snippetsOf)
const of = (...languages: string[]) => SNIPPETS.filter(({ language }) => languages.includes(language))

/** The words of every call of switchboard in a shell snippet, as far as a reader of quotes can tell. */
function callsIn(text: string): readonly (readonly string[])[] {
  return text
    .replace(/\\\n/g, ' ')
    .split('\n')
    .map((line) => line.replace(/^\s*\$ /, '').replace(/\s#\s.*$/, ''))
    .flatMap((line) => line.split(/\s(?:\||&&|;|&)(?:\s|$)/))
    .map((part) => /^\s*(?:[A-Z_]+=\S+\s+)*(?:npx |sudo )?(?:switchboard|swb)((?:\s.*)?)$/.exec(part)?.[1])
    .filter((rest) => rest !== undefined)
    .map((rest) =>
      [...rest.replace(/\s*[0-9]?[<>].*$/, '').matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(
        ([, double, single, bare]) => double ?? single ?? bare ?? '',
      ),
    )
}

async function parseFailure(words: readonly string[]): Promise<string | null> {
  const program = createProgram(async () => undefined, { out: () => undefined, err: () => undefined })
  try {
    await program.parseAsync(words, { from: 'user' })
    return null
  } catch (thrown) {
    if (thrown instanceof CommanderError && thrown.exitCode === 0) return null
    return String(thrown)
  }
}

describe('[I18.guide-snippets] the pages', () => {
  it.each(of('sh', 'console').map((one) => [`${one.page}:${one.line}`, one] as const))(
    '%s: its commands are commands of the program',
    async (_where, { text }) => {
      const failures = await Promise.all(callsIn(text).map(parseFailure))
      expect(failures.filter((one) => one !== null)).toEqual([])
    },
  )

  it.each(of('yaml').map((one) => [`${one.page}:${one.line}`, one] as const))(
    '%s: its YAML holds',
    async (_where, { text }) => {
      expect(await problemOf(parse(text))).toBeNull()
    },
  )

  it('are read: there are enough of them', () => {
    expect(of('sh', 'console').flatMap(({ text }) => callsIn(text)).length).toBeGreaterThan(60)
    expect(of('yaml').length).toBeGreaterThan(40)
  })
})

/** A piece of a file is held as what it is a piece of: an integration, an agent, or keys of one. */
async function problemOf(written: unknown): Promise<string | null> {
  const agent = { id: 'kate', connector: { type: 'demo' } }
  const integration = { id: 'x', platform: 'web' }
  const telegram = { id: 'kate_tg', platform: 'telegram', token: 'env:T' }
  const llm = { type: 'llm', provider: 'anthropic', model: 'some-model', api_key: 'env:KEY' }
  const candidates: readonly unknown[] = [
    written,
    { integrations: written },
    { agents: written },
    { integrations: [written] },
    { integrations: [{ ...integration, ...(written as object) }] },
    { integrations: [{ ...telegram, ...(written as object) }] },
    { agents: [{ ...agent, ...(written as object) }] },
    { integrations: [{ id: 'x', platform: 'webhook', ...(written as object) }] },
    { integrations: [{ id: 'x', platform: 'email', address: 'a@b.example', ...(written as object) }] },
    { agents: [{ ...agent, channels: { enabled: true, ...(written as object) } }] },
    { agents: [{ ...agent, connector: { ...llm, ...(written as object) } }] },
    { integrations: [integration, { id: 'web', platform: 'web' }, telegram], ...(written as object) },
  ]
  const problems: string[] = []
  for (const candidate of candidates) {
    const result = await loadSettings('/x/switchboard.yaml', {
      adapters: createModuleCatalog(),
      failedModules: 'down',
      defaultStore: 'sqlite:/x/db',
      readFile: () => Buffer.from(JSON.stringify(candidate)),
    })
    if (result.ok) return null
    problems.push(renderProblems('', result.problems))
  }
  return problems[0] ?? null
}

it('[I18.proxy-recipes] the phone has a recipe for tailscale serve and for a reverse proxy', () => {
  const page = readFileSync(new URL('../docs/guide/phone.md', import.meta.url), 'utf8')
  for (const part of [
    'tailscale serve --bg 4747',
    'reverse_proxy 127.0.0.1:4747',
    'proxy_buffering off',
    'public_url:',
  ])
    expect(page).toContain(part)
})
