// A hosted server without any logic of the protocol. The test writes its messages and reads what the host sent.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { writeConfig } from './scene.ts'
import { until } from './until.ts'

const PROGRAM = fileURLToPath(new URL('./fixtures/seed-server.mjs', import.meta.url))

export interface HeardMessage {
  readonly method?: string
  readonly params: Readonly<Record<string, unknown>>
}

export interface HeardCall {
  readonly name: string
  readonly arguments: Readonly<Record<string, unknown>>
}

export function hostedServer(data: string, name: string, capabilities: object, tools: readonly string[]) {
  const portFile = join(data, `${name}.port`)
  const url = () => `http://127.0.0.1:${readFileSync(portFile, 'utf8')}/`
  const heard = async () => (await (await fetch(url())).json()) as readonly HeardMessage[]
  const calls = async () =>
    (await heard())
      .filter(({ method }) => method === 'tools/call')
      .map(({ params: { name, arguments: args } }) => ({ name, arguments: args }) as HeardCall)
  const launch = {
    command: process.execPath,
    args: [PROGRAM, JSON.stringify({ capabilities, tools, portFile })],
  }
  return {
    /** `more` adds keys to the entry. */
    entry: (more: object = {}) => JSON.stringify({ ...launch, ...more }),
    yaml: JSON.stringify(launch),
    heard,
    calls,
    up: () =>
      until(`${name} is up`, async () =>
        (await heard()).some(({ method }) => method === 'notifications/initialized'),
      ),
    async push(...messages: object[]) {
      await fetch(url(), { method: 'POST', body: JSON.stringify(messages) })
    },
    call: (found: (one: HeardCall) => boolean) =>
      until(`${name} is called`, async () => (await calls()).find(found)),
  }
}

/** A configuration with the page and the agent `demo`, which hosts these servers. Each entry gets `approved`. */
export function hostingConfig(
  data: string,
  servers: Readonly<Record<string, object>>,
  approved: Readonly<Record<string, unknown>> = {},
): string {
  const names = Object.keys(servers)
  const channels = { enabled: true, approved: names.map((server) => ({ server, ...approved })) }
  const inbound_bindings = [{ plugin: 'web', instance: 'web', allowed_channel_servers: names }]
  return writeConfig(
    data,
    JSON.stringify({
      mcp_servers: servers,
      integrations: [{ id: 'web', platform: 'web' }],
      agents: [{ id: 'demo', connector: { type: 'demo' }, channels, inbound_bindings }],
    }),
  )
}
