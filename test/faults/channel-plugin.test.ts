// The plugin as it is shipped: what its .mcp.json starts, as Claude Code starts the server of an installed plugin.
import { spawn } from 'node:child_process'
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { recordInstance } from '../../src/config/instance/known-instances.ts'
import { answering, openChannel } from './channel-scene.ts'
import { BINARY } from './daemon.ts'
import { createScene } from './scene.ts'

const scene = createScene()
const read = (path: string) => JSON.parse(readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8'))
const filled = (args: readonly string[], root: string) =>
  args.map((one) => one.replace(/^\$\{CLAUDE_PLUGIN_ROOT\}/, root))

/** Where Claude Code keeps it: away from the package. */
function copiedPlugin(home: string): string {
  const root = join(home, '.claude/plugins/cache/switchboard/switchboard/0.1.0')
  cpSync(fileURLToPath(new URL('../../plugin', import.meta.url)), root, { recursive: true })
  return root
}

it('[S6.ch-plugin] [I18.plugin-alone] is registered by the names of its own manifests, and answers', async () => {
  const place = openChannel(scene)
  // The plugin serves the agent `claude` of the folder that Claude Code was started in.
  writeFileSync(place.config, readFileSync(place.config, 'utf8').replace('id: kate', 'id: claude'))
  // As after `switchboard up`: which program this user runs is noted, and Claude Code has copied the plugin away from it.
  const home = scene.folder()
  mkdirSync(join(home, '.switchboard'))
  writeFileSync(join(home, '.switchboard/program.json'), JSON.stringify({ script: BINARY }))
  const root = copiedPlugin(home)
  const { name: marketplace, plugins } = read('.claude-plugin/marketplace.json')
  const { name, channels } = read('plugin/.claude-plugin/plugin.json')
  const [{ server }] = channels
  const { command, args } = read('plugin/.mcp.json').mcpServers[server]
  expect(command).toBe('node')
  recordInstance({ data: place.data, config: place.config }, { HOME: home }, 0)
  expect(plugins[0].name).toBe(name)
  const started = {
    command: process.execPath,
    args: filled(args, root),
    env: { ...place.environment, HOME: home, SWITCHBOARD_DATA: place.data },
    plugin: { name, marketplace, server },
  }
  const wrong = await place.claude({ ...started, channels: [`plugin:${name}@another`] })
  expect(wrong.skipped).toMatch(/^you asked for plugin:switchboard@another but the installed plugin is/)
  await wrong.close()
  const claude = answering(await place.claude({ ...started, channels: [`plugin:${name}@${marketplace}`] }))
  expect(claude.skipped).toBeNull()
  await place.say('hello')
  await place.turn('hello', 'answered')
  expect(claude.prompts[0]?.envelope).toMatch(/^<channel source="plugin:switchboard:switchboard" /)
  expect(claude.noise).toEqual([])
  expect(await claude.close()).toMatchObject({ code: 0 })
})

it('[I18.plugin-alone] without any Switchboard it is a server that says what to install, and answers nothing it cannot', async () => {
  const home = scene.folder()
  const { args } = read('plugin/.mcp.json').mcpServers.switchboard
  const child = spawn(process.execPath, filled(args, copiedPlugin(home)), {
    cwd: home,
    env: { PATH: home, HOME: home },
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  scene.onEnd(() => void child.kill('SIGKILL'))
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const ask = async (id: number, method: string, params: object = {}) => {
    child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`)
    return JSON.parse(String((await lines.next()).value))
  }
  const begun = await ask(1, 'initialize', { protocolVersion: '2025-11-25' })
  expect(begun.result).toMatchObject({
    protocolVersion: '2025-11-25',
    instructions: expect.stringContaining('init claude-code'),
  })
  expect(begun.result.capabilities).not.toHaveProperty('experimental')
  expect((await ask(2, 'server/discover')).error.code).toBe(-32601)
  expect((await ask(3, 'tools/call', { name: 'reply' })).result).toMatchObject({ isError: true })
  const ended = new Promise((resolve) => child.once('exit', resolve))
  child.stdin.end()
  expect(await ended).toBe(0)
})
