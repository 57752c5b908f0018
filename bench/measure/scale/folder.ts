// A data folder with a large configuration, its seeding, and requests to its daemon.
import { once } from 'node:events'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { childEnvironment, startNode } from '../../processes.ts'
import type { SeedPlan } from '../../seed-store.ts'
import type { SwitchboardFolder } from '../../servers/switchboard.ts'
import type { BenchContext } from '../context.ts'

export type Config = Readonly<Record<string, unknown>>

const NONE = { rps: 0, burst: 0 }
/** Switches off the limits that would refuse a deliberate load. */
export const UNLIMITED = { sender_limit: NONE, flood_limit: NONE }

export function makeLargeFolder(context: BenchContext, name: string, config: Config): SwitchboardFolder {
  const dir = context.freshFolder(name)
  const dataDir = join(dir, 'data')
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  const configFile = join(dir, 'switchboard.yaml')
  writeConfig(configFile, config)
  return { dataDir, configFile, entry: context.options.entry, env: { BENCH_SECRET: context.secret } }
}

/** Writes one line per entry, as a person would. The values are in flow style, because JSON is valid there. */
export function writeConfig(file: string, config: Config): number {
  const lines = Object.entries(config).flatMap(([key, value]) =>
    Array.isArray(value)
      ? [`${key}:`, ...value.map((one) => `  - ${JSON.stringify(one)}`)]
      : [`${key}: ${JSON.stringify(value)}`],
  )
  const text = `${lines.join('\n')}\n`
  writeFileSync(file, text)
  return Buffer.byteLength(text)
}

export function webhook(id: string, more: Config = {}): Config {
  const secret = { secret: 'env:BENCH_SECRET', two_way: true, conversation: '{{ event.channel }}' }
  return { id, platform: 'webhook', ...secret, ...more }
}

export function agent(id: string, bindings: readonly Config[], connector = 'channel'): Config {
  return { id, connector: { type: connector }, inbound_bindings: bindings }
}

export function bound(instance: string, more: Config = {}): Config {
  return { plugin: 'webhook', instance, ...more }
}

/** Integrations that are all bound to one absent agent. The load goes to `bench`, the last of them. */
export function manyIntegrations(many: number): Config {
  const ids = Array.from({ length: many }, (_, at) => (at === many - 1 ? 'bench' : `hook-${at}`))
  return {
    tunables: UNLIMITED,
    integrations: ids.map((id) => webhook(id)),
    agents: [
      agent(
        'bench',
        ids.map((id) => bound(id)),
      ),
    ],
  }
}

export async function seed(context: BenchContext, folder: SwitchboardFolder, plan: SeedPlan): Promise<void> {
  const script = fileURLToPath(new URL('../../seed-store.ts', import.meta.url))
  const args = ['--import', 'tsx', script, folder.dataDir, context.options.entry, JSON.stringify(plan)]
  const child = startNode('any', args, {
    stdio: ['ignore', 'inherit', 'inherit'],
    env: childEnvironment({}),
  })
  const [code] = await once(child, 'exit')
  if (code !== 0) throw new Error(`seeding ended with ${code}`)
}

export function tokenOf(folder: SwitchboardFolder): string {
  return readFileSync(join(folder.dataDir, 'admin.token'), 'utf8').trim()
}

export interface Asked {
  readonly ms: number
  readonly body: string
}

/** Asks the API of the daemon. Throws for any status other than 200. */
export async function ask(
  folder: SwitchboardFolder,
  url: string,
  path: string,
  method: 'GET' | 'POST' = 'GET',
): Promise<Asked> {
  const token = tokenOf(folder)
  const began = performance.now()
  const answer = await fetch(`${url}/api/${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    ...(method === 'POST' ? { body: '{}' } : {}),
  })
  const body = await answer.text()
  if (!answer.ok) throw new Error(`/api/${path} answered ${answer.status}: ${body.slice(0, 300)}`)
  return { ms: performance.now() - began, body }
}
