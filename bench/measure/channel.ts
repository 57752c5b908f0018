// The channel over stdio against a bare SDK server that pushes without storing: notifications per second, the time from
// the start of the shim to `initialize` answered, and memory per shim. It measures the shim alone, fed over its socket
// without a store. It also measures the real daemon, where each message is in the inbox and each hand-over is a commit.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createAttachServer } from '../../src/attach/index.ts'
import type { AttachedHost, Clock, Logger } from '../../src/contract/index.ts'
import { type McpHost, startMcpHost } from '../load/mcp-host.ts'
import { residentMb } from '../machine.ts'
import { probeOf } from '../probe.ts'
import { HOOK_PATH, makeFolder, startSwitchboard } from '../servers/switchboard.ts'
import { medianOrNull, rounded } from '../statistics.ts'
import type { BenchContext } from './context.ts'
import { CONNECTIONS, PEOPLE } from './intake.ts'

const MOST_MESSAGES = 5_000
const MOST_ROUNDS = 5
/** The host acknowledges every 20th message. That covers the earlier ones in its conversation. */
const ACK_EVERY = 20
const GIVE_UP_MS = 120_000

type Name = 'bare' | 'shim' | 'daemon'

interface Figures {
  readonly perSecond: number
  readonly startMs: number
  readonly mb: number | null
}

interface Told {
  readonly bare: number | null
  readonly shim: number | null
  readonly daemon: number | null
}

export interface ChannelReport {
  readonly messages: number
  readonly rounds: number
  readonly notifications_per_second: Told
  readonly start_ms: Told
  readonly rss_mb: Told
  /** Medians of the rounds' ratios to the bare server. */
  readonly vs_bare: Readonly<
    Record<'shim_notifications' | 'daemon_notifications' | 'start' | 'rss', number | null>
  >
}

export async function measureChannel(context: BenchContext): Promise<ChannelReport> {
  const messages = Math.min(MOST_MESSAGES, context.options.messages)
  const count = Math.min(MOST_ROUNDS, context.options.rounds)
  const measure: Readonly<Record<Name, () => Promise<Figures>>> = {
    bare: () => measureBare(context, messages),
    shim: () => measureShim(context, messages),
    daemon: () => measureDaemon(context, messages),
  }
  const order: readonly Name[] = ['bare', 'shim', 'daemon']
  const rounds: Partial<Record<Name, Figures>>[] = []
  for (const number of context.rounds.of(count)) {
    const round: Partial<Record<Name, Figures>> = {}
    await context.weather.during('channel', number + 1, async () => {
      for (let at = 0; at < order.length; at++) {
        const name = order[(at + number) % order.length] as Name
        round[name] = await measure[name]()
      }
    })
    rounds.push(round)
    const told = order.map((name) => `${name} ${Math.round(round[name]?.perSecond ?? 0)}/s`)
    context.say(`channel round ${number + 1} of ${count}: ${told.join(', ')}`)
  }
  const all = (name: Name, what: keyof Figures) => rounds.map((round) => round[name]?.[what] ?? null)
  const middle = (what: keyof Figures, digits: number): Told => ({
    bare: rounded(medianOrNull(all('bare', what)), digits),
    shim: rounded(medianOrNull(all('shim', what)), digits),
    daemon: rounded(medianOrNull(all('daemon', what)), digits),
  })
  const ratio = (name: Name, what: keyof Figures) => {
    const below = all('bare', what)
    const each = all(name, what).map((value, at) => (value === null || !below[at] ? null : value / below[at]))
    return rounded(medianOrNull(each), 3)
  }
  return {
    messages,
    rounds: rounds.length,
    notifications_per_second: middle('perSecond', 0),
    start_ms: middle('startMs', 0),
    rss_mb: middle('mb', 1),
    vs_bare: {
      shim_notifications: ratio('shim', 'perSecond'),
      daemon_notifications: ratio('daemon', 'perSecond'),
      start: ratio('shim', 'startMs'),
      rss: ratio('shim', 'mb'),
    },
  }
}

/** Waits for the notifications and returns how many came per second, from the first on. */
async function counted(host: McpHost, messages: number, go: () => Promise<void> | void): Promise<Figures> {
  const first = host.heard(1).then(() => performance.now())
  await go()
  const began = await within(first, 'the first notification')
  await within(host.heard(messages), `${messages} notifications`)
  const perSecond = (messages - 1) / ((performance.now() - began) / 1000)
  return { perSecond, startMs: host.startMs, mb: residentMb(host.pid) }
}

async function within<Value>(work: Promise<Value>, what: string): Promise<Value> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`channel: ${what} did not come`)), GIVE_UP_MS)
  })
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}

function bareServer(messages: number): string {
  return `
import { Server } from ${JSON.stringify(import.meta.resolve('@modelcontextprotocol/server'))}
import { StdioServerTransport } from ${JSON.stringify(import.meta.resolve('@modelcontextprotocol/server/stdio'))}
const server = new Server({ name: 'bare', version: '1' }, { capabilities: { experimental: { 'claude/channel': {} }, tools: {} } })
server.oninitialized = async () => {
  for (let n = 0; n < ${messages}; n++)
    await server.notification({ method: 'notifications/claude/channel', params: { content: 'message ' + n, meta: { chat_id: 'hook:dev', message_id: 'm' + n, user: 'dev' } } })
}
await server.connect(new StdioServerTransport())
`
}

async function measureBare(context: BenchContext, messages: number): Promise<Figures> {
  const file = join(context.freshFolder('bare-channel'), 'bare.mjs')
  writeFileSync(file, bareServer(messages))
  const host = await startMcpHost([file])
  try {
    return await counted(host, messages, () => undefined)
  } finally {
    await host.stop()
  }
}

async function measureShim(context: BenchContext, messages: number): Promise<Figures> {
  const data = join(context.freshFolder('shim'), 'data')
  mkdirSync(data, { mode: 0o700 })
  const server = createAttachServer({
    clock,
    log: quiet,
    version: 'bench',
    abilities: () => ({ permission: true, channels: false, services: false, oneWay: false }),
  })
  let admitted: (host: AttachedHost) => void = () => undefined
  const attached = new Promise<AttachedHost>((resolve) => {
    admitted = resolve
  })
  server.open('bench', {
    dialect: 'claude',
    admit(one) {
      admitted(one)
      return {
        call: () => new Promise(() => undefined),
        ask: async () => undefined,
        detached: () => undefined,
      }
    },
  })
  await server.listen(join(data, 'a.sock'))
  const host = await startMcpHost(shimArguments(context, data))
  try {
    const to = await within(attached, 'the shim')
    return await counted(host, messages, () => {
      for (let n = 0; n < messages; n++)
        void to.deliver({
          turn: `t${n}`,
          session: 's',
          chatId: 'hook:dev',
          messageId: `m${n}`,
          content: `message ${n}`,
          meta: { chat_id: 'hook:dev', message_id: `m${n}`, user: 'dev' },
        })
    })
  } finally {
    await host.stop()
    await server.close()
  }
}

/**
 * Delivers a backlog from a time without a host. It is on the disk, and every hand-over is committed before its push.
 */
async function measureDaemon(context: BenchContext, messages: number): Promise<Figures> {
  const { options, secret } = context
  const dir = context.freshFolder('channel')
  const folder = makeFolder({ dir, entry: options.entry, agent: 'absent', secret })
  const daemon = await startSwitchboard(folder, 'any')
  try {
    const ports = [Number(new URL(daemon.url).port)]
    const plan = {
      path: HOOK_PATH,
      scheme: 'github',
      secret,
      people: PEOPLE,
      connections: CONNECTIONS,
    } as const
    await context.load.run({ ...plan, ports, warmUp: 0, messages, from: 1 }, probeOf([]))
    const host = await startMcpHost(shimArguments(context, folder.dataDir))
    try {
      let pushed = 0
      host.onPush(({ meta }) => {
        // Without an acknowledgement the host gets only one message, because it may not accept them.
        if (pushed++ % ACK_EVERY === 0) host.call('ack', { message_id: meta.message_id ?? '' })
      })
      return await counted(host, messages, () => undefined)
    } finally {
      await host.stop()
    }
  } finally {
    await daemon.stop()
  }
}

export function shimArguments(context: BenchContext, data: string): readonly string[] {
  return [context.options.entry, 'channel', '--agent', 'bench', '--data', data, '--no-start']
}

const quiet: Logger = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  child: () => quiet,
}

const clock: Clock = {
  now: Date.now,
  after(ms, run) {
    const timer = setTimeout(run, ms)
    return () => clearTimeout(timer)
  },
}
