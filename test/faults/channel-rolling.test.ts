// A rolling restart of two real nodes with a real host of the channel at each, under load: every message is answered once,
// at whichever node, and what a host is given a second time says so.
import { randomBytes } from 'node:crypto'
import { afterAll, expect, it } from 'vitest'
import { type ClaudeCode, startClaudeCode } from '../../src/testing/emulate.ts'
import { type PostgresServer, startPostgres } from '../../src/testing/postgres/server.ts'
import { writeYaml } from '../daemon/admin.ts'
import { BINARY, bareEnvironment, type Daemon } from './daemon.ts'
import { readEvents } from './event-reader.ts'
import { persist, post } from './hook-client.ts'
import { expectLedgerHolds, sendsOf, settled, turnsOf } from './river-checks.ts'
import { createScene } from './scene.ts'
import { pause, until } from './until.ts'

const scene = createScene()
let postgres: PostgresServer | null = null
afterAll(() => postgres?.stop())

const PEOPLE = ['ada', 'bo', 'cy', 'di']
const EACH = 8
const YAML = `store: env:DATABASE_URL
integrations:
  - { id: ci, platform: webhook, sender_header: X-Sender, two_way: true, access: { allow_from: [${PEOPLE.join(', ')}] } }
agents:
  - { id: kate, connector: { type: channel }, inbound_bindings: [{ plugin: webhook, instance: ci }] }
`

interface Node {
  readonly data: string
  daemon: Daemon | null
  start(): Promise<void>
}

async function openNode(env: Record<string, string>): Promise<Node> {
  const data = scene.folder()
  const config = writeYaml(data, YAML)
  const node: Node = {
    data,
    daemon: null,
    async start() {
      node.daemon = await scene.start({ data, config, env })
    },
  }
  await node.start()
  return node
}

/**
 * Answers each message in its own chat, and again as long as its daemon is away. What it was told stays. It starts no daemon
 * of its own: those that end with the test would be revived behind it.
 */
async function openHost(node: Node, env: Record<string, string>) {
  const conflicts: string[] = []
  const claude = await startClaudeCode({
    command: process.execPath,
    args: [BINARY, 'channel', '--agent', 'kate', '--no-start', '--data', node.data],
    cwd: node.data,
    env: { ...bareEnvironment(), ...env },
    channels: ['server:switchboard'],
  })
  scene.onEnd(async () => {
    claude.kill('SIGKILL')
    await claude.exited
  })
  const answer = async ({ content, meta }: { content: string; meta: Readonly<Record<string, string>> }) => {
    for (;;) {
      const input = { chat_id: meta.chat_id, reply_to: meta.message_id, text: `re: ${content}` }
      const result = await claude.call('reply', input, `use-${meta.message_id}`)
      if (!result.isError) return
      if (result.structured.code === 'conflict' || /answered/.test(result.text)) {
        conflicts.push(content)
        return
      }
      await pause(50)
    }
  }
  claude.onPrompt = (prompt) => void answer(prompt).catch(() => undefined)
  return { claude, conflicts }
}

const promptsOf = (hosts: readonly { readonly claude: ClaudeCode }[]) =>
  hosts.flatMap(({ claude }) => claude.prompts.map(({ content, meta }) => ({ content, meta })))

it('[I14.rolling-hosts] two nodes with a host each, restarted one after the other under load: none lost, none answered twice, repeats are marked', async () => {
  postgres ??= await startPostgres()
  const env = {
    DATABASE_URL: await postgres.freshDatabase(),
    SWITCHBOARD_KEY: randomBytes(32).toString('base64'),
  }
  const nodes = [await openNode(env), await openNode(env)]
  const hosts = []
  for (const node of nodes) hosts.push(await openHost(node, env))
  const anyUrl = (at: number) => () => nodes[at % 2]?.daemon?.url ?? nodes[(at + 1) % 2]?.daemon?.url ?? null
  const readers = PEOPLE.map((who, at) => {
    const reader = readEvents(() => anyUrl(at)()?.concat('/hooks/ci/events') ?? null, { 'x-sender': who })
    scene.onEnd(() => reader.stop())
    return reader
  })
  await until('all watch', () => readers.every((reader) => reader.connections() > 0))

  let posted = 0
  const load = Promise.all(
    PEOPLE.map(async (who, at) => {
      for (let n = 0; n < EACH; n++) {
        const key = `${who}-${n}`
        await persist(anyUrl(at + n), (url) =>
          post(`${url}/hooks/ci`, `${who} says ${n}`, { 'x-sender': who, 'idempotency-key': key }),
        )
        posted += 1
      }
    }),
  )
  const total = PEOPLE.length * EACH
  for (const [at, node] of nodes.entries()) {
    await until('the load runs', () => posted >= (total / 4) * (at + 1))
    const leaving = node.daemon
    node.daemon = null
    expect((await leaving?.terminate())?.code).toBe(0)
    await node.start()
  }
  await load

  const [{ data }] = nodes as [Node, Node]
  const { counts } = await settled(data)
  expect(counts).toMatchObject({ received: total, answered: total, failed: 0, refused: 0, expired: 0 })
  const texts = PEOPLE.flatMap((who) => Array.from({ length: EACH }, (_, n) => `${who} says ${n}`))
  expect((await turnsOf(data)).map(({ text }) => text).sort()).toEqual([...texts].sort())
  const replies = (await sendsOf(data)).filter(({ cause }) => cause === 'reply')
  expect(replies.map(({ text }) => text.replace(/^\(.*?\)\s*/s, '')).sort()).toEqual(
    texts.map((text) => `re: ${text}`).sort(),
  )
  expect(new Set(replies.map(({ turn }) => turn)).size).toBe(total)
  // As people saw it: each answer once, or with its note.
  await until('all answers are read', () =>
    readers.every((reader) => new Set(reader.events.map(({ data: text }) => text)).size >= EACH),
  )
  for (const [at, reader] of readers.entries())
    for (let n = 0; n < EACH; n++)
      expect(
        reader.events.filter(({ data: text }) => text === `re: ${PEOPLE[at]} says ${n}`).length,
        `${PEOPLE[at]} ${n}`,
      ).toBeLessThanOrEqual(1)
  // As the hosts saw it: what came a second time says so.
  for (const text of texts) {
    const given = promptsOf(hosts).filter(({ content }) => content === text)
    expect(given.length, text).toBeGreaterThanOrEqual(1)
    expect(given.filter(({ meta }) => meta.redelivery !== 'true').length, text).toBe(1)
  }
  for (const { data: each } of nodes) await expectLedgerHolds(each)
})
