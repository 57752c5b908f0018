// The official channel plugins of Claude Code as hosted servers: doubles that declare the same tools and capabilities. The
// real ones are asked what they declare, and fakechat is talked to, where SWITCHBOARD_PLUGINS_DIR names a copy of them.
import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { describe, expect, it } from 'vitest'
import { bareEnvironment, type Daemon } from './daemon.ts'
import { hostingConfig } from './hosted-seed.ts'
import type { Audit, Turn } from './river-checks.ts'
import { askJson, askLines, createScene, switchboard } from './scene.ts'
import { until } from './until.ts'

const scene = createScene()
const DOUBLE = fileURLToPath(new URL('../../src/platforms/mcp/fixtures/official-plugin.mjs', import.meta.url))
const PLUGINS = ['telegram', 'discord', 'imessage', 'fakechat'] as const
type Plugin = (typeof PLUGINS)[number]
const RELAYING = ['telegram', 'discord', 'imessage'] as const

interface Launch {
  readonly command: string
  readonly args: readonly string[]
  readonly cwd?: string
  readonly env?: Readonly<Record<string, string>>
}

const double = (plugin: Plugin): Launch => ({ command: process.execPath, args: [DOUBLE, plugin] })

/** The real plugin, or why it cannot be tried here. */
function real(plugin: Plugin): Launch | string {
  const root = process.env.SWITCHBOARD_PLUGINS_DIR
  if (!root) return 'SWITCHBOARD_PLUGINS_DIR names no copy of the official plugins'
  const folder = [join(root, plugin), join(root, 'external_plugins', plugin)].find((one) =>
    existsSync(join(one, 'server.ts')),
  )
  if (!folder) return `${root} holds no ${plugin}/server.ts`
  if (!existsSync(join(folder, 'node_modules'))) return `run "bun install" in ${folder}`
  const path = (process.env.PATH ?? '').split(delimiter)
  if (!path.some((one) => existsSync(join(one, 'bun')))) return 'bun is not installed'
  if (plugin === 'imessage' && process.platform !== 'darwin') return 'iMessage needs macOS'
  const token = { telegram: 'TELEGRAM_BOT_TOKEN', discord: 'DISCORD_BOT_TOKEN' }[plugin as string]
  if (token && !process.env[token]) return `${token} is not set`
  const env = token ? { [token]: process.env[token] ?? '' } : {}
  return { command: 'bun', args: ['server.ts'], cwd: folder, env }
}

const hosting = (data: string, servers: Partial<Record<Plugin, Launch>>): string =>
  hostingConfig(data, servers, { outbound_tool_name: 'reply' })

interface Call {
  readonly tool: string
  readonly input: Readonly<Record<string, string>>
}

/** The platform behind a double. */
async function playing(daemon: Daemon, plugin: Plugin) {
  const port = await until(
    `${plugin} listens`,
    () => new RegExp(`${plugin} listening on (\\d+)`).exec(daemon.stderr())?.[1],
  )
  const url = `http://127.0.0.1:${port}`
  const get = async <T>(path: string) => (await (await fetch(`${url}${path}`)).json()) as T
  return {
    url,
    says: (content: string, meta: Readonly<Record<string, string>>) =>
      fetch(`${url}/say`, { method: 'POST', body: JSON.stringify({ content, meta }) }),
    decides: (words: string) => fetch(`${url}/verdict`, { method: 'POST', body: words }),
    calls: () => get<readonly Call[]>('/calls'),
    asked: () => get<readonly { readonly request_id: string }[]>('/asked'),
    replied: (words: string) =>
      until(`${plugin} is answered`, async () =>
        (await get<readonly Call[]>('/calls')).find(({ input }) => input.text?.includes(words)),
      ),
  }
}

const allUp = (data: string) =>
  until('all servers are connected', async () => {
    const { servers } = await askJson<{ servers: readonly { state: string }[] }>(data, 'status')
    return servers.length === PLUGINS.length && servers.every(({ state }) => state === 'up')
  })

async function upload(url: string, words: string) {
  const form = new FormData()
  form.set('id', 'u1-1')
  form.set('text', words)
  expect((await fetch(`${url}/upload`, { method: 'POST', body: form })).status).toBe(204)
}

const turnsOf = (data: string, plugin: Plugin) =>
  askLines<Turn>(data, 'turns', '--source', `channel:${plugin}`)

describe('doubles of the official plugins, hosted', () => {
  it('[I35.a5] [I35.b18] each is answered through its own reply tool, fakechat without a target', async () => {
    const data = scene.folder()
    const config = hosting(data, Object.fromEntries(PLUGINS.map((plugin) => [plugin, double(plugin)])))
    const daemon = await scene.start({ data, config })
    for (const plugin of RELAYING) {
      const played = await playing(daemon, plugin)
      const meta = { chat_id: `${plugin}-1`, message_id: '7', user: 'anna', ts: '2026-01-01T00:00:00Z' }
      await played.says(`hello ${plugin}`, plugin === 'imessage' ? meta : { ...meta, user_id: 'U1' })
      const { tool, input } = await played.replied(`hello ${plugin}`)
      expect({ tool, input }).toEqual({
        tool: 'reply',
        input: { chat_id: `${plugin}-1`, text: expect.any(String) },
      })
    }
    const fakechat = await playing(daemon, 'fakechat')
    await upload(fakechat.url, 'hello fakechat')
    expect(await fakechat.replied('hello fakechat')).toEqual({
      tool: 'reply',
      input: { text: expect.any(String) },
    })
    await upload(fakechat.url, 'and again')
    await fakechat.replied('and again')
    for (const plugin of PLUGINS)
      await until(`${plugin} is sent`, async () =>
        (await turnsOf(data, plugin)).every(({ state }) => state === 'answered'),
      )
    await until('all are sent', async () => {
      const sends = await askLines<{ state: string }>(data, 'outbox')
      return sends.length === PLUGINS.length + 1 && sends.every(({ state }) => state === 'sent')
    })
    expect(await switchboard(data, 'doctor')).toMatchObject({ code: 0 })
    await daemon.terminate()
    expect(await askJson<Audit>(data, 'audit', 'verify')).toMatchObject({ ok: true })
  })

  it('[I35.a5] those that relay permissions are asked, and the first verdict counts; a long answer is cut by the plugin', async () => {
    const data = scene.folder()
    const config = hosting(data, Object.fromEntries(PLUGINS.map((plugin) => [plugin, double(plugin)])))
    const daemon = await scene.start({ data, config })
    await allUp(data)
    const fakechat = await playing(daemon, 'fakechat')
    await upload(fakechat.url, 'deploy main')
    const ids = await Promise.all(
      RELAYING.map(async (plugin) => {
        const { asked } = await playing(daemon, plugin)
        return until(`${plugin} is asked`, async () => (await asked())[0]?.request_id)
      }),
    )
    expect(new Set(ids).size).toBe(1)
    expect(await fakechat.asked()).toEqual([])
    await (await playing(daemon, 'discord')).decides(`yes ${ids[0]}`)
    await fakechat.replied('allowed by server:discord')

    const telegram = await playing(daemon, 'telegram')
    const long = 'x'.repeat(9_000)
    await telegram.says(long, { chat_id: '42', message_id: '1', user: 'anna', user_id: '42' })
    await telegram.replied(long)
    await until('the ids of its three parts are known', async () => {
      const rows = await askLines<{ state: string; to: string; platform_ids: string[] }>(data, 'outbox')
      return rows.some(({ to, platform_ids }) => to.includes('telegram') && platform_ids.length === 3)
    })
  })
})

describe('the official plugins themselves', () => {
  for (const plugin of PLUGINS) {
    const launch = real(plugin)

    it(`[I35.a5] ${plugin} declares what its double declares`, async (context) => {
      if (typeof launch === 'string') return context.skip(`the real ${plugin}: ${launch}`)
      const declared = async (given: Launch) => {
        const client = new Client({ name: 'switchboard-test', version: '0' })
        const env = { ...bareEnvironment(), PATH: process.env.PATH ?? '', ...given.env }
        await client.connect(
          new StdioClientTransport({ ...given, args: [...given.args], env, stderr: 'ignore' }),
        )
        const { tools } = await client.listTools()
        const capabilities = client.getServerCapabilities()
        await client.close()
        return {
          experimental: Object.keys(capabilities?.experimental ?? {}).sort(),
          tools: tools
            .map(({ name, inputSchema }) => ({
              name,
              arguments: Object.keys(inputSchema.properties ?? {}).sort(),
              required: [...(inputSchema.required ?? [])].sort(),
            }))
            .sort((a, b) => a.name.localeCompare(b.name)),
        }
      }
      expect(await declared(launch)).toEqual(await declared(double(plugin)))
    })
  }

  const launch = real('fakechat')
  it('[I35.a5] [I35.b18] fakechat is answered', async (context) => {
    if (typeof launch === 'string') return context.skip(`the real fakechat: ${launch}`)
    const { freePort } = await import('../../src/testing/free-port.ts')
    const data = scene.folder()
    const port = String(await freePort())
    const env = { ...launch.env, PATH: process.env.PATH ?? '', FAKECHAT_PORT: port }
    const config = hosting(data, { fakechat: { ...launch, env } })
    await scene.start({ data, config })
    const url = `http://127.0.0.1:${port}`
    await until('it listens', () =>
      fetch(url).then(
        ({ ok }) => ok,
        () => false,
      ),
    )
    await upload(url, 'hello')
    await until('it is sent', async () => {
      const rows = await askLines<{ state: string }>(data, 'outbox')
      return rows.length > 0 && rows.every(({ state }) => state === 'sent')
    })
  })
})
