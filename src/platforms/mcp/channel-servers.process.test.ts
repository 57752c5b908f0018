// The pool against real servers: both SDK lines, both prefixes, calls, news, the environment of a child, reloads,
// leases.
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { until } from '../../../test/faults/until.ts'
import { readInstalledPlugin } from '../../config/index.ts'
import { LEASE_MS, LEASE_RENEW_MS } from '../../contract/index.ts'
import { createTestClock } from '../../testing/index.ts'
import { badServer, fixture, openPool, QUICK, sdkServer } from './fixtures/pool-scene.ts'
import { evaluateGates } from './gates.ts'

const CALL = { timeoutMs: 20_000 }

const message = (prefix: string, content: string, meta: object = { chat_id: 'C1' }) => ({
  method: `notifications/${prefix}/channel`,
  params: { content, meta },
})

describe('channel servers', () => {
  it.each([
    ['before', 'claude'],
    ['before', 'nexo'],
    ['now', 'claude'],
    ['now', 'nexo'],
  ] as const)(
    '[S7.mcp-transports] [I35.b21] of the line %s speak %s: news, tools, calls, notifications',
    async (line, prefix) => {
      const scene = await openPool([sdkServer('slack', line, prefix, 'permission')])
      const server = await scene.reached('slack', 'up')
      expect(server.facts()).toMatchObject({
        name: 'slack',
        transport: 'stdio',
        detail: null,
        restarts: 0,
        noise: 0,
        program: { name: `sdk-${line}`, version: '1.2.3' },
        instructions: 'Answer with the runbook.',
        prefix,
        permissionRelay: true,
        stamp: { source: null, verified: false },
      })
      expect((await server.tools()).map(({ name }) => name)).toContain('send_message')
      const emitted = await server.call(
        'emit',
        { all: [message(prefix, 'one'), message(prefix, 'two')] },
        { timeoutMs: 20_000 },
      )
      expect(emitted).toMatchObject({ isError: false, text: 'emitted' })
      await until('both are there', () => scene.texts('slack').length === 2)
      expect(scene.news.slack?.[0]).toMatchObject({
        kind: 'message',
        prefix,
        params: { content: 'one', meta: { chat_id: 'C1' } },
      })
      expect(await server.call('send_message', { text: 'hi' }, { timeoutMs: 20_000 })).toMatchObject({
        text: 'sent (id: 1)',
        structured: { message_id: '1' },
      })
      await server.notify(`notifications/${prefix}/channel/permission_request`, { request_id: 'abcde' })
      const asked = async () => JSON.parse((await server.call('asked', {}, { timeoutMs: 20_000 })).text)
      await until('it was asked', async () => (await asked()).length === 1)
      expect(await asked()).toEqual([{ request_id: 'abcde' }])
    },
  )
})

it.each(['before', 'now'] as const)(
  '[I35.b45-one-way-servers] of the line %s a server that declares no tools is one-way, and one that does is not',
  async (line) => {
    const scene = await openPool([
      sdkServer('alerts', line, 'claude', 'one-way'),
      sdkServer('slack', line, 'claude'),
    ])
    expect((await scene.reached('alerts', 'up')).facts().oneWay).toBe(true)
    expect((await scene.reached('slack', 'up')).facts().oneWay).toBe(false)
  },
)

describe('real servers of others', () => {
  it('one from the registry that is no channel is skipped with `capability`, its tools untouched', async (context) => {
    let entry = ''
    try {
      entry = createRequire(import.meta.url).resolve('@modelcontextprotocol/server-memory/dist/index.js')
    } catch {}
    if (!existsSync(entry))
      return context.skip('@modelcontextprotocol/server-memory is not installed: npm ci')
    const scene = await openPool([{ name: 'memory', options: { command: process.execPath, args: [entry] } }])
    const server = await scene.reached('memory', 'up')
    const rules = { agent: 'kate', origin: 'agents[0]', channels: null, bindings: [] }
    expect(evaluateGates(server.facts(), rules)).toMatchObject({ pass: false, skip: { kind: 'capability' } })
    expect((await server.tools()).map(({ name }) => name)).toContain('read_graph')
    expect(await server.call('read_graph', {}, CALL)).toMatchObject({ isError: false })
    expect(scene.news.memory).toEqual([])
  })

  it('the two-way webhook of the channels reference: a POST comes in, the reply goes out, a verdict is pushed', async () => {
    const scene = await openPool([
      { name: 'webhook', options: { command: process.execPath, args: [fixture('two-way-webhook.mjs')] } },
    ])
    const server = await scene.reached('webhook', 'up')
    const port = () => /listening on (\d+)/.exec(scene.log.lines.join('\n'))?.[1]
    const url = `http://127.0.0.1:${await until('it listens', port)}/`
    const post = (body: string, sender = 'dev') =>
      fetch(url, { method: 'POST', body, headers: { 'x-sender': sender } }).then((answer) => answer.text())
    const events = (await fetch(`${url}events`)).body?.pipeThrough(new TextDecoderStream()).getReader()
    let seen = ''
    const watching = (async () => {
      for (;;) {
        const { value, done } = (await events?.read()) ?? { value: '', done: true }
        if (done) return
        seen += value
      }
    })()
    expect(await post('list the files', 'stranger')).toBe('forbidden')
    expect(await post('list the files')).toBe('ok')
    await until('it is there', () => scene.news.webhook?.length === 1)
    expect(scene.news.webhook?.[0]).toMatchObject({
      kind: 'message',
      prefix: 'claude',
      params: { content: 'list the files', meta: { chat_id: '1', path: '/', method: 'POST' } },
    })
    expect(await server.call('reply', { chat_id: '1', text: 'two files' }, CALL)).toMatchObject({
      text: 'sent',
    })
    await until('the reply is shown', () => seen.includes('data: Reply to 1: two files'))
    const request = { request_id: 'abcde', tool_name: 'Bash', description: 'ls', input_preview: '{}' }
    await server.notify('notifications/claude/channel/permission_request', request)
    await until('the prompt is shown', () => seen.includes('"yes abcde" or "no abcde"'))
    expect(await post('Yes ABCDE')).toBe('verdict recorded')
    await until('the verdict is there', () => scene.news.webhook?.length === 2)
    expect(scene.news.webhook?.[1]).toMatchObject({
      kind: 'verdict',
      prefix: 'claude',
      params: { request_id: 'abcde', behavior: 'allow' },
    })
    await events?.cancel()
    await watching
  })
})

describe('a child', () => {
  it('[S3.child-env-minimal] [S3.mcp-server-stdio] gets what is listed and PATH, HOME and the like, nothing else of ours', async () => {
    process.env.SWITCHBOARD_TEST_SECRET = 'not-for-children'
    const listed = sdkServer('slack', 'now', 'nexo')
    const scene = await openPool([
      {
        ...listed,
        options: { ...listed.options, env: { SLACK_TOKEN: 'env:SLACK', MODE: 'plain' }, cwd: tmpdir() },
      },
    ])
    delete process.env.SWITCHBOARD_TEST_SECRET
    const server = await scene.reached('slack', 'up')
    const seen = JSON.parse((await server.call('environment', {}, CALL)).text) as Record<string, string>
    expect(seen).toMatchObject({ SLACK_TOKEN: 'value of env:SLACK', MODE: 'plain', PATH: process.env.PATH })
    expect((await server.call('cwd', {}, CALL)).text).toBe(realpathSync(tmpdir()))
    expect(
      Object.keys(seen).filter((name) => !['SLACK_TOKEN', 'MODE', 'PATH', 'HOME'].includes(name)),
    ).toEqual([])
  })

  it('speaks in our log, without its secrets, and no more than somebody would read', async () => {
    const secret = 'xoxb-planted-secret'
    const said = [
      `starting with ${secret}`,
      '\u001b[31mred\u001b[0m',
      ...Array.from({ length: 500 }, (_, at) => `line ${at}`),
    ]
    const scene = await openPool(
      [badServer('chatty', { stderr: said.join('\n'), dieAfterMs: 200 }, { env: { TOKEN: 'env:TOKEN' } })],
      { secret: () => secret },
    )
    await until('it ended', () => scene.server('chatty').facts().restarts > 0)
    const log = scene.log.lines.join('\n')
    expect(log).toContain('starting with [redacted]')
    expect(log).not.toContain(secret)
    expect(log).toContain('"stderr":"red"')
    expect(log).toMatch(/"lines":482,"message":"more lines of the channel server were left out"/)
  })
})

describe('where a server came from', () => {
  const channels = (pluginSource: string) => ({
    enabled: true,
    maxContentChars: 0,
    defaultRateLimit: null,
    approved: [{ server: 'slack', pluginSource, outboundToolName: 'send_message', rateLimit: null }],
  })
  const bindings = [{ plugin: 'web', instance: 'w', allowedChannelServers: ['slack'] }]
  const rules = (source: string) => ({
    agent: 'kate',
    origin: 'agents[0]',
    channels: channels(source),
    bindings,
  })

  it('[S9.stamp-from-install] is the marketplace whose folder holds it, whatever the approval says', async () => {
    const { command, args } = sdkServer('slack', 'now', 'nexo').options as { command: string; args: string[] }
    const asked: string[] = []
    const scene = await openPool(
      [
        {
          name: 'slack',
          options: { plugin: 'slack@anthropic', plugin_source: 'slack@lies', env: { T: 'env:T' } },
        },
      ],
      {
        plugin(plugin, { listed }) {
          asked.push(`${plugin} ${listed.T}`)
          return { command, args, env: { FROM: 'plugin', T: 'plugin' }, cwd: '/', headers: {} }
        },
      },
    )
    const server = await scene.reached('slack', 'up')
    expect(server.facts().stamp).toEqual({ source: 'slack@anthropic', verified: true })
    expect(asked[0]).toBe('slack@anthropic value of env:T')
    const environment = JSON.parse((await server.call('environment', {}, CALL)).text)
    expect(environment).toMatchObject({ FROM: 'plugin', T: 'value of env:T' })
    expect(evaluateGates(server.facts(), rules('slack@anthropic')).pass).toBe(true)
    expect(evaluateGates(server.facts(), rules('slack@lies'))).toMatchObject({
      skip: { kind: 'marketplace' },
    })
  })

  it('[S9.stamp-unverified] a stamp that was written beside a command is unverified', async () => {
    const { options } = sdkServer('slack', 'now', 'nexo')
    const scene = await openPool([
      { name: 'slack', options: { ...options, plugin_source: 'slack@anthropic' } },
    ])
    const server = await scene.reached('slack', 'up')
    expect(server.facts().stamp).toEqual({ source: 'slack@anthropic', verified: false })
    const gated = evaluateGates(server.facts(), rules('slack@anthropic'))
    expect(gated).toMatchObject({ pass: true, registration: { stamp: { verified: false } } })
  })

  it('[S9.plugin-resolves] a plugin in the folder of its marketplace is started from there', async () => {
    const home = realpathSync(mkdtempSync(join(tmpdir(), 'swb-home-')))
    onTestFinished(() => rmSync(home, { recursive: true, force: true }))
    const plugins = join(home, '.claude/plugins')
    const root = join(plugins, 'cache/anthropic/slack/1.0.0')
    mkdirSync(root, { recursive: true })
    const { command, args } = sdkServer('slack', 'now', 'nexo').options
    writeFileSync(join(root, '.mcp.json'), JSON.stringify({ mcpServers: { slack: { command, args } } }))
    const installed = { version: 2, plugins: { 'slack@anthropic': [{ scope: 'user', installPath: root }] } }
    writeFileSync(join(plugins, 'installed_plugins.json'), JSON.stringify(installed))
    const scene = await openPool([{ name: 'slack', options: { plugin: 'slack@anthropic' } }], {
      plugin: (plugin, server) => readInstalledPlugin(plugin, server, { variables: { HOME: home } }),
    })
    const server = await scene.reached('slack', 'up')
    expect(server.facts()).toMatchObject({
      prefix: 'nexo',
      stamp: { source: 'slack@anthropic', verified: true },
    })
    expect((await server.call('cwd', {}, CALL)).text).toBe(root)
  })

  it('a plugin that is not installed keeps its server down, and says what to do', async () => {
    const scene = await openPool([{ name: 'slack', options: { plugin: 'slack@anthropic' } }])
    expect((await scene.reached('slack', 'down')).facts().detail).toContain('no plugin here')
  })
})

describe('a new configuration', () => {
  it('ends what is gone, begins what is new, starts anew what changed and leaves the rest alone', async () => {
    const secrets = { value: 'first' }
    const told = { ...sdkServer('told', 'now', 'nexo').options, env: { KEY: 'env:KEY' } }
    const keep = sdkServer('keep', 'now', 'nexo')
    const scene = await openPool([keep, sdkServer('gone', 'now', 'nexo'), { name: 'told', options: told }], {
      secret: () => secrets.value,
    })
    const [kept, gone, changed] = await Promise.all(
      ['keep', 'gone', 'told'].map((name) => scene.reached(name, 'up')),
    )
    const since = kept?.facts().connectedAt
    secrets.value = 'second'
    const access = { readable: true, dm: 'allowlist', allowFrom: ['U1'] }
    await scene.pool.apply([
      { name: 'keep', options: { ...keep.options, access } },
      { name: 'told', options: told },
      sdkServer('new', 'before', 'claude'),
    ])
    expect(scene.pool.get('gone')).toBeUndefined()
    expect(gone?.facts()).toMatchObject({ state: 'down', detail: 'it is no longer configured', prefix: null })
    await expect(gone?.call('sent', {}, CALL)).rejects.toMatchObject({ code: 'platform_unavailable' })
    await scene.reached('new', 'up')
    // Existing listeners continue to receive.
    expect(scene.pool.get('told')).toBe(changed)
    await scene.reached('told', 'up')
    const environment = JSON.parse((await scene.server('told').call('environment', {}, CALL)).text)
    expect(environment.KEY).toBe('second')
    expect(kept?.facts()).toMatchObject({ state: 'up', connectedAt: since })
    await scene.pool.apply([{ name: 'told', options: { ...told, enabled: false } }])
    expect(scene.server('told').facts()).toMatchObject({
      state: 'disabled',
      detail: 'mcp_servers.told.enabled is false',
    })
  })

  it('[I8.reload-holds-none] a pool that is stopped while it replaces a server does not start it again', async () => {
    const clock = createTestClock()
    const startFile = join(mkdtempSync(join(tmpdir(), 'swb-mcp-')), 'starts')
    onTestFinished(() => rmSync(join(startFile, '..'), { recursive: true, force: true }))
    const plan = { startFile, stayOnEof: true }
    const scene = await openPool([badServer('stubborn', plan)], { clock, timings: QUICK })
    const stubborn = await scene.reached('stubborn', 'up')
    const replaced = scene.pool.apply([badServer('stubborn', { ...plan, changed: true })])
    await clock.settle()
    const stopped = scene.pool.stop()
    await clock.advance(2 * QUICK.graceMs)
    await Promise.all([replaced, stopped])
    await clock.settle()
    expect(stubborn.facts().state).toBe('down')
    expect(readFileSync(startFile, 'utf8')).toBe('1')
  })

  it('a server that hangs in its handshake is ended at once', async () => {
    const scene = await openPool([badServer('hangs', { initialize: 'hang' })])
    await scene.pool.apply([])
    expect(scene.pool.all()).toEqual([])
  })
})

describe('several nodes', () => {
  it('one holds a server, the other waits and takes over', async () => {
    let holder = ''
    const lease = (node: string) => () => ({
      take: async () => {
        if (holder === '') holder = node
        return holder === node
      },
      release: async () => {
        if (holder === node) holder = ''
      },
    })
    const clock = createTestClock()
    const slack = sdkServer('slack', 'now', 'nexo')
    const one = await openPool([slack], { clock, lease: lease('one') })
    await one.reached('slack', 'up')
    const two = await openPool([slack], { clock, lease: lease('two') })
    const waiting = await two.reached('slack', 'waiting')
    expect(waiting.facts().detail).toBe('another node holds it')
    await one.pool.stop()
    await clock.advance(LEASE_RENEW_MS)
    await two.reached('slack', 'up')
    // The lease ran out while it was frozen, so another node took it.
    holder = 'three'
    await clock.advance(LEASE_RENEW_MS)
    await until('it let go', () => waiting.facts().state !== 'up')
  })

  it('[I6.lease-held] a renewal that fails ends nobody in time; one that hangs keeps nobody beyond it', async () => {
    const clock = createTestClock()
    let answer: () => Promise<boolean> = async () => true
    const lease = () => ({ take: () => answer(), release: async () => undefined })
    const farewell = JSON.stringify({ jsonrpc: '2.0', ...message('nexo', 'goodbye') })
    const scene = await openPool([badServer('slack', { onEof: [farewell] })], { clock, lease })
    const slack = await scene.reached('slack', 'up')
    answer = () => Promise.reject(new Error('the store is away'))
    await clock.advance(LEASE_RENEW_MS)
    expect(slack.facts().state).toBe('up')
    // The network loses the next renewal. The link ends early enough that it is gone before another node may begin.
    let late: (held: boolean) => void = () => undefined
    answer = () =>
      new Promise((resolve) => {
        late = resolve
      })
    await clock.advance(LEASE_MS - QUICK.graceMs - LEASE_RENEW_MS - 1)
    expect([slack.facts().state, scene.texts('slack')]).toEqual(['up', []])
    await clock.advance(1)
    await until('it ended', () => slack.facts().state === 'connecting')
    expect(slack.facts().detail).toBe('its lease was lost')
    expect(scene.texts('slack')).toEqual(['goodbye'])
    // A late answer to a timely question still counts.
    late(true)
    await scene.reached('slack', 'up')
    answer = async () => true
    expect(slack.facts().restarts).toBe(0)
  })
})

describe('the last words of a server', () => {
  const farewell = (content: string) => JSON.stringify({ jsonrpc: '2.0', ...message('nexo', content) })

  it('[I8.last-words] are heard when it is ended, also by those who must wait', async () => {
    const scene = await openPool([badServer('slack', { onEof: [farewell('one'), farewell('two')] })])
    const slack = await scene.reached('slack', 'up')
    const prefixes: unknown[] = []
    slack.onNews(() => prefixes.push(scene.pool.get('slack')?.facts().prefix))
    await scene.pool.stop()
    expect(scene.texts('slack')).toEqual(['one', 'two'])
    // Its gates still know its prefix.
    expect(prefixes).toEqual(['nexo', 'nexo'])
  })

  it('have an end', async () => {
    const timings = { ...QUICK, graceMs: 60_000 }
    const scene = await openPool([badServer('slack', { eofFlood: 50, size: 1_048_576 })], { timings })
    const slack = await scene.reached('slack', 'up')
    await scene.pool.stop()
    expect(scene.texts('slack').length).toBeGreaterThan(10)
    expect(scene.texts('slack').length).toBeLessThan(20)
    expect(slack.facts().noise).toBeGreaterThanOrEqual(1)
  })
})
