// Two real nodes and one Claude Code agent (the double): a conversation stays with the node that began it, whichever node is written
// to; that node killed, the person and doctor are told, and /new begins elsewhere.
import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { type ClusterNode, openCluster } from './cluster/cluster-scene.ts'
import { openWebWindow } from './cluster/web-window.ts'
import { createScene, switchboard } from './scene.ts'
import { until } from './until.ts'

const scene = createScene()
const DOUBLE = fileURLToPath(
  new URL('../../src/agents/claude-code/fixtures/claude-double.mjs', import.meta.url),
)

interface AgentView {
  readonly id: string
  readonly detail?: string
  readonly processes?: readonly unknown[]
}

/** What doctor says, whatever it complains about. */
const agentOf = async ({ data }: ClusterNode) => {
  const { stdout } = await switchboard(data, 'doctor', '--json')
  const { agents } = JSON.parse(stdout) as { readonly agents: readonly AgentView[] }
  return agents.find(({ id }) => id === 'claude')
}
const programs = async (node: ClusterNode) => (await agentOf(node))?.processes?.length ?? 0

it('[I22.cc-nodes] [S13.sessions-stay] real nodes: a session stays where it began; that node killed, the person and doctor are told, and /new begins elsewhere', async () => {
  const folder = scene.folder()
  const command = join(folder, 'claude')
  writeFileSync(command, `#!/bin/sh\nexec "${process.execPath}" "${DOUBLE}" "$@"\n`)
  chmodSync(command, 0o755)
  const cluster = await openCluster(scene, {
    nodes: 2,
    integrations: '  - { id: web, platform: web }\n',
    // Each node has a home and a folder of its own, as two machines have.
    agents: `  - id: claude
    connector: { type: claude-code, command: ${command}, cwd: ./work, env: { HOME: HOME_OF_THE_NODE } }
    inbound_bindings: [{ plugin: web, instance: web }]
`,
    configOf: (index, yaml) => yaml.replace('HOME_OF_THE_NODE', join(folder, `home-${index}`)),
  })
  const [one, two] = cluster.nodes
  if (!one || !two) throw new Error('there are not two nodes')
  const windows = new Map([one, two].map((node) => [node, openWebWindow(node)]))
  const windowOf = async (node: ClusterNode) => {
    const window = await windows.get(node)
    if (!window) throw new Error('no window')
    return window
  }
  for (const node of [one, two]) {
    const { stream } = await windowOf(node)
    scene.onEnd(() => stream.stop())
  }
  await (await windowOf(one)).say('hello')
  await (await windowOf(one)).sees('You said: hello')
  const home = (await programs(one)) > 0 ? one : two
  const other = home === one ? two : one
  expect(await programs(other)).toBe(0)

  const window = await windowOf(other)
  await window.say('once more')
  await window.sees('You said: once more')
  expect([await programs(home), await programs(other)]).toEqual([1, 0])

  await home.daemon().kill9()
  await window.say('anybody')
  await window.sees('which is gone: /new')
  await until('doctor tells it', async () => (await agentOf(other))?.detail?.includes('nodes that are gone'))
  await window.say('/new')
  await window.say('afresh')
  await window.sees('You said: afresh')
  expect(await programs(other)).toBe(1)
}, 300_000)
