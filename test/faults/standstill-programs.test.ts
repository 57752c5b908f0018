// No input of a program stands still: what Messages, Claude Code, an ACP agent, the hosts of channels and hosted channel
// servers may say at most, in every hostile form that we know, and what the chat page takes. Measured as standstill.test.ts is.
import { chmodSync, existsSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { MAX_FRAME_BYTES, MAX_MESSAGE_BYTES } from '../../src/contract/index.ts'
import { MOST_TEXT } from '../../src/platforms/imessage/chat-db.ts'
import { createMessagesDouble, type MessagesDouble } from '../../src/testing/imessage/messages-double.ts'
import { scratchFolder } from '../../src/testing/scratch.ts'
import { buildForTest } from './build-for-test.ts'
import { type Daemon, launch } from './daemon.ts'
import { readEvents } from './event-reader.ts'
import { post } from './hook-client.ts'
import { askJson, askLines } from './scene.ts'
import { createMeasure, families, json, jsonFamilies, MB, missing, text } from './standstill-scene.ts'
import { pause, until } from './until.ts'

const LOUD = fileURLToPath(new URL('./fixtures/loud-program.mjs', import.meta.url))
const KATE = '+4915112345678'
const MALLORY = '+4917099999999'
/** What stands around a value in its line. */
const AROUND = 1_000
const WEB_TEXT = 64_000

let daemon: Daemon
let messages: MessagesDouble
const undo: (() => Promise<unknown> | unknown)[] = []
const { expectBounded } = createMeasure(() => daemon, 'standstill-programs.txt')

function configIn(data: string, built: string): string {
  messages = createMessagesDouble(scratchFolder('messages'))
  undo.push(() => messages.close())
  const adapter = (file: string) => JSON.stringify(pathToFileURL(join(built, file)))
  writeFileSync(
    join(data, 'here.mjs'),
    `import { createIMessage } from ${adapter('index.js')}
import { imessageModule } from ${adapter('module.js')}
const double = { system: 'darwin', osascript: ${JSON.stringify(messages.osascript)}, timings: { pollMs: 50, lookMs: 20 } }
export const version = '1.0.0'
export const platforms = [
  { ...imessageModule, name: 'messages', doctor: () => [], create: async (deps) => createIMessage(deps, double) },
]
`,
  )
  const program = (kind: string) => [LOUD, kind, join(data, 'say.json'), join(data, `${kind}.raw`)]
  writeFileSync(join(data, 'say.json'), '{"piece":"x","times":1}')
  const claude = join(data, 'claude')
  const quoted = [process.execPath, ...program('claude')].map((word) => `"${word}"`).join(' ')
  writeFileSync(claude, `#!/bin/sh\nexec ${quoted} "$@"\n`)
  chmodSync(claude, 0o755)
  const anyone = 'sender_header: X-Sender, two_way: true, access: { allow_from: [dev], approvers: [dev] }'
  const config = join(data, 'switchboard.yaml')
  writeFileSync(
    config,
    `modules: [./here.mjs]
tunables: { sender_limit: { rps: 0, burst: 0 }, flood_limit: { rps: 0, burst: 0 } }
integrations:
  - { id: im, platform: messages, db_path: "${messages.dbPath}", access: { dm: allowlist, allow_from: ["${KATE}"] } }
  - { id: web, platform: web }
  - { id: claude, platform: webhook, ${anyone} }
  - { id: coder, platform: webhook, ${anyone} }
  - { id: host, platform: webhook, ${anyone} }
mcp_servers:
  loud: { command: ${JSON.stringify(process.execPath)}, args: ${JSON.stringify(program('mcp'))}, access: { allow_from: [kate] } }
agents:
  - { id: demo, connector: { type: demo },
      channels: { enabled: true, default_rate_limit: { rps: 0, burst: 0 }, approved: [{ server: loud }] },
      inbound_bindings: [{ plugin: messages, instance: im }, { plugin: web, instance: web, allowed_channel_servers: [loud] }] }
  - { id: claude, connector: { type: claude-code, command: ${claude}, cwd: ${data} }, inbound_bindings: [{ plugin: webhook, instance: claude }] }
  - { id: coder, connector: { type: acp, command: ${JSON.stringify(process.execPath)}, args: ${JSON.stringify(program('acp'))}, cwd: ${data} },
      inbound_bindings: [{ plugin: webhook, instance: coder }] }
  - { id: host, connector: { type: channel }, inbound_bindings: [{ plugin: webhook, instance: host }] }
`,
  )
  return config
}

beforeAll(async () => {
  if (missing !== null) return
  const built = await buildForTest('src/platforms/imessage/module.ts', 'src/platforms/imessage/index.ts')
  const data = scratchFolder('standstill-programs')
  undo.push(() => rmSync(data, { recursive: true, force: true }))
  const started = launch({ data, config: configIn(data, built) })
  undo.push(async () => {
    started.process.kill('SIGKILL')
    await started.exited
  })
  const ready = await started.ready
  if (ready === null) throw new Error(started.stderr())
  daemon = ready
  await pause(2_000)
}, 120_000)
afterAll(async () => {
  for (const step of undo.splice(0).reverse()) await step()
}, 60_000)

const say = async (where: string) => {
  const { status } = await post(`${daemon.url}/hooks/${where}`, 'hello', { 'x-sender': 'dev' })
  expect(status).toBe(200)
}
/** Has a program write these bytes. Those of an agent come with its answer. */
async function written(kind: 'claude' | 'acp' | 'mcp', bytes: string, ask: () => Promise<unknown>) {
  const raw = join(daemon.data, `${kind}.raw`)
  rmSync(`${raw}.done`, { force: true })
  writeFileSync(`${raw}.part`, bytes)
  renameSync(`${raw}.part`, raw)
  await ask()
  await until('it is written', () => existsSync(`${raw}.done`))
}
const nothing = async () => undefined

describe('[I35.a3] [I35.a3-programs] the main thread spends less than 200 ms', () => {
  beforeEach((context) => {
    if (missing !== null) context.skip(missing)
  })

  describe.each([
    ['somebody who may write', KATE],
    ['a stranger', MALLORY],
  ])('on what %s says in Messages:', (_who, from) => {
    it.each(families)('the longest text: %s', async (family) => {
      const said = `a${text(family, MOST_TEXT - 10)}b`
      await expectBounded(async () => messages.says(from, said), said.length)
    })
    it('10 MB', async () => {
      await expectBounded(async () => messages.says(from, '> a\n'.repeat(2_500_000)), 10 * MB)
    })
    it('an edit of 10 MB', async () => {
      const guid = messages.says(from, 'short')
      const edited = async () => messages.edit(guid, ['short', 'x'.repeat(10 * MB)], Date.now())
      await expectBounded(edited, 10 * MB)
    })
  })

  const CLAUDE: readonly (readonly [string, (value: string) => object])[] = [
    ['what it says', (value) => ({ type: 'assistant', message: { content: value } })],
    ['a piece of its answer', (value) => delta(value)],
    [
      'a tool',
      (value) => ({ type: 'assistant', message: { content: [{ type: 'tool_use', id: 't', input: value }] } }),
    ],
    [
      'a result of a tool',
      (value) => ({
        type: 'user',
        message: { content: [{ type: 'tool_result', tool_use_id: 't', content: value }] },
      }),
    ],
    ['a permission', (value) => asks({ tool_name: 'Bash', input: { command: value } })],
    [
      'the rules of a permission',
      (value) => asks({ tool_name: 'Bash', input: {}, permission_suggestions: value }),
    ],
    [
      'a question',
      (value) =>
        asks({ tool_name: 'AskUserQuestion', input: { questions: [{ question: value, options: value }] } }),
    ],
    [
      'its result',
      (value) => ({
        type: 'result',
        subtype: 'success',
        result: value,
        terminal_reason: value,
        modelUsage: value,
      }),
    ],
  ]
  const delta = (value: string) => ({
    type: 'stream_event',
    event: { type: 'content_block_delta', delta: { type: 'text_delta', text: value } },
  })
  const asks = (request: object) => ({
    type: 'control_request',
    request_id: `r${Math.random()}`,
    request: { subtype: 'can_use_tool', ...request },
  })
  const PLACE = 'the-value'
  const lineOf = (form: (value: string) => object, value: string) =>
    JSON.stringify(form(PLACE)).replaceAll(JSON.stringify(PLACE), () => value)
  /** How often the value stands in the form. */
  const timesIn = (form: (value: string) => object) => JSON.stringify(form(PLACE)).split(PLACE).length - 1

  it.each(CLAUDE.flatMap(([name, form]) => jsonFamilies.map((family) => [name, family, form] as const)))(
    'on the longest line of Claude Code, in %s: %s',
    async (_name, family, form) => {
      const value = json(family, Math.floor((MAX_MESSAGE_BYTES - AROUND) / timesIn(form)), timesIn(form))
      const line = lineOf(form, value)
      await expectBounded(() => written('claude', line, () => say('claude')), line.length)
    },
  )
  it.each(families)('on an answer of Claude Code in 5,000 pieces: %s', async (family) => {
    const said = { piece: text(family, 20), times: 5_000 }
    writeFileSync(join(daemon.data, 'say.json'), JSON.stringify(said))
    await expectBounded(() => say('claude'), 300 * said.times)
  })

  const ACP: readonly (readonly [string, (value: string) => object])[] = [
    [
      'what it says',
      (value) => update({ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: value } }),
    ],
    [
      'a tool',
      (value) =>
        update({
          sessionUpdate: 'tool_call',
          toolCallId: 't',
          title: value,
          content: value,
          rawInput: value,
        }),
    ],
    [
      'a permission',
      (value) => ({
        jsonrpc: '2.0',
        id: 'p',
        method: 'session/request_permission',
        params: {
          sessionId: 's1',
          toolCall: { toolCallId: 't', title: value, rawInput: value },
          options: value,
        },
      }),
    ],
  ]
  const update = (one: object) => ({
    jsonrpc: '2.0',
    method: 'session/update',
    params: { sessionId: 's1', update: one },
  })
  it.each(ACP.flatMap(([name, form]) => jsonFamilies.map((family) => [name, family, form] as const)))(
    'on the longest line of an ACP agent, in %s: %s',
    async (_name, family, form) => {
      const value = json(family, Math.floor((MAX_MESSAGE_BYTES - AROUND) / timesIn(form)), timesIn(form))
      const line = lineOf(form, value)
      await expectBounded(() => written('acp', line, () => say('coder')), line.length)
    },
  )

  const MCP: readonly (readonly [string, (value: string) => object])[] = [
    [
      'a message of somebody who may write',
      (value) => pushed({ content: value, meta: { chat_id: '1', user_id: 'kate' } }),
    ],
    [
      'a message of a stranger',
      (value) => pushed({ content: value, meta: { chat_id: '1', user_id: 'mallory' } }),
    ],
    [
      'the meta of a message',
      (value) => pushed({ content: 'x', meta: { chat_id: '1', user_id: 'kate', more: value } }),
    ],
    [
      'a verdict',
      (value) => ({
        jsonrpc: '2.0',
        method: 'notifications/claude/channel/permission',
        params: { request_id: value, behavior: value },
      }),
    ],
    ['an answer to nothing', (value) => ({ jsonrpc: '2.0', id: 99_999, result: value })],
  ]
  const pushed = (params: object) => ({ jsonrpc: '2.0', method: 'notifications/claude/channel', params })
  it.each(MCP.flatMap(([name, form]) => jsonFamilies.map((family) => [name, family, form] as const)))(
    'on the longest line of a hosted channel server, in %s: %s',
    async (_name, family, form) => {
      const value = json(family, Math.floor((MAX_MESSAGE_BYTES - AROUND) / timesIn(form)), timesIn(form))
      const line = lineOf(form, value)
      await expectBounded(() => written('mcp', line, nothing), line.length)
    },
  )
  it.each(families)('on the longest message of a hosted channel server: %s', async (family) => {
    const content = text(family, MB)
    const line = JSON.stringify(pushed({ content, meta: { chat_id: '1', user_id: 'kate' } }))
    await expectBounded(() => written('mcp', line, nothing), line.length)
  })

  const FRAMES: readonly (readonly [string, (value: string) => object])[] = [
    [
      'a reply',
      (value) => ({
        t: 'call',
        id: 1,
        key: `k${Math.random()}`,
        tool: 'reply',
        input: { chat_id: 'none', text: value },
      }),
    ],
    [
      'the places of a reply',
      (value) => ({
        t: 'call',
        id: 1,
        key: `k${Math.random()}`,
        tool: 'reply',
        input: { chat_id: value, reply_to: value, text: 'x' },
      }),
    ],
    [
      'files',
      (value) => ({
        t: 'call',
        id: 1,
        key: `k${Math.random()}`,
        tool: 'reply',
        input: { chat_id: 'none', text: 'x', files: value },
      }),
    ],
    ['the name of a tool', (value) => ({ t: 'call', id: 1, key: 'k', tool: value, input: {} })],
    [
      'a permission',
      (value) => ({
        t: 'ask',
        id: 1,
        requestId: `r${Math.random()}`,
        toolName: value,
        description: value,
        inputPreview: value,
      }),
    ],
    [
      'what it holds',
      (value) => ({
        t: 'hello',
        v: 1,
        agent: 'host',
        dialect: 'claude',
        routingKey: null,
        held: value,
        asks: value,
        proven: true,
      }),
    ],
  ]
  it.each(FRAMES.flatMap(([name, form]) => jsonFamilies.map((family) => [name, family, form] as const)))(
    'on the longest frame of a host, in %s: %s',
    async (_name, family, form) => {
      const value = json(family, Math.floor((MAX_FRAME_BYTES - AROUND) / timesIn(form)), timesIn(form))
      const line = lineOf(form, value)
      const act = async () => {
        const host = await attach({ greets: !line.includes('"hello"') })
        await host.say(line)
        host.socket.terminate()
      }
      await expectBounded(act, line.length)
    },
  )
  it.each(families)('on the longest reply of a host: %s', async (family) => {
    const said = text(family, MB)
    await say('host')
    const host = await attach({ greets: true })
    const chat = await until('the message', () => host.chat())
    let key = 0
    const reply = () => ({
      t: 'call',
      id: 1,
      key: `${family}${key++}`,
      tool: 'reply',
      input: { chat_id: chat, text: said },
    })
    await expectBounded(() => host.say(JSON.stringify(reply())), said.length)
    host.socket.terminate()
  })
  it('on a frame of a stranger, which is read by nobody', async () => {
    const act = () =>
      new Promise<void>((resolve) => {
        const socket = new WebSocket(`${daemon.url.replace('http', 'ws')}/attach`, {
          headers: { authorization: `Bearer ${'x'.repeat(8_000)}` },
        })
        socket.on('error', () => undefined)
        socket.on('open', () => socket.send('['.repeat(MAX_FRAME_BYTES)))
        socket.on('close', () => resolve())
      })
    await expectBounded(act, MAX_FRAME_BYTES)
  })

  describe('on the page', () => {
    let page: Awaited<ReturnType<typeof openPage>>
    beforeAll(async () => {
      if (missing === null) page = await openPage()
    })
    afterAll(() => page?.close())
    it.each(families)('of the longest message: %s', async (family) => {
      const said = `a${text(family, WEB_TEXT - 10)}b`
      await expectBounded(() => page.say(said), 4 * said.length)
    })
    it.each(jsonFamilies)('of 1 MiB of somebody who is signed in: %s', async (family) => {
      const body = `{"clientId":"client-0001","text":${json(family, MB - AROUND, 10)}}`
      for (const path of ['messages', 'tap', 'delete', 'upload'])
        await expectBounded(() => page.post(path, body), body.length)
    })
    it.each(jsonFamilies)('of 1 MiB of a stranger: %s', async (family) => {
      const body = `{"clientId":"client-0001","ticket":${json(family, MB - AROUND, 10)}}`
      const headers = { 'content-type': 'application/json', origin: daemon.url, authorization: 'Bearer none' }
      for (const path of ['session', 'messages', 'upload'])
        await expectBounded(() => post(`${daemon.url}/chat/${path}`, body, headers), body.length)
    })
    it('of the longest history, and of cursors of a guest and of a stranger', async () => {
      await expectBounded(() => page.get('history?limit=200'), 200 * WEB_TEXT)
      const cursor = `i1.o1.p${'1-'.repeat(1_900)}1`
      await expectBounded(() => page.get(`history?before=${cursor}`), cursor.length)
      await expectBounded(() => page.get(`stream?after=${cursor}x`), cursor.length)
      await expectBounded(() => fetch(`${daemon.url}/chat/stream?after=${cursor}`), cursor.length)
    })
  })

  it('and each of them came to an end in the same life of the daemon', async () => {
    const turns = await askLines<{ integration: string; state: string; reason: string | null }>(
      ...([daemon.data, 'turns', '--limit', '1000'] as const),
    )
    const ends = (integration: string) =>
      new Set(turns.filter((turn) => turn.integration === integration).map(({ reason }) => reason))
    expect([...ends('im')].toSorted()).toEqual([null, 'sender_not_allowed'].toSorted())
    expect(ends('channel:loud@demo')).toContain(null)
    expect(ends('channel:loud@demo')).toContain('sender_not_allowed')
    for (const one of ['web', 'claude', 'coder', 'host']) expect(ends(one)).toContain(null)
    expect(await Promise.race([daemon.exited, pause(10)])).toBeUndefined()
  })
})

/** A host of the agent `host` that writes its frames itself. */
async function attach({ greets }: { readonly greets: boolean }) {
  const { token } = await askJson<{ token: string }>(
    ...([daemon.data, 'token', 'mint', '--kind', 'agent', '--agent', 'host'] as const),
  )
  const socket = new WebSocket(`${daemon.url.replace('http', 'ws')}/attach`, {
    headers: { authorization: `Bearer ${token}` },
  })
  let heard = 0
  let chat: string | undefined
  let closed = false
  socket.on('message', (data) => {
    heard += 1
    const frame = JSON.parse(String(data)) as { t: string; n?: number; chatId?: string }
    if (frame.t !== 'deliver') return
    chat = frame.chatId
    socket.send(JSON.stringify({ t: 'ok', n: frame.n }))
  })
  socket.on('error', () => undefined)
  socket.on('close', () => {
    closed = true
  })
  await new Promise<void>((resolve) => socket.on('open', () => resolve()))
  const hello = {
    t: 'hello',
    v: 1,
    agent: 'host',
    dialect: 'claude',
    routingKey: null,
    held: [],
    asks: [],
    proven: true,
  }
  if (greets) {
    socket.send(JSON.stringify(hello))
    socket.send(JSON.stringify({ t: 'ready', client: 'loud 1' }))
    await until('it is welcome', () => heard > 0)
    await pause(100)
  }
  return {
    socket,
    chat: () => chat,
    /** Resolves when it was answered, or the connection ended. */
    async say(line: string) {
      const before = heard
      socket.send(line)
      await until('an answer', () => heard > before || closed)
    },
  }
}

let windows = 0
/** Somebody who is signed in on the page, with sixteen open windows. */
async function openPage() {
  const { url } = await askJson<{ url: string }>(daemon.data, 'link')
  const ticket = new URL(url).hash.replace('#ticket=', '')
  const contentType = { 'content-type': 'application/json', origin: daemon.url }
  const entered = await post(`${daemon.url}/chat/session`, JSON.stringify({ ticket }), contentType)
  const headers = { ...contentType, cookie: entered.headers.get('set-cookie')?.split(';')[0] ?? '' }
  const streams = Array.from({ length: 16 }, () => readEvents(() => `${daemon.url}/chat/stream`, headers))
  await until('all are open', () => streams.every(({ events }) => events.length > 0))
  return {
    get: async (path: string) => (await fetch(`${daemon.url}/chat/${path}`, { headers })).arrayBuffer(),
    post: (path: string, body: string) => post(`${daemon.url}/chat/${path}`, body, headers),
    async say(said: string) {
      const clientId = `window-${String(++windows).padStart(6, '0')}`
      const body = JSON.stringify({ clientId, text: said })
      const { status } = await post(`${daemon.url}/chat/messages`, body, headers)
      expect(status).toBe(200)
    },
    close() {
      for (const stream of streams) stream.stop()
    },
  }
}
