// Across nodes: a browser on one, the agent's host on another; verdicts from anywhere; clocks and configurations that
// differ.
import { spawnSync } from 'node:child_process'
import { expect, it, type TestContext } from 'vitest'
import { type ClaudeCode, startClaudeCode } from '../../src/testing/emulate.ts'
import { expectNothingLost, tell } from './cluster/cluster-checks.ts'
import { type Cluster, type ClusterNode, openCluster, TALKERS } from './cluster/cluster-scene.ts'
import { startLoad } from './cluster/load.ts'
import { openWebWindow } from './cluster/web-window.ts'
import { BINARY, bareEnvironment } from './daemon.ts'
import type { Audit } from './river-checks.ts'
import { askJson, askLines, createScene, switchboard } from './scene.ts'
import { pause, until } from './until.ts'

const scene = createScene()

interface Approval {
  readonly id: string
  readonly state: string
  readonly decided_by: string | null
}

const approvalsOf = (node: ClusterNode) => askLines<Approval>(node.data, 'approvals', '--all')

/** A Claude Code attached to this node for `kate`. */
async function attachHost(node: ClusterNode): Promise<ClaudeCode> {
  const host = await startClaudeCode({
    command: process.execPath,
    args: [BINARY, 'channel', '--agent', 'kate', '--data', node.data],
    cwd: node.data,
    env: bareEnvironment(),
    channels: ['server:switchboard'],
  })
  scene.onEnd(async () => {
    host.kill('SIGKILL')
    await host.exited
  })
  return host
}

async function openTwo(): Promise<readonly [Cluster, ClusterNode, ClusterNode]> {
  const cluster = await openCluster(scene, {
    nodes: 2,
    integrations: '  - { id: web, platform: web }\n',
    agents: `  - id: kate
    connector: { type: channel, dialect: claude }
    inbound_bindings: [{ plugin: web, instance: web }]
`,
  })
  const [here, there] = cluster.nodes
  if (!here || !there) throw new Error('there are not two nodes')
  return [cluster, here, there]
}

it('[S13.browser-across] [S13.reachable-lanes] [S13.verdict-across] [S10.any-node] a browser on one node talks to the host on another, and its yes reaches it', async () => {
  const [, here, there] = await openTwo()
  const window = await openWebWindow(here)
  scene.onEnd(() => window.stream.stop())
  const host = await attachHost(there)
  host.onPrompt = ({ content, meta }) =>
    void host.call('reply', { chat_id: meta.chat_id, text: `from the other side: ${content}` })
  await window.say('anybody there?')
  await window.sees('from the other side: anybody there?')
  expect(host.prompts).toHaveLength(1)

  host.onPrompt = () => undefined
  await window.say('list the files')
  await until('the message is there', () => host.prompts[1])
  const asked = host.ask({ toolName: 'Bash', description: 'x', inputPreview: '{ "command": "ls" }' })
  await window.sees(asked.id)
  await window.say(`yes ${asked.id}`)
  expect(await asked.decided).toBe('allow')
  await until('it is passed on', async () =>
    (await approvalsOf(here)).some(({ id, state }) => id === asked.id && state === 'relayed'),
  )
  // Both nodes say the same of the agent.
  for (const node of [here, there]) {
    const status = await askJson<{ agents: { id: string; attached: boolean }[] }>(node.data, 'status')
    expect(status.agents.find(({ id }) => id === 'kate')).toMatchObject({ attached: true })
  }
})

it('[I6.decide-once] two nodes decide the same approval at once: one winner, the other is told who', async () => {
  const [cluster, here, there] = await openTwo()
  const person = cluster.telegram.person({ id: TALKERS[0] ?? 0 })
  for (let round = 0; round < 3; round += 1) {
    person.says(`deploy part${round}`)
    const { id } = await until('it is asked', async () =>
      (await approvalsOf(here)).find(({ state }) => state === 'pending'),
    )
    const both = await Promise.all([
      switchboard(here.data, 'approvals', 'allow', id),
      switchboard(there.data, 'approvals', 'deny', id),
    ])
    expect(both.map(({ code }) => code).toSorted()).toEqual([0, 1])
    const loser = both.find(({ code }) => code === 1)
    expect(loser?.stderr).toMatch(/already answered by/)
    const allowed = both[0]?.code === 0
    // The agent acted on the one decision, once.
    await until('it is settled', async () =>
      (await approvalsOf(there)).some((one) => one.id === id && one.state === 'relayed'),
    )
    const outcomes = () => person.sees().filter((text) => /^🚀 Deployed|^Not deployed/.test(text))
    await until('the agent says what it did', () => outcomes().length > round)
    expect(outcomes()).toHaveLength(round + 1)
    expect(outcomes().at(-1)).toMatch(allowed ? /^🚀 Deployed/ : /^Not deployed: denied/)
  }
  for (const node of cluster.nodes)
    expect(await askJson<Audit>(node.data, 'audit', 'verify')).toMatchObject({ ok: true, chain: 'intact' })
})

it('[I6.clock-skew] nodes whose clocks are off by five minutes work like the others', async (context: TestContext) => {
  if (spawnSync('faketime', ['--version']).error) return context.skip('needs faketime')
  const cluster = await openCluster(scene, {
    under: (index) => {
      const off = ['+300s', '-300s', null][index]
      return off ? ['faketime', '--exclude-monotonic', '-f', off] : []
    },
  })
  const { nodes, telegram, probe } = cluster
  const load = startLoad({ urls: nodes.map((node) => node.url), telegram })
  await pause(8_000)
  const outcome = await expectNothingLost(cluster, load)
  tell('clocks off by five minutes', outcome)
  // Nobody took away what another one held, and nothing waited for a clock to come round.
  expect(outcome).toMatchObject({ repeats: 0, labelled: 0, conflicts: 0 })
  const now = await probe.now()
  // They really believed it to be another time.
  const believed = nodes.map((node) => Date.parse(node.daemon().log()[0]?.time ?? '') - now)
  expect(believed[0]).toBeGreaterThan(200_000)
  expect(believed[1]).toBeLessThan(-300_000)
  const { stdout } = await switchboard(nodes[2]?.data ?? '', 'doctor', '--verbose')
  expect(stdout).toMatch(/ahead of/)
  expect(stdout).toMatch(/behind/)
  for (const turn of await probe.turns()) {
    expect(turn.received_at).toBeLessThanOrEqual(now)
    expect(turn.received_at).toBeGreaterThan(now - 120_000)
  }
})

it('[S3.digest-compared] doctor on any node names those whose configuration differs', async () => {
  const cluster = await openCluster(scene, {
    nodes: 2,
    configOf: (index, yaml) =>
      index === 0 ? yaml : yaml.replace('id: demo\n', 'id: demo\n    notify_on: failure\n'),
  })
  const [here, there] = cluster.nodes
  if (!here || !there) throw new Error('there are not two nodes')
  for (const [asked, other] of [
    [here, there],
    [there, here],
  ] as const) {
    const told = await until('doctor tells', async () => {
      const { stdout } = await switchboard(asked.data, 'doctor')
      return /the nodes run different configurations: .*/.exec(stdout)?.[0]
    })
    expect(told).toContain(asked.name())
    expect(told).toContain(other.name())
  }
})
