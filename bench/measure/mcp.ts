// Hosted channel servers: messages per second from 1 and from 50 of them to the inbox. The peer is the SDK's bare
// client, which reads the same servers and stores nothing. Also the cost of gate, parser, wrapping and session, and 200
// idle servers.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import {
  address,
  createTokenBuckets,
  type ServerPush,
  sessionId,
  sessionKey,
} from '../../src/contract/index.ts'
import { truncate, wrapChannel } from '../../src/kit/index.ts'
import { evaluateGates, type GateFacts, type GateRules } from '../../src/platforms/mcp/gates.ts'
import { parseMessage } from '../../src/platforms/mcp/parse.ts'
import { placeOf } from '../../src/platforms/mcp/thread.ts'
import { residentMb } from '../machine.ts'
import { countsOf, type SwitchboardFolder, startSwitchboard } from '../servers/switchboard.ts'
import { median, medianOrNull, rounded } from '../statistics.ts'
import type { BenchContext } from './context.ts'

export interface HostingFigures {
  readonly servers: number
  readonly messages: number
  readonly per_second: number | null
  readonly bare_per_second: number | null
  /** Median of the rounds' ratios to the bare client. */
  readonly vs_bare: number | null
}

export interface McpReport {
  readonly rounds: number
  readonly hosting: readonly HostingFigures[]
  /** Gates, bucket, parser, cut, wrapping and session id of one message. */
  readonly gate_wrap_session_us: number
  readonly idle: {
    readonly servers: number
    readonly rss_mb: number | null
    /** The additional memory over a daemon without servers. */
    readonly kb_a_server: number | null
    /** The time from the start of the daemon until all are connected. */
    readonly all_up_ms: number
    readonly without_ms: number
  }
}

const SERVERS = [1, 50]
const MOST_MESSAGES = 20_000
const MOST_ROUNDS = 5
const IDLE = 200
const TIMES = 50_000
const GIVE_UP_MS = 180_000
const fixture = (name: string) =>
  fileURLToPath(new URL(`../../src/platforms/mcp/fixtures/${name}`, import.meta.url))

interface Hosted {
  readonly command: string
  readonly args: readonly string[]
}

export async function measureMcp(context: BenchContext): Promise<McpReport> {
  const rounds = Math.min(MOST_ROUNDS, context.options.rounds)
  const messages = Math.min(MOST_MESSAGES, context.options.messages)
  const hosting: HostingFigures[] = []
  for (const servers of SERVERS) hosting.push(await measureHosting(context, servers, messages, rounds))
  const gate_wrap_session_us = rounded(measurePure(rounds), 2)
  context.say(`gate, wrap and session of a channel message: ${gate_wrap_session_us} µs`)
  return { rounds, hosting, gate_wrap_session_us, idle: await measureIdle(context) }
}

async function measureHosting(
  context: BenchContext,
  servers: number,
  messages: number,
  rounds: number,
): Promise<HostingFigures> {
  const each = Math.max(1, Math.floor(messages / servers))
  /** All of them begin when the file exists. */
  const flooding = (goFile: string) => {
    const args = [fixture('bad-server.mjs'), JSON.stringify({ flood: each, size: 100, goFile })]
    return Array.from({ length: servers }, (): Hosted => ({ command: process.execPath, args }))
  }
  const through: number[] = []
  const bare: number[] = []
  for (const round of context.rounds.of(rounds, servers === 1 ? 0.4 : 0.8)) {
    const both = [
      async () => through.push(await intoInbox(context, flooding, each * servers)),
      async () => bare.push(await intoNothing(context, flooding, each * servers)),
    ]
    await context.weather.during(`mcp ${servers}`, round + 1, async () => {
      for (const one of round % 2 === 0 ? both : both.toReversed()) await one()
    })
    context.say(
      `mcp round ${round + 1} of ${rounds}, ${servers} servers: ${Math.round(through[round] ?? 0)}/s into the inbox, ` +
        `bare ${Math.round(bare[round] ?? 0)}/s`,
    )
  }
  return {
    servers,
    messages: each * servers,
    per_second: rounded(medianOrNull(through), 0),
    bare_per_second: rounded(medianOrNull(bare), 0),
    vs_bare: rounded(medianOrNull(through.map((rate, at) => rate / (bare[at] ?? Number.NaN))), 3),
  }
}

type Flooding = (goFile: string) => readonly Hosted[]

/** The rate from the start signal until the last message is in the inbox. */
async function intoInbox(context: BenchContext, flooding: Flooding, expected: number): Promise<number> {
  const goFile = join(context.freshFolder('go'), 'go')
  const hosted = flooding(goFile)
  const folder = makeFolder(context, hosted)
  const daemon = await startSwitchboard(folder)
  try {
    await allUp(folder, daemon.url, hosted.length)
    const began = performance.now()
    writeFileSync(goFile, '')
    for (;;) {
      const { received } = await countsOf(folder, daemon.url)
      const took = performance.now() - began
      if (received >= expected) return (received * 1000) / took
      if (took > GIVE_UP_MS) throw new Error(`mcp: ${received} of ${expected} messages came`)
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
  } finally {
    await daemon.stop()
  }
}

async function intoNothing(context: BenchContext, flooding: Flooding, expected: number): Promise<number> {
  const goFile = join(context.freshFolder('go'), 'go')
  let received = 0
  let done: () => void = () => undefined
  const all = new Promise<void>((resolve) => {
    done = resolve
  })
  const clients = flooding(goFile).map(({ command, args }) => {
    const client = new Client({ name: 'bare', version: '1' })
    client.fallbackNotificationHandler = async () => {
      if (++received >= expected) done()
    }
    const transport = new StdioClientTransport({ command, args: [...args], stderr: 'ignore' })
    return { client, ready: client.connect(transport) }
  })
  try {
    await Promise.all(clients.map(({ ready }) => ready))
    const began = performance.now()
    writeFileSync(goFile, '')
    await all
    return (expected * 1000) / (performance.now() - began)
  } finally {
    await Promise.all(clients.map(({ client }) => client.close()))
  }
}

async function allUp(folder: SwitchboardFolder, url: string, expected: number): Promise<void> {
  const token = readFileSync(join(folder.dataDir, 'admin.token'), 'utf8').trim()
  const headers = { authorization: `Bearer ${token}` }
  for (const deadline = performance.now() + GIVE_UP_MS; ; ) {
    const answer = await fetch(`${url}/api/status`, { headers })
    const { servers = [] } = (await answer.json()) as { servers?: readonly { readonly state: string }[] }
    const up = servers.filter(({ state }) => state === 'up').length
    if (up >= expected) return
    if (performance.now() > deadline) throw new Error(`mcp: ${up} of ${expected} are up`)
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}

function makeFolder(context: BenchContext, hosted: readonly Hosted[]): SwitchboardFolder {
  const dir = context.freshFolder('mcp')
  const dataDir = join(dir, 'data')
  mkdirSync(dataDir, { mode: 0o700 })
  const configFile = join(dir, 'switchboard.yaml')
  const names = hosted.map((_, at) => `s${at}`)
  const none = { rps: 0, burst: 0 }
  const config = {
    tunables: { sender_limit: none, flood_limit: none },
    mcp_servers: Object.fromEntries(names.map((name, at) => [name, hosted[at]])),
    agents: [
      {
        id: 'bench',
        connector: { type: 'channel' },
        channels: { enabled: true, approved: names.map((server) => ({ server })) },
        inbound_bindings: [{ plugin: 'web', instance: 'web', allowed_channel_servers: names }],
      },
    ],
    integrations: [{ id: 'web', platform: 'web' }],
  }
  // JSON is valid YAML.
  writeFileSync(configFile, JSON.stringify(config))
  return { dataDir, configFile, entry: context.options.entry, env: {} }
}

// ---- without I/O ------------------------------------------------------------------------------------------

function measurePure(rounds: number): number {
  const facts: GateFacts = {
    name: 'slack',
    prefix: 'nexo',
    permissionRelay: true,
    stamp: { source: 'slack@anthropic', verified: true },
  }
  const approved = Array.from({ length: 20 }, (_, at) => ({
    server: at === 19 ? 'slack' : `server-${at}`,
    pluginSource: 'slack@anthropic',
    outboundToolName: 'send_message',
    rateLimit: { rps: 1000, burst: 1_000_000_000 },
  }))
  const rules: GateRules = {
    agent: 'bench',
    origin: 'agents[0]',
    channels: { enabled: true, maxContentChars: 16_000, defaultRateLimit: null, approved },
    bindings: [
      { plugin: 'web', instance: 'web', allowedChannelServers: approved.map(({ server }) => server) },
    ],
  }
  const meta = {
    channel_id: 'C0123',
    thread_ts: '1700000000.000100',
    user: 'Ada',
    user_id: 'U7',
    message_id: 'm1',
  }
  const content = 'The deploy failed in the second stage, says <channel> & nothing else. '.repeat(6)
  const news: ServerPush = { kind: 'message', prefix: 'nexo', params: { content, meta } }
  const bucket = createTokenBuckets(1, { now: () => performance.now() })
  let sink = 0
  const once = () => {
    if (!evaluateGates(facts, rules).pass || bucket.take('', { rps: 1000, burst: 1_000_000_000 }).over) return
    const parsed = parseMessage('slack', news)
    if (!parsed.ok) return
    const { conversation, thread } = placeOf(parsed.value.meta)
    const session = sessionId(sessionKey('bench', address('channel:slack@bench', conversation, thread)), 1)
    const shown = wrapChannel('slack', parsed.value.meta, truncate(parsed.value.content, 16_000))
    sink += shown.text.length + session.length
  }
  const time = () => {
    const before = performance.now()
    for (let at = 0; at < TIMES; at++) once()
    return ((performance.now() - before) * 1000) / TIMES
  }
  time() // warm
  const all = Array.from({ length: Math.max(3, rounds) }, time)
  if (sink === 0) throw new Error('the gates refused what they must let through')
  return median(all)
}

// ---- many that are quiet ----------------------------------------------------------------------------------

async function measureIdle(context: BenchContext): Promise<McpReport['idle']> {
  const servers = context.options.quick ? 20 : IDLE
  const tiny = { command: 'sh', args: [fixture('tiny-server.sh')] }
  const without = await settled(context, [])
  const within = await settled(
    context,
    Array.from({ length: servers }, () => tiny),
  )
  context.say(
    `${servers} idle servers: all up after ${Math.round(within.ms)} ms, ${within.mb?.toFixed(1)} MB`,
  )
  const more = within.mb === null || without.mb === null ? null : within.mb - without.mb
  return {
    servers,
    rss_mb: rounded(within.mb, 1),
    kb_a_server: more === null ? null : rounded((more * 1024) / servers, 0),
    all_up_ms: rounded(within.ms, 0),
    without_ms: rounded(without.ms, 0),
  }
}

/** Waits until every server is up, then measures the memory after a pause. */
async function settled(context: BenchContext, hosted: readonly Hosted[]) {
  const folder = makeFolder(context, hosted)
  const began = performance.now()
  const daemon = await startSwitchboard(folder, 'any')
  try {
    await allUp(folder, daemon.url, hosted.length)
    const ms = performance.now() - began
    await new Promise((resolve) => setTimeout(resolve, 3_000))
    return { ms, mb: residentMb(daemon.pid) }
  } finally {
    await daemon.stop()
  }
}

export function mcpLines({ hosting, gate_wrap_session_us, idle, rounds }: McpReport): string[] {
  const orDash = (value: number | null) => (value === null ? '–' : String(value))
  return [
    ...hosting.map(
      ({ servers, messages, per_second, bare_per_second, vs_bare }) =>
        `${servers} hosted server${servers === 1 ? '' : 's'} → inbox: ${orDash(per_second)} messages/s (${messages} a round, ` +
        `${rounds} rounds); a bare client that stores nothing: ${orDash(bare_per_second)}/s; ${orDash(vs_bare)} of it`,
    ),
    `gate, parse, wrap and session of a channel message: ${gate_wrap_session_us} µs`,
    `${idle.servers} idle servers: all connected ${idle.all_up_ms} ms after the start (${idle.without_ms} ms with none), ` +
      `${orDash(idle.rss_mb)} MB resident, ${orDash(idle.kb_a_server)} kB a server`,
  ]
}
