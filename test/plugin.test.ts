// The Claude Code plugin as files: what it offers, and what of it no channel message can set off.
import { readdirSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { parse } from 'yaml'

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
