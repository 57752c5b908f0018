// Two or three daemons on one PostgreSQL, from outside: people at one, the agent's host attached to the other, operators at either.
import { randomBytes } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import type { DoctorReport, StatusReport } from '../../src/contract/index.ts'
import { startClaudeCode } from '../../src/testing/emulate.ts'
import { type PostgresServer, startPostgres } from '../../src/testing/postgres/server.ts'
import { BINARY, bareEnvironment, type Daemon } from '../faults/daemon.ts'
import { readEvents } from '../faults/event-reader.ts'
import { post } from '../faults/hook-client.ts'
import { expectLedgerHolds, turnsOf } from '../faults/river-checks.ts'
import { askJson, askLines, createScene, switchboard } from '../faults/scene.ts'
import { until } from '../faults/until.ts'
import { listen, writeYaml } from './admin.ts'

const scene = createScene()
let postgres: PostgresServer | null = null
afterAll(() => postgres?.stop())

const YAML = `store: env:DATABASE_URL
tunables: { sender_limit: { rps: 0.01, burst: 20 } }
integrations:
  - { id: ci, platform: webhook, sender_header: X-Sender, two_way: true, access: { allow_from: [dev, lena], approvers: [dev] } }
  - { id: chat, platform: web }
agents:
  - id: kate
    connector: { type: channel }
    inbound_bindings: [{ plugin: webhook, instance: ci }, { plugin: web, instance: chat }]
`

interface Node {
  readonly data: string
  readonly config: string
  readonly env: Record<string, string>
  readonly daemon: Daemon
}

async function openNodes(
  count = 2,
  yamlOf: (at: number) => string = () => YAML,
  more: Record<string, string> = {},
): Promise<Node[]> {
  postgres ??= await startPostgres()
  const env = {
    DATABASE_URL: await postgres.freshDatabase(),
    SWITCHBOARD_KEY: randomBytes(32).toString('base64'),
    ...more,
  }
  const nodes: Node[] = []
  for (let at = 0; at < count; at++) {
    const data = scene.folder()
    const config = writeYaml(data, yamlOf(at))
    nodes.push({ data, config, env, daemon: await scene.start({ data, config, env }) })
  }
  return nodes
}

/** Claude Code's double with its shim at this node. */
async function host(node: Node) {
  const started = await startClaudeCode({
    command: process.execPath,
    args: [BINARY, 'channel', '--agent', 'kate', '--data', node.data, '--config', node.config],
    cwd: node.data,
    env: { ...bareEnvironment(), ...node.env },
    channels: ['server:switchboard'],
  })
  scene.onEnd(async () => {
    started.kill('SIGKILL')
    await started.exited
  })
  started.onPrompt = ({ content, meta }) =>
    void started.call('reply', { chat_id: meta.chat_id, text: `re: ${content}` })
  return started
}

interface Delivery {
  readonly message: { readonly content: string }
  readonly callback: string
  readonly mcp: { readonly headers: { readonly Authorization: string } }
}

/** Takes every delivery and says nothing by itself. */
async function chorusAgent(): Promise<{ url: string; deliveries: Delivery[] }> {
  const place = await listen(scene)
  return {
    url: place.url,
    get deliveries() {
      return place.taken.map(({ body }) => JSON.parse(body) as Delivery)
    },
  }
}

let said = 0
const say = (node: Node, text: string, sender = 'dev') =>
  post(`${node.daemon.url}/hooks/ci`, text, { 'x-sender': sender, 'idempotency-key': `m${++said}` })

/** The cookie of a browser that followed its link at this node; it holds at all of them. */
async function enterChat(node: Node): Promise<string> {
  const link = await askJson<{ url: string }>(node.data, 'link')
  const ticket = new URL(link.url).hash.replace('#ticket=', '')
  const body = JSON.stringify({ ticket })
  const entered = await post(`${node.daemon.url}/chat/session`, body, headersFor(node, ''))
  return entered.headers.get('set-cookie')?.split(';')[0] ?? ''
}

const headersFor = (node: Node, cookie: string) => ({
  'content-type': 'application/json',
  origin: node.daemon.url,
  cookie: atPortOf(node, cookie),
})

/** Behind one public address the session has one cookie name at all nodes; here each node has a port, and so a name. */
const atPortOf = (node: Node, cookie: string) =>
  cookie.replace(/^swb_chat_\d+=/, `swb_chat_${new URL(node.daemon.url).port}=`)

const pair = (nodes: readonly Node[]): [Node, Node] => {
  const [a, b] = nodes
  if (!a || !b) throw new Error('two nodes are needed')
  return [a, b]
}

const attached = (node: Node) =>
  until('the agent is attached for the whole cluster', async () => {
    const status = await askJson<StatusReport>(node.data, 'status')
    return status.agents.some((one) => one.id === 'kate' && one.attached)
  })

describe('two nodes and more', () => {
  it('[S13.http-on-all] [S13.reachable-lanes] [I6.status-cluster] a stream at A, the agent at B: what is said at A is answered at A, and status shows it all', async () => {
    const nodes = await openNodes()
    const [a, b] = pair(nodes)
    await host(b)
    await attached(a)
    const reader = readEvents(() => `${a.daemon.url}/hooks/ci/events`, { 'x-sender': 'dev' })
    scene.onEnd(() => reader.stop())
    await until('the reader watches', () => reader.connections() > 0)
    expect((await say(a, 'hello')).status).toBe(200)
    await until('the answer is heard at A', () => reader.events.some(({ data }) => data === 're: hello'))
    expect((await say(b, 'and here')).status).toBe(200)
    await until('the other one too', () => reader.events.some(({ data }) => data === 're: and here'))

    for (const node of nodes) {
      const status = await askJson<StatusReport>(node.data, 'status')
      expect(status.nodes?.map((one) => one.state)).toEqual(['up', 'up'])
      expect(status.nodes?.flatMap((one) => one.agents)).toEqual(['kate'])
      expect(status.agents).toMatchObject([{ id: 'kate', attached: true }])
      expect(status.counts).toMatchObject({ received: 2, answered: 2 })
    }
    const doctor = await askJson<DoctorReport>(a.data, 'doctor')
    expect(doctor).toMatchObject({ ok: true, cluster: { warnings: [] } })
    const shown = await switchboard(a.data, 'status')
    expect(shown.stdout).toMatch(/NODE\s+STATE/)
    for (const { data } of nodes) await expectLedgerHolds(data)
  })

  it('[S13.browser-across] a chat window at A, the agent at B: the answer, the states and the typing come over', async () => {
    const [a, b] = pair(await openNodes())
    const claude = await host(b)
    claude.onPrompt = () => undefined
    await attached(a)
    const headers = headersFor(a, await enterChat(a))
    const page = readEvents(() => `${a.daemon.url}/chat/stream`, headers)
    scene.onEnd(() => page.stop())
    const shown = (event: string, part: string) =>
      until(`the page shows ${event} ${part}`, () =>
        page.events.some((one) => one.event === event && one.data.includes(part)),
      )
    await shown('hello', '')
    await until('B knows that somebody looks at A', async () => {
      const status = await askJson<StatusReport>(b.data, 'status')
      return status.nodes?.some((node) => node.links.some((one) => one.detail === '1 open window'))
    })
    const body = JSON.stringify({ clientId: 'client-0-x', text: 'hello from the page' })
    expect((await post(`${a.daemon.url}/chat/messages`, body, headers)).status).toBe(200)
    await shown('states', 'handed')
    await shown('typing', 'true')
    const prompt = await until('the host has it', () => claude.prompts[0])
    await claude.call('reply', { chat_id: prompt.meta.chat_id, text: 'hello page' })
    await shown('entry', 'hello page')
    await shown('states', 'answered')
  })

  it('[I6.files-shared] a file uploaded at A goes with a message through B to a host at C, and outlives A', async () => {
    const nodes = await openNodes(3)
    const [a, b, c] = nodes as [Node, Node, Node]
    const claude = await host(c)
    claude.onPrompt = () => undefined
    await attached(b)
    const cookie = await enterChat(a)
    const ask = async (node: Node, path: string) => {
      const reply = await fetch(`${node.daemon.url}/chat${path}`, {
        headers: { cookie: atPortOf(node, cookie) },
      })
      return { status: reply.status, text: await reply.text() }
    }
    const took = await post(`${a.daemon.url}/chat/upload?name=notes.txt`, 'what A took', {
      ...headersFor(a, cookie),
      'content-type': 'text/plain',
    })
    expect(took.status).toBe(200)
    const { id } = JSON.parse(took.text) as { id: string }
    const body = JSON.stringify({ clientId: 'client-0-y', text: 'read this', attachments: [id] })
    expect((await post(`${b.daemon.url}/chat/messages`, body, headersFor(b, cookie))).status).toBe(200)
    const prompt = await until('the host has it', () => claude.prompts[0])
    const path = prompt.meta.file_path ?? ''
    expect(path.startsWith(c.data)).toBe(true)
    expect(readFileSync(path, 'utf8')).toBe('what A took')

    await a.daemon.kill9()
    expect(await ask(b, `/files/${id}`)).toEqual({ status: 200, text: 'what A took' })
    writeFileSync(join(c.data, 'attachments', 'report.txt'), 'what C made')
    const files = [join(c.data, 'attachments', 'report.txt')]
    await claude.call('reply', { chat_id: prompt.meta.chat_id, text: 'here', files })
    const sent = await until('B shows what C sent', async () => {
      const { entries } = JSON.parse((await ask(b, '/history')).text) as {
        entries: { dir: string; attachments?: { id: string }[] }[]
      }
      return entries.find((one) => one.dir === 'out' && one.attachments)?.attachments?.[0]?.id
    })
    // Its shim would start the daemon of C again.
    claude.kill('SIGKILL')
    await claude.exited
    await c.daemon.kill9()
    expect(await ask(b, `/files/${sent}`)).toEqual({ status: 200, text: 'what C made' })
    expect(await ask(b, `/files/${'0'.repeat(32)}`)).toMatchObject({ status: 404 })
    await expectLedgerHolds(b.data)
  })

  it('[I6.callback-across] what a Chorus agent posts to another node than the one that delivered is taken there', async () => {
    const agent = await chorusAgent()
    const yaml = `${YAML}  - id: chorus
    connector: { type: chorus, url: "env:AGENT_URL", allow_private: true }
    inbound_bindings: [{ plugin: webhook, instance: hook }]
`.replace(
      '  - { id: chat',
      `  - { id: hook, platform: webhook, sender_header: X-Sender, two_way: true, access: { allow_from: [dev] } }
  - { id: chat`,
    )
    const [a, b] = pair(await openNodes(2, () => yaml, { AGENT_URL: agent.url }))
    const reader = readEvents(() => `${a.daemon.url}/hooks/hook/events`, { 'x-sender': 'dev' })
    scene.onEnd(() => reader.stop())
    await until('the reader watches', () => reader.connections() > 0)
    for (const text of ['one', 'two']) {
      await post(`${a.daemon.url}/hooks/hook`, text, { 'x-sender': 'dev' })
      const { callback } = await until(`"${text}" was delivered`, () =>
        agent.deliveries.find((one) => one.message.content === text),
      )
      const elsewhere = `${b.daemon.url}${new URL(callback).pathname}`
      const event = (fields: object) =>
        post(elsewhere, JSON.stringify(fields), { 'content-type': 'application/json' })
      expect((await event({ type: 'status', status: 'thinking' })).status).toBe(200)
      expect((await event({ type: 'message', content: `re: ${text}` })).status).toBe(200)
      await until('it is heard at A', () => reader.events.some(({ data }) => data === `re: ${text}`))
    }
    await post(`${a.daemon.url}/hooks/hook`, 'three', { 'x-sender': 'dev' })
    const last = await until('"three" was delivered', () =>
      agent.deliveries.find((one) => one.message.content === 'three'),
    )
    const [row] = (await turnsOf(a.data)).filter((turn) => turn.text === 'three')
    const call = {
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'reply', arguments: { chat_id: row?.address, text: 're: three' } },
    }
    const called = await post(`${b.daemon.url}/mcp`, JSON.stringify(call), {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      authorization: last.mcp.headers.Authorization,
    })
    expect(called.text).toContain('sent')
    await until('it is heard at A', () => reader.events.some(({ data }) => data === 're: three'))
    const turns = (await turnsOf(a.data)).map(({ text, state, attempts }) => `${text}: ${state} ${attempts}`)
    expect(turns).toEqual(['one: answered 1', 'two: answered 1', 'three: answered 1'])
    expect(reader.events.filter(({ data }) => data.startsWith('re: '))).toHaveLength(3)
    await expectLedgerHolds(b.data)
  })

  it('[S10.any-node] [S13.verdict-across] a verdict given at A reaches the host at B, whether in the chat or by command', async () => {
    const [a, b] = pair(await openNodes())
    const claude = await host(b)
    claude.onPrompt = () => undefined
    await attached(a)
    await say(a, 'do it')
    await until('the host has it', async () =>
      (await turnsOf(a.data)).some((turn) => turn.state !== 'queued'),
    )
    const stateOf = async (id: string) =>
      (await askLines<{ id: string; state: string }>(a.data, 'approvals', '--all')).find(
        (one) => one.id === id,
      )?.state
    for (const decide of [
      (id: string) => say(a, `yes ${id}`),
      (id: string) => switchboard(a.data, 'approvals', 'allow', id),
    ]) {
      const asked = claude.ask({ toolName: 'Bash', description: 'd', inputPreview: 'ls' })
      await until('it is asked', async () => (await stateOf(asked.id)) === 'pending')
      await decide(asked.id)
      expect(await asked.decided).toBe('allow')
      await until('it is told as passed on', async () => (await stateOf(asked.id)) === 'relayed')
    }
  })

  it('[S13.limits-shared] a sender’s limit holds for all nodes together', async () => {
    const nodes = await openNodes()
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, at) => say(nodes[at % 2] as Node, `n${at}`, 'lena')),
    )
    expect(answers.filter((answer) => answer.status === 200)).toHaveLength(20)
    expect(answers.filter((answer) => answer.status === 429)).toHaveLength(20)
  })

  it('[S3.digest-compared] doctor names nodes whose configurations differ', async () => {
    const [a] = pair(await openNodes(2, (at) => (at === 0 ? YAML : YAML.replace('burst: 20', 'burst: 21'))))
    const doctor = await until('both are seen', async () => {
      const ran = await switchboard(a.data, 'doctor', '--json')
      const report = JSON.parse(ran.stdout) as DoctorReport
      return report.cluster?.nodes.length === 2 ? report : null
    })
    expect(doctor.ok).toBe(false)
    expect(doctor.cluster?.warnings.join('\n')).toMatch(/different configurations: .*digest .*; .*digest/)
    expect((await switchboard(a.data, 'doctor')).stdout).toContain('different configurations')
  })

  it('[I6.config-across] an integration and a grant given at A hold at B at once', async () => {
    const [a, b] = pair(await openNodes())
    const open = (node: Node) => post(`${node.daemon.url}/hooks/late`, 'hello', { 'x-sender': 'zoe' })
    expect((await open(b)).status).toBe(404)
    const keys = ['--set', 'sender_header=X-Sender', '--set', 'two_way=true']
    const kind = ['--platform', 'webhook', '--agent', 'kate']
    const added = await switchboard(a.data, 'integrations', 'add', 'late', ...kind, ...keys)
    expect(added, added.stderr).toMatchObject({ code: 0 })
    // 503: it is known there, and its link is being made.
    const known = await until('B knows it', async () => {
      const { status } = await open(b)
      return status === 404 || status === 503 ? null : status
    })
    expect(known).toBe(403)
    await switchboard(a.data, 'access', 'allow', 'late', 'zoe')
    await until('B lets her in', async () => (await open(b)).status === 200)
  })

  it('[I6.ledger-key] a node with another key does not start, and says why', async () => {
    const [a] = pair(await openNodes())
    const data = scene.folder()
    const config = writeYaml(data, YAML)
    const env = { ...a.env, SWITCHBOARD_KEY: randomBytes(32).toString('base64') }
    const started = scene.launch({ data, config, env })
    expect(await started.ready).toBeNull()
    expect((await started.exited).code).toBe(2)
    expect(started.stderr()).toMatch(/another key[\s\S]*SWITCHBOARD_KEY/)
  })
})
