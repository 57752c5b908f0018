// Switchboard itself (d): the real daemon on a fresh data folder, with one signed webhook. After a load it checks that
// every acknowledged message is there and that the ledger holds.
import { execFile } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { type Core, childEnvironment, type Server, startServer } from '../processes.ts'

/** With `absent` no agent is attached and turns queue. With `demo` the demo agent takes and answers them. */
export type AgentKind = 'absent' | 'demo'

export interface SwitchboardFolder {
  readonly dataDir: string
  readonly configFile: string
  readonly entry: string
  readonly env: Readonly<Record<string, string>>
}

export interface Counts {
  readonly received: number
  readonly queued: number
  readonly answered: number
  readonly failed: number
  readonly open: number
  readonly sendsOpen: number
}

export const HOOK_PATH = '/hooks/bench'
const WEBHOOK =
  '{ id: bench, platform: webhook, secret: env:BENCH_SECRET, two_way: true, conversation: "{{ event.channel }}" }'
const SLACK_TOKENS = { BENCH_BOT: 'xoxb-bench', BENCH_APP: 'xapp-1-A00000001-bench' }

/** How people write through Slack: the Web API, and the number of people. */
export interface SlackSide {
  readonly mode: 'socket' | 'events'
  readonly apiUrl: string
  readonly people: number
}

/** The integration with the names that the load uses. */
function slackIntegration({ mode, apiUrl, people }: SlackSide): string {
  const ids = Array.from({ length: people }, (_, at) => `U${String(at).padStart(8, '0')}`)
  const key = mode === 'socket' ? 'app_token: env:BENCH_APP' : 'signing_secret: env:BENCH_SECRET'
  return `{ id: bench, platform: slack, mode: ${mode}, bot_token: env:BENCH_BOT, ${key}, api_url: "${apiUrl}", access: { dm: allowlist, allow_from: [${ids.join(', ')}] } }`
}

/** Makes a data folder and its configuration. Limits that would drop a deliberate load are off by default. */
export function makeFolder(at: {
  readonly dir: string
  readonly entry: string
  readonly agent: AgentKind
  readonly secret: string
  /** People write through Slack instead of the webhook. */
  readonly slack?: SlackSide
  /** For several nodes on one database: its address, and their shared key. */
  readonly cluster?: { readonly store: string; readonly key: string }
}): SwitchboardFolder {
  const dataDir = join(at.dir, 'data')
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  const configFile = join(at.dir, 'switchboard.yaml')
  // `channel` without a host is an absent agent. The load asks for no notice about that.
  const connector = at.agent === 'demo' ? 'demo' : 'channel'
  writeFileSync(
    configFile,
    [
      ...(at.cluster ? ['store: env:BENCH_STORE'] : []),
      // The load is measured, not the guards against it.
      'tunables: { sender_limit: { rps: 0, burst: 0 }, flood_limit: { rps: 0, burst: 0 } }',
      'integrations:',
      `  - ${at.slack ? slackIntegration(at.slack) : WEBHOOK}`,
      'agents:',
      '  - id: bench',
      `    connector: { type: ${connector} }`,
      `    inbound_bindings: [{ plugin: ${at.slack ? 'slack' : 'webhook'}, instance: bench }]`,
      '',
    ].join('\n'),
  )
  const shared = at.cluster && { BENCH_STORE: at.cluster.store, SWITCHBOARD_KEY: at.cluster.key }
  return {
    dataDir,
    configFile,
    entry: at.entry,
    env: { BENCH_SECRET: at.secret, ...SLACK_TOKENS, ...shared },
  }
}

export function upArguments(folder: SwitchboardFolder, port: number): string[] {
  const { entry, dataDir, configFile } = folder
  return [entry, 'up', '--data', dataDir, '--config', configFile, '--port', String(port), '--json']
}

export function startSwitchboard(
  folder: SwitchboardFolder,
  core: Core = 'server',
  nodeFlags: readonly string[] = [],
): Promise<Server> {
  return startServer(core, [...nodeFlags, ...upArguments(folder, 0)], folder.env)
}

/** The counts of the running daemon, over its API. */
export async function countsOf(folder: SwitchboardFolder, url: string): Promise<Counts> {
  const token = readFileSync(join(folder.dataDir, 'admin.token'), 'utf8').trim()
  const response = await fetch(`${url}/api/status`, { headers: { authorization: `Bearer ${token}` } })
  if (!response.ok) throw new Error(`/api/status answered ${response.status}`)
  const { counts, outbox } = (await response.json()) as StatusShape
  return {
    ...counts,
    open: counts.queued + counts.handed + counts.seen,
    sendsOpen: outbox.queued,
  }
}

interface StatusShape {
  readonly counts: Readonly<Record<'received' | 'queued' | 'handed' | 'seen' | 'answered' | 'failed', number>>
  readonly outbox: { readonly queued: number; readonly failed: number }
}

interface AuditShape {
  readonly ok: boolean
  readonly entries: number
  readonly chain: string
  readonly conservation: { readonly received: number; readonly accounted: number; readonly ok: boolean }
}

/** Throws unless exactly `sent` messages were received and the ledger is intact. It asks as an operator would. */
export async function verifyNothingLost(folder: SwitchboardFolder, sent: number): Promise<void> {
  const status = await command<StatusShape>(folder, ['status'])
  if (status.counts.received !== sent) {
    throw new Error(`${sent} messages were acknowledged, ${status.counts.received} are there`)
  }
  const audit = await command<AuditShape>(folder, ['audit', 'verify'])
  if (!audit.ok || audit.conservation.received !== sent) {
    throw new Error(`the ledger does not hold: ${JSON.stringify(audit)}`)
  }
}

async function command<Answer>(folder: SwitchboardFolder, words: readonly string[]): Promise<Answer> {
  const { entry, dataDir, configFile, env } = folder
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [entry, ...words, '--json', '--data', dataDir, '--config', configFile],
    { env: childEnvironment(env), maxBuffer: 64 * 1024 * 1024 },
  )
  return JSON.parse(stdout) as Answer
}
