// The plugin as it is shipped: what its .mcp.json starts, as Claude Code starts the server of an installed plugin.
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { answering, openChannel } from './channel-scene.ts'
import { BINARY } from './daemon.ts'
import { createScene } from './scene.ts'

const scene = createScene()
const read = (path: string) => JSON.parse(readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8'))

it('[S6.ch-plugin] is registered by the names of its own manifests, and answers', async () => {
  const place = openChannel(scene)
  // The plugin serves the agent `claude` of the folder that Claude Code was started in.
  writeFileSync(place.config, readFileSync(place.config, 'utf8').replace('id: kate', 'id: claude'))
  const bin = join(place.data, 'bin')
  mkdirSync(bin)
  const program = join(bin, 'switchboard')
  writeFileSync(program, `#!/bin/sh\nexec "${process.execPath}" "${BINARY}" "$@"\n`)
  chmodSync(program, 0o755)
  const { name: marketplace, plugins } = read('.claude-plugin/marketplace.json')
  const { name, channels } = read('plugin/.claude-plugin/plugin.json')
  const [{ server }] = channels
  const { command, args } = read('plugin/.mcp.json').mcpServers[server]
  expect(plugins[0].name).toBe(name)
  const started = {
    command: join(bin, command),
    args,
    env: { ...place.environment, SWITCHBOARD_DATA: place.data },
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
