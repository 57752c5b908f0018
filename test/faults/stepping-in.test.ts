// Stepping in on three real nodes: taken at one that is then killed, written in and given back at another, while the agent's
// host sits at a third. Nothing is lost, nothing is said twice.
import { expect, it } from 'vitest'
import { startClaudeCode } from '../../src/testing/emulate.ts'
import { openCluster } from './cluster/cluster-scene.ts'
import { openWebWindow } from './cluster/web-window.ts'
import { BINARY, bareEnvironment } from './daemon.ts'
import type { Audit } from './river-checks.ts'
import { askJson, askLines, createScene, switchboard } from './scene.ts'
import { until } from './until.ts'

const scene = createScene()

interface Conversation {
  readonly address: string
  readonly takeover: { readonly state: string; readonly holder: string } | null
}

it('[I21.three-nodes] [I21.command-line] a conversation is taken at a node that dies, and goes on at the others', async () => {
  const { nodes } = await openCluster(scene, {
    nodes: 3,
    integrations: '  - { id: web, platform: web }\n',
    agents: `  - id: kate
    connector: { type: channel, dialect: claude }
    inbound_bindings: [{ plugin: web, instance: web }]
`,
  })
  const [door, desk, bench] = nodes
  if (!door || !desk || !bench) throw new Error('there are not three nodes')
  const window = await openWebWindow(door)
  scene.onEnd(() => window.stream.stop())
  const host = await startClaudeCode({
    command: process.execPath,
    args: [BINARY, 'channel', '--agent', 'kate', '--data', bench.data],
    cwd: bench.data,
    env: bareEnvironment(),
    channels: ['server:switchboard'],
  })
  scene.onEnd(async () => {
    host.kill('SIGKILL')
    await host.exited
  })
  host.onPrompt = () => undefined
  await window.say('where is my order?')
  const first = await until('the agent has it', () => host.prompts[0])

  const [there] = await askLines<Conversation>(desk.data, 'conversations', 'list')
  const address = there?.address ?? ''
  const taken = await askJson<{ won: boolean }>(desk.data, 'conversations', 'take', address)
  expect(taken.won).toBe(true)
  await desk.daemon().kill9()

  await window.say('is anybody there?')
  await until('a person is to hear it', async () =>
    (await askLines<{ reason: string }>(bench.data, 'turns')).some(({ reason }) => reason === 'held'),
  )
  const [held] = await askLines<Conversation>(bench.data, 'conversations', 'list', '--held')
  expect(held?.takeover).toMatchObject({ state: 'held', holder: 'local' })
  const early = await host.call('reply', { chat_id: first.meta.chat_id, text: 'it is lost' })
  expect([early.isError, JSON.stringify(early)]).toEqual([true, expect.stringContaining('held')])
  const said = await askJson<{ status: string }>(
    bench.data,
    'conversations',
    'say',
    address,
    'It comes tomorrow.',
  )
  expect(said.status).toBe('sent')
  await window.sees('It comes tomorrow.')
  await askJson(bench.data, 'conversations', 'give', address)
  const late = await host.call('reply', { chat_id: first.meta.chat_id, text: 'it is lost' })
  expect(late.isError).toBe(true)

  await window.say('thank you')
  const next = await until('the agent has it again', () => host.prompts[1])
  expect(next.content).toContain('is anybody there?')
  expect(next.content).toContain('It comes tomorrow.')
  expect(next.content.trimEnd().endsWith('thank you')).toBe(true)
  await host.call('reply', { chat_id: next.meta.chat_id, text: 'you are welcome' })
  await window.sees('you are welcome')
  expect(window.stream.events.some(({ data }) => data.includes('it is lost'))).toBe(false)
  expect((await askJson<Audit>(bench.data, 'audit', 'verify')).ok).toBe(true)

  const shown = await askJson<{ thread: { kind: string }[] }>(bench.data, 'conversations', 'show', address)
  expect(shown.thread.some(({ kind }) => kind === 'takeover')).toBe(true)

  // What the command says where it cannot be done.
  const refused = await switchboard(bench.data, 'conversations', 'say', address, 'once more')
  expect([refused.code, refused.stderr.includes('nobody holds')]).toEqual([1, true])
  const nobody = await switchboard(bench.data, 'conversations', 'take', 'no address')
  expect(nobody.code).toBe(2)
})
