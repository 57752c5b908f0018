// The official plugins' own rules of where their state is and what holds in it.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { claudeState } from './claude-state.ts'
import { command, rememberingTerminal, temporaryFolder } from './fixtures/fake-daemon.ts'

let folder: ReturnType<typeof temporaryFolder>
beforeEach(() => {
  folder = temporaryFolder()
})
afterEach(() => folder.done())

const state = (plugin: string, files: Record<string, string>) => {
  const path = join(folder.path, '.claude', 'channels', plugin)
  mkdirSync(path, { recursive: true })
  for (const [name, text] of Object.entries(files)) writeFileSync(join(path, name), text)
  return path
}
const home = () => ({ HOME: folder.path })
const dmOf = async (plugin: string, env: Record<string, string> = {}) => {
  const terminal = rememberingTerminal({ env: { ...home(), ...env } })
  const { code, out, err } = await command(['import', 'claude-access', plugin], terminal)
  expect(code).toBe(0)
  return { dm: (parse(out) as { access: { dm: string } }).access.dm, err }
}

describe('the state of an official plugin', () => {
  it('lies where the plugin itself looks for it', () => {
    const at = (plugin: string, env: Record<string, string> = {}) =>
      claudeState(plugin, { ...home(), ...env }).folder
    const usual = (plugin: string) => join(folder.path, '.claude', 'channels', plugin)
    expect(['telegram', 'discord', 'imessage'].map((one) => at(one))).toEqual(
      ['telegram', 'discord', 'imessage'].map(usual),
    )
    expect(at('telegram', { TELEGRAM_STATE_DIR: '/state' })).toBe('/state')
    expect(at('telegram', { CLAUDE_CONFIG_DIR: '/config' })).toBe('/config/channels/telegram')
    // Only the telegram one follows that variable.
    expect(at('discord', { CLAUDE_CONFIG_DIR: '/config' })).toBe(usual('discord'))
    expect(at('/some/where')).toBe('/some/where')
  })

  it('[S4.import-claude-access] has the policy that held there: its default, and none that pairs in static mode', async () => {
    state('telegram', {
      'access.json': '{"allowFrom":["1"]}',
      '.env': 'TELEGRAM_BOT_TOKEN=123:planted-secret\n',
    })
    state('imessage', { 'access.json': '{}' })
    expect((await dmOf('telegram')).dm).toBe('pairing')
    expect((await dmOf('imessage')).dm).toBe('allowlist')
    expect((await dmOf('telegram', { TELEGRAM_ACCESS_MODE: 'static' })).dm).toBe('allowlist')
    state('discord', { 'access.json': '{}', '.env': 'DISCORD_ACCESS_MODE=static\n' })
    expect((await dmOf('discord')).dm).toBe('allowlist')
    // The environment wins over the file beside the state.
    expect((await dmOf('discord', { DISCORD_ACCESS_MODE: 'dynamic' })).dm).toBe('pairing')
  })

  it('[I24.im-import] that of iMessage comes over with its people and groups, and pairs nobody', async () => {
    const access = {
      allowFrom: ['+4915112345678', 'ann@icloud.example'],
      groups: { 'iMessage;+;chat123': { requireMention: false, allowFrom: ['+4915112345678'] } },
      mentionPatterns: ['^claude'],
      textChunkLimit: 10_000,
    }
    state('imessage', { 'access.json': JSON.stringify(access) })
    const terminal = rememberingTerminal({ env: home() })
    const { code, out } = await command(['import', 'claude-access', 'imessage', '--json'], terminal)
    expect(code).toBe(0)
    expect(JSON.parse(out)).toMatchObject({
      access: {
        dm: 'allowlist',
        allow_from: ['+4915112345678', 'ann@icloud.example'],
        groups: { chat123: { require_mention: false, allow_from: ['+4915112345678'] } },
      },
    })
  })

  it('names the file with the token, and never the token', async () => {
    state('telegram', {
      'access.json': '{"allowFrom":[]}',
      '.env': 'TELEGRAM_BOT_TOKEN=123:planted-secret\n',
    })
    const { err } = await dmOf('telegram')
    expect(err).toMatch(/telegram\/\.env as TELEGRAM_BOT_TOKEN/)
    expect(err).not.toContain('planted-secret')
  })

  it('that is not there is named', async () => {
    const terminal = rememberingTerminal({ env: home() })
    expect(await command(['import', 'claude-access', 'discord'], terminal)).toMatchObject({
      code: 2,
      err: expect.stringContaining(join('channels', 'discord')),
    })
  })
})
