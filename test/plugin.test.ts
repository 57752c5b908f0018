// The Claude Code plugin as files: what it offers, and what of it no channel message can set off.
import { readdirSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { parse } from 'yaml'
import { CLAUDE_GATES } from '../src/cli/claude-gates.ts'
import { CLAUDE_CODE_SIDE } from './requirements/claude-code-side.ts'
import { REQUIREMENTS } from './requirements.ts'

const folder = new URL('../plugin/', import.meta.url)
const read = (path: string) => readFileSync(new URL(path, folder), 'utf8')
const skill = (name: string) =>
  parse(read(`skills/${name}/SKILL.md`).split('---\n')[1] ?? '') as Record<string, unknown>

it('[S6.ch-plugin] declares its server as a channel, and has a skill each for pairing, access and status', () => {
  const { channels } = JSON.parse(read('.claude-plugin/plugin.json')) as { channels: { server: string }[] }
  const { mcpServers } = JSON.parse(read('.mcp.json')) as { mcpServers: Record<string, unknown> }
  expect(channels.map(({ server }) => server)).toEqual(Object.keys(mcpServers))
  expect(readdirSync(new URL('skills', folder)).sort()).toEqual(['access', 'pairing', 'status'])
  for (const name of ['access', 'pairing', 'status']) expect(skill(name).name).toBe(name)
})

it('[S6.ch-skills-owner] a channel message can neither call the skills that let people in nor find their verbs approved', () => {
  for (const name of ['access', 'pairing']) expect(skill(name)['disable-model-invocation'], name).toBe(true)
  expect(skill('pairing')['allowed-tools']).toEqual(['Bash(switchboard pair list *)'])
  expect(skill('access')['allowed-tools']).toEqual(['Bash(switchboard access list *)'])
  expect(skill('status')['allowed-tools']).toEqual([
    'Bash(switchboard status *)',
    'Bash(switchboard doctor *)',
  ])
})

it('[I35.b46-own-side] each row of the reference on Claude Code itself is shown by a test, or is its own with the reason', () => {
  const built = new Set(REQUIREMENTS.flatMap(({ id, status }) => (status === 'built' ? [id] : [])))
  for (const one of CLAUDE_CODE_SIDE) {
    if ('own' in one) expect(one.own.length, one.row).toBeGreaterThan(10)
    else
      for (const id of one.shownBy)
        expect(built.has(id) || id === 'I35.b46-own-side', `${one.row}: ${id}`).toBe(true)
  }
  const rows = CLAUDE_CODE_SIDE.map(({ row }) => row)
  expect(new Set(rows).size).toBe(rows.length)
})

it('[I35.b46-own-side] every start command that people are given is the flag with the names of our own files', () => {
  const { name: marketplace, plugins } = JSON.parse(read('../.claude-plugin/marketplace.json'))
  const { name, channels } = JSON.parse(read('.claude-plugin/plugin.json'))
  const [plugin] = plugins
  // What the marketplace offers is the plugin beside it, by its own name.
  expect(JSON.parse(read(`../${plugin.source}/.claude-plugin/plugin.json`)).name).toBe(plugin.name)
  expect(plugin.name).toBe(name)
  const flag = '--dangerously-load-development-channels'
  const entries = [`server:${channels[0].server}`, `plugin:${name}@${marketplace}`]
  const places = {
    guide: read('../docs/guide/claude-code.md'),
    doctor: CLAUDE_GATES.map(({ todo }) => todo).join('\n'),
    connector: read('../src/agents/channel/index.ts'),
    init: read('../src/cli/commands/setup/init-claude-code.ts'),
  }
  for (const [place, text] of Object.entries(places)) expect(text, place).toContain(flag)
  for (const place of ['guide', 'doctor', 'connector'] as const)
    for (const entry of entries) expect(places[place], place).toContain(entry)
  expect(places.guide).toContain(`claude plugin install ${name}@${marketplace}`)
  // Its own dialogs come in the terminal alone: whoever starts it is told so.
  for (const words of ['asks once whether to use the server', 'on every start', '2.1.81', 'never relays'])
    expect(places.guide).toContain(words)
})
