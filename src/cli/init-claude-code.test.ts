// `init claude-code`: what it writes can be started from anywhere, for this very instance, and once.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { isAbsolute, join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { command, rememberingTerminal, temporaryFolder } from './fixtures/fake-daemon.ts'

let folder: ReturnType<typeof temporaryFolder>
const path = (name: string) => join(folder.path, name)

beforeEach(() => {
  folder = temporaryFolder()
  mkdirSync(path('project'))
})
afterEach(() => folder.done())

const init = (words: readonly string[] = [], env: Record<string, string> = {}) =>
  command(
    ['init', 'claude-code', ...words],
    rememberingTerminal({ cwd: () => path('project'), env: { HOME: folder.path, ...env } }),
  )
const written = () => {
  const text = readFileSync(path('project/.mcp.json'), 'utf8')
  return (JSON.parse(text) as { mcpServers: Record<string, { command: string; args: string[] }> }).mcpServers
}
/** As Claude Code keeps it. */
function installPlugin(install: object) {
  mkdirSync(path('.claude/plugins'), { recursive: true })
  const plugins = { 'other@switchboard': [{}], 'switchboard@switchboard': [install] }
  writeFileSync(path('.claude/plugins/installed_plugins.json'), JSON.stringify({ version: 2, plugins }))
}

it('[I18.claude-absolute] writes absolute node and script, though something called switchboard is on the path', async () => {
  mkdirSync(path('bin'))
  writeFileSync(path('bin/switchboard'), '#!/bin/sh\n', { mode: 0o755 })
  expect(await init([], { PATH: path('bin') })).toMatchObject({ code: 0 })
  const { command: node = '', args = [] } = written().switchboard ?? {}
  expect(node).toBe(process.execPath)
  const script = args[args.indexOf('channel') - 1] ?? ''
  expect(isAbsolute(script)).toBe(true)
  expect(args.slice(args.indexOf('channel'))).toEqual([
    ...['channel', '--agent', 'claude', '--config', path('project/switchboard.yaml')],
  ])
})

it('[I18.claude-data] carries the folder that was named, and none that follows from the file', async () => {
  await init(['--data', '../kept'])
  expect(written().switchboard?.args.slice(-2)).toEqual(['--data', path('kept')])
  await init(['--force'], { SWITCHBOARD_DATA: path('elsewhere') })
  expect(written().switchboard?.args.slice(-2)).toEqual(['--data', path('elsewhere')])
  await init(['--force', '--name', 'work'])
  expect(written().switchboard?.args.slice(-2)).toEqual(['--data', path('.switchboard/instances/work')])
  await init(['--force'])
  expect(written().switchboard?.args).not.toContain('--data')
})

it('[I18.claude-plugin-found] the installed plugin brings the server: none is written, and the start names the plugin', async () => {
  installPlugin({ scope: 'user' })
  const told = await init()
  expect(told).toMatchObject({ code: 0 })
  expect(told.out).toContain('claude --dangerously-load-development-channels plugin:switchboard@switchboard')
  expect(() => written()).toThrow(/ENOENT/)
  expect(readFileSync(path('project/switchboard.yaml'), 'utf8')).toContain('id: claude')
  const again = await init(['--json'])
  expect(again.lines).toMatchObject([{ file: null, plugin: 'switchboard@switchboard', config_kept: true }])
})

it('[I18.claude-plugin-found] what the plugin cannot serve gets a server of its own, and that is said', async () => {
  installPlugin({ scope: 'user' })
  const told = await init(['--agent', 'kate'])
  expect(written().switchboard?.args).toContain('kate')
  expect(told.err).toContain('switchboard@switchboard is installed too')
})

it('[I18.claude-plugin-found] one of another project does not count', async () => {
  installPlugin({ scope: 'local', projectPath: path('another') })
  await init()
  expect(written()).toHaveProperty('switchboard')
})

it('[I18.template-secret] what a person gives is a secret of the encrypted store, in every template', async () => {
  await init()
  await command(
    ['init', '--yes', '--config', path('starter.yaml')],
    rememberingTerminal({ cwd: () => folder.path, env: { HOME: folder.path } }),
  )
  for (const file of ['project/switchboard.yaml', 'starter.yaml']) {
    const text = readFileSync(path(file), 'utf8')
    expect(text).toContain('secret:')
    expect(text).not.toContain('env:')
  }
})
