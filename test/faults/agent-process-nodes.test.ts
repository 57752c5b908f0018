// Two real nodes and an agent that runs as a process (the double of Claude Code, an ACP agent): a conversation stays with the node that began it, whichever node is written
// to; that node killed, the person and doctor are told, and /new begins elsewhere.
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { type ClusterNode, openCluster } from './cluster/cluster-scene.ts'
import { openWebWindow } from './cluster/web-window.ts'
import { createScene, switchboard } from './scene.ts'
import { until } from './until.ts'

const scene = createScene()
const fixture = (path: string) => fileURLToPath(new URL(`../../src/agents/${path}`, import.meta.url))
const DOUBLE = fixture('claude-code/fixtures/claude-double.mjs')
const ACP_AGENT = fixture('acp/fixtures/scripted-agent.mjs')

interface AgentView {
  readonly id: string
  readonly detail?: string
  readonly processes?: readonly unknown[]
}

/** What doctor says, whatever it complains about. */
const agentOf = async ({ data }: ClusterNode) => {
  const { stdout } = await switchboard(data, 'doctor', '--json')
  const { agents } = JSON.parse(stdout) as { readonly agents: readonly AgentView[] }
  return agents.find(({ id }) => id === 'kate')
}
const programs = async (node: ClusterNode) => (await agentOf(node))?.processes?.length ?? 0

interface Kind {
  readonly name: string
  /** What it answers. */
  readonly echo: string
  readonly connector: (folder: string) => object
}

const KINDS: readonly Kind[] = [
  {
    name: 'claude-code [I22.cc-nodes]',
    echo: 'You said:',
    connector(folder) {
      const command = join(folder, 'claude')
      writeFileSync(command, `#!/bin/sh\nexec "${process.execPath}" "${DOUBLE}" "$@"\n`)
      chmodSync(command, 0o755)
      return { type: 'claude-code', command, cwd: 'HOME_OF_THE_NODE', env: { HOME: 'HOME_OF_THE_NODE' } }
    },
  },
  {
    name: 'acp [I22.acp-nodes]',
    echo: 'echo:',
    connector: () => ({
      type: 'acp',
      command: process.execPath,
      args: [ACP_AGENT, '--load'],
      cwd: 'HOME_OF_THE_NODE',
    }),
  },
]

it.for(KINDS)(
  '[S13.sessions-stay] $name, real nodes: a session stays where it began; that node killed, the person and doctor are told, and /new begins elsewhere',
  { timeout: 300_000 },
  async ({ echo, connector }) => {
    const folder = scene.folder()
    for (const index of [0, 1]) mkdirSync(join(folder, `home-${index}`))
    const cluster = await openCluster(scene, {
      nodes: 2,
      integrations: '  - { id: web, platform: web }\n',
      // Each node has a home and a folder of its own, as two machines have.
      agents: `  - id: kate
    connector: ${JSON.stringify(connector(folder))}
    inbound_bindings: [{ plugin: web, instance: web }]
`,
      configOf: (index, yaml) => yaml.replaceAll('HOME_OF_THE_NODE', join(folder, `home-${index}`)),
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
    await (await windowOf(one)).sees(`${echo} hello`)
    const home = (await programs(one)) > 0 ? one : two
    const other = home === one ? two : one
    expect(await programs(other)).toBe(0)

    const window = await windowOf(other)
    await window.say('once more')
    await window.sees(`${echo} once more`)
    expect([await programs(home), await programs(other)]).toEqual([1, 0])

    await home.daemon().kill9()
    await window.say('anybody')
    await window.sees('which is gone: /new')
    await until('doctor tells it', async () =>
      (await agentOf(other))?.detail?.includes('nodes that are gone'),
    )
    await window.say('/new')
    await window.say('afresh')
    await window.sees(`${echo} afresh`)
    expect(await programs(other)).toBe(1)
  },
)
