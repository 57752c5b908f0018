// A cluster under test: its own PostgreSQL and three real daemons with one configuration. The world around them
// outlives them: an agent, a receiver of answers, Telegram, and one public address for the three.
import { randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createFakeTelegram, type FakeTelegram } from '../../../src/testing/emulate.ts'
import { freePort } from '../../../src/testing/free-port.ts'
import { type PostgresServer, startPostgres } from '../../../src/testing/postgres/server.ts'
import type { Daemon } from '../daemon.ts'
import { CROWD_SECRET, type Scene } from '../scene.ts'
import { createDatabaseProbe, type DatabaseProbe } from './database-probe.ts'
import { createRecordingAgent, type RecordingAgent } from './recording-agent.ts'
import { createRecordingPlace, type RecordingPlace } from './recording-place.ts'
import { createWire, type Wire } from './tcp-proxy.ts'

export interface ClusterNode {
  readonly index: number
  readonly data: string
  readonly url: string
  /** The name of the node in the store. It is set after the first start. */
  name(): string
  daemon(): Daemon
  /** Starts the node, later again on the same port with the same folder. */
  start(): Promise<Daemon>
}

export interface Cluster {
  readonly postgres: PostgresServer
  readonly probe: DatabaseProbe
  readonly nodes: readonly ClusterNode[]
  /** The wire between the last node and the database. */
  readonly wire: Wire
  readonly agent: RecordingAgent
  readonly place: RecordingPlace
  readonly telegram: FakeTelegram
  node(name: string): ClusterNode
}

export interface ClusterOptions {
  readonly nodes?: number
  readonly workMs?: number
  /** Further integrations and agents, as YAML. */
  readonly integrations?: string
  readonly agents?: string
  /** Put in front of the command of a node, for example for a wrong clock. */
  readonly under?: (index: number) => readonly string[]
  /** Changes the configuration of one node. */
  readonly configOf?: (index: number, yaml: string) => string
}

/** The people who may talk to the bot. */
export const TALKERS = [412_587_349, 412_587_350, 412_587_351]

export async function openCluster(scene: Scene, options: ClusterOptions = {}): Promise<Cluster> {
  const postgres = await startPostgres()
  scene.onEnd(() => postgres.stop())
  const direct = await postgres.freshDatabase()
  const probe = await createDatabaseProbe(direct)
  scene.onEnd(() => probe.stop())
  const wire = await createWire(() => [Number(new URL(direct).port)])
  scene.onEnd(() => wire.close())
  const agent = await createRecordingAgent(options.workMs ?? 250)
  scene.onEnd(() => agent.stop())
  const place = await createRecordingPlace()
  scene.onEnd(() => place.stop())
  const telegram = await createFakeTelegram()
  scene.onEnd(() => telegram.stop())

  const nodes: ClusterNode[] = []
  let turn = 0
  const front = await createWire(() => {
    turn += 1
    return nodes.map((_, at) => Number(new URL(nodes[(at + turn) % nodes.length]?.url ?? '').port))
  })
  scene.onEnd(() => front.close())
  const yaml = configuration({ place, telegram, front: front.port }, options)
  const key = randomBytes(32).toString('base64')
  const count = options.nodes ?? 3
  const through = new URL(direct)
  through.port = String(wire.port)
  for (let index = 0; index < count; index += 1) {
    const database = index === count - 1 ? through.href : direct
    const env = {
      DATABASE_URL: database,
      SWITCHBOARD_KEY: key,
      AGENT_URL: agent.url,
    }
    const text = options.configOf?.(index, yaml) ?? yaml
    nodes.push(
      await prepareNode(scene, {
        index,
        yaml: text,
        env,
        token: telegram.token,
        under: options.under?.(index) ?? [],
      }),
    )
  }
  await Promise.all(nodes.map((node) => node.start()))
  const node = (name: string) => {
    const found = nodes.find((one) => one.name() === name)
    if (!found) throw new Error(`there is no node ${name}`)
    return found
  }
  return { postgres, probe, nodes, wire, agent, place, telegram, node }
}

async function prepareNode(
  scene: Scene,
  about: {
    index: number
    yaml: string
    env: Record<string, string>
    token: string
    under: readonly string[]
  },
): Promise<ClusterNode> {
  const data = scene.folder()
  const config = join(data, 'switchboard.yaml')
  writeFileSync(join(data, 'crowd.secret'), CROWD_SECRET, { mode: 0o600 })
  writeFileSync(join(data, 'telegram.token'), about.token, { mode: 0o600 })
  writeFileSync(config, about.yaml)
  const port = await freePort()
  let daemon: Daemon | null = null
  const running = () => {
    if (!daemon) throw new Error(`node ${about.index} was never started`)
    return daemon
  }
  return {
    index: about.index,
    data,
    url: `http://127.0.0.1:${port}`,
    name() {
      const ready = running()
        .log()
        .find((line) => line.msg === 'switchboard is ready')
      return String(ready?.node)
    },
    daemon: running,
    async start() {
      daemon = await scene.start({ data, config, port, env: about.env, under: about.under })
      return daemon
    },
  }
}

function configuration(
  world: { place: RecordingPlace; telegram: FakeTelegram; front: number },
  options: ClusterOptions,
): string {
  const talkers = TALKERS.map((id) => `"${id}"`).join(', ')
  return `server: { public_url: "http://127.0.0.1:${world.front}" }
store: env:DATABASE_URL
tunables: { sender_limit: { rps: 0, burst: 0 }, flood_limit: { rps: 0, burst: 0 } }
integrations:
  - { id: crowd, platform: webhook, secret: "file:crowd.secret", signature: plain,
      out: { url: "${world.place.url}", allow_private: true } }
  - { id: tg, platform: telegram, token: "file:telegram.token", api_root: "${world.telegram.url}", mode: polling,
      access: { dm: allowlist, allow_from: [${talkers}], approvers: ["${TALKERS[0]}"] } }
${options.integrations ?? ''}agents:
  - id: slow
    connector: { type: chorus, url: "env:AGENT_URL", allow_private: true }
    inbound_bindings: [{ plugin: webhook, instance: crowd }]
  - id: demo
    connector: { type: demo }
    inbound_bindings: [{ plugin: telegram, instance: tg }]
${options.agents ?? ''}`
}
