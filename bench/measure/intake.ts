// Durable intake over HTTP. Every round starts every server afresh, one after the other, and compares it with the
// others of the same round. After each of Switchboard's rounds it checks that nothing was lost.
import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Measured } from '../load/load.ts'
import type { Scheme } from '../load/requests.ts'
import { residentMb } from '../machine.ts'
import { probeOf } from '../probe.ts'
import { type Server, startServer } from '../processes.ts'
import {
  type AgentKind,
  countsOf,
  HOOK_PATH,
  makeFolder,
  type SwitchboardFolder,
  startSwitchboard,
  verifyNothingLost,
} from '../servers/switchboard.ts'
import { medianOrNull, rounded } from '../statistics.ts'
import type { BenchContext } from './context.ts'

export const CONNECTIONS = 32
export const PEOPLE = 200
const DRAIN_LIMIT_MS = 120_000
const PEER_SHARE = 4

const SERVER_NAMES = ['bare', 'insert', 'chat_sdk', 'bolt', 'switchboard', 'draining'] as const
export type ServerName = (typeof SERVER_NAMES)[number]
type PeerName = Exclude<ServerName, 'switchboard' | 'draining'>
/** The scripts of third-party servers. They are slow, so fewer messages are enough. */
const FOREIGN: Partial<Readonly<Record<ServerName, string>>> = {
  chat_sdk: '../peers/chat-sdk.mjs',
  bolt: '../peers/bolt.mjs',
}

interface RoundOfOne extends Measured {
  /**
   * With the demo agent: the rate from the first measured request until every turn was answered and every answer sent.
   */
  readonly endToEndPerSecond: number | null
  readonly rssMb: number | null
}

export interface IntakeReport {
  readonly vs_bare: number | null
  readonly draining_vs_bare: number | null
  readonly vs_insert: number | null
  readonly vs_chat_sdk: number | null
  readonly vs_bolt: number | null
  readonly p99_ms: number | null
  readonly cpu_vs_bare: number | null
  readonly draining_cpu_vs_bare: number | null
  readonly rss_loaded_mb: number | null
  readonly servers: Readonly<Record<ServerName, ServerReport | null>>
  /** The same medians over the rounds without foreign load. Null if there was none. */
  readonly quiet: QuietReport | null
  readonly rounds: readonly Readonly<Record<string, number | boolean | null>>[]
}

export interface ServerReport {
  readonly per_second: number | null
  readonly p50_ms: number | null
  readonly p99_ms: number | null
  readonly cpu_us: number | null
  readonly disk_bytes: number | null
  readonly end_to_end_per_second: number | null
}

export interface QuietReport {
  readonly rounds: number
  readonly vs_bare: number | null
  readonly draining_vs_bare: number | null
  readonly vs_insert: number | null
  readonly vs_chat_sdk: number | null
  readonly vs_bolt: number | null
}

type Round = Partial<Record<ServerName, RoundOfOne>>

export async function measureIntake(context: BenchContext): Promise<IntakeReport> {
  const names: ServerName[] = ['bare', 'insert', 'switchboard', 'draining']
  if (context.options.peers && peersInstalled()) names.push('chat_sdk', 'bolt')
  const rounds: Round[] = []
  for (const number of context.rounds.of(context.options.rounds)) {
    const round = await context.weather.during('intake', number + 1, () => oneRound(context, names, number))
    rounds.push(round)
    const rates = names.map((name) => `${name} ${Math.round(round[name]?.perSecond ?? 0)}/s`)
    context.say(`round ${number + 1} of ${context.options.rounds}: ${rates.join(', ')}`)
  }
  const disturbed = rounds.map((_, at) => context.weather.disturbed('intake', at + 1))
  return report(names, rounds, disturbed)
}

async function oneRound(context: BenchContext, names: readonly ServerName[], number: number): Promise<Round> {
  const round: Round = {}
  // Every round begins with another server, so that no server always has the same place in the order.
  for (let at = 0; at < names.length; at++) {
    const name = names[(at + number) % names.length] as ServerName
    round[name] = await measureOne(context, name)
  }
  return round
}

export function peersInstalled(): boolean {
  return ['chat', '@slack/bolt'].every((name) =>
    existsSync(fileURLToPath(new URL(`../peers/node_modules/${name}/package.json`, import.meta.url))),
  )
}

async function measureOne(context: BenchContext, name: ServerName): Promise<RoundOfOne> {
  const dir = context.freshFolder(name)
  try {
    return name === 'switchboard' || name === 'draining'
      ? await measureSwitchboard(context, dir, name === 'draining' ? 'demo' : 'absent')
      : await measurePeer(context, dir, name)
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
}

async function measurePeer(context: BenchContext, dir: string, name: PeerName): Promise<RoundOfOne> {
  const here = (path: string) => fileURLToPath(new URL(path, import.meta.url))
  const foreign = FOREIGN[name]
  const args = foreign === undefined ? ['--import', 'tsx', here(`../servers/${name}.ts`)] : [here(foreign)]
  const env = { BENCH_SECRET: context.secret, BENCH_DATABASE: join(dir, 'insert.db') }
  const server = await startServer('server', args, env)
  try {
    const measured =
      foreign === undefined
        ? await put(context, server, 'github', 1)
        : await put(context, server, 'slack', PEER_SHARE)
    return { ...measured, endToEndPerSecond: null, rssMb: residentMb(server.pid) }
  } finally {
    await server.stop()
  }
}

async function measureSwitchboard(context: BenchContext, dir: string, agent: AgentKind): Promise<RoundOfOne> {
  const { secret, options } = context
  const folder = makeFolder({ dir, entry: options.entry, agent, secret })
  const server = await startSwitchboard(folder)
  try {
    const measured = await put(context, server, 'github', 1)
    const loadedAt = performance.now()
    const rssMb = residentMb(server.pid, 'VmHWM')
    let endToEndPerSecond: number | null = null
    if (agent === 'demo') {
      await untilDrained(folder, server.url)
      endToEndPerSecond = (options.messages / (measured.elapsedMs + performance.now() - loadedAt)) * 1000
    }
    await verifyNothingLost(folder, warmUpOf(options.messages) + options.messages)
    return { ...measured, endToEndPerSecond, rssMb }
  } finally {
    await server.stop()
  }
}

async function untilDrained(folder: SwitchboardFolder, url: string): Promise<void> {
  const deadline = performance.now() + DRAIN_LIMIT_MS
  for (;;) {
    const counts = await countsOf(folder, url)
    if (counts.open === 0 && counts.sendsOpen === 0) {
      if (counts.answered !== counts.received)
        throw new Error(`not all were answered: ${JSON.stringify(counts)}`)
      return
    }
    if (performance.now() > deadline) throw new Error(`the agent does not keep up: ${JSON.stringify(counts)}`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

function put(context: BenchContext, server: Server, scheme: Scheme, share: number): Promise<Measured> {
  const messages = Math.ceil(context.options.messages / share)
  return context.load.run(
    {
      ports: [Number(new URL(server.url).port)],
      path: HOOK_PATH,
      scheme,
      secret: context.secret,
      people: PEOPLE,
      connections: CONNECTIONS,
      warmUp: warmUpOf(context.options.messages),
      messages,
      from: 1,
    },
    probeOf([server.pid]),
  )
}

function warmUpOf(messages: number): number {
  return Math.min(3_000, messages)
}

function report(
  names: readonly ServerName[],
  rounds: readonly Round[],
  disturbed: readonly boolean[],
): IntakeReport {
  const ratio = (of: ServerName, to: ServerName, what: 'perSecond' | 'cpuMicrosPerMessage') =>
    rounds.map((round) => {
      const [above, below] = [round[of]?.[what], round[to]?.[what]]
      return above == null || below == null || below === 0 ? null : above / below
    })
  const medianOf = (values: readonly (number | null)[], digits = 3) => rounded(medianOrNull(values), digits)
  const vsBare = ratio('switchboard', 'bare', 'perSecond')
  const drainingVsBare = ratio('draining', 'bare', 'perSecond')
  const vsInsert = ratio('switchboard', 'insert', 'perSecond')
  const vsChat = ratio('switchboard', 'chat_sdk', 'perSecond')
  const vsBolt = ratio('switchboard', 'bolt', 'perSecond')
  const server = (name: ServerName): ServerReport | null => {
    if (!names.includes(name)) return null
    const all = (pick: (one: RoundOfOne) => number | null) =>
      rounds.map((round) => (round[name] === undefined ? null : pick(round[name])))
    return {
      per_second: medianOf(
        all((one) => one.perSecond),
        0,
      ),
      p50_ms: medianOf(all((one) => one.p50Ms)),
      p99_ms: medianOf(all((one) => one.p99Ms)),
      cpu_us: medianOf(
        all((one) => one.cpuMicrosPerMessage),
        1,
      ),
      disk_bytes: medianOf(
        all((one) => one.diskBytesPerMessage),
        0,
      ),
      end_to_end_per_second: medianOf(
        all((one) => one.endToEndPerSecond),
        0,
      ),
    }
  }
  return {
    vs_bare: medianOf(vsBare),
    draining_vs_bare: medianOf(drainingVsBare),
    vs_insert: medianOf(vsInsert),
    vs_chat_sdk: medianOf(vsChat),
    vs_bolt: medianOf(vsBolt),
    p99_ms: medianOf(rounds.map((round) => round.switchboard?.p99Ms ?? null)),
    // CPU of the bare server over ours: the ratio on a disk and a machine without any waiting.
    cpu_vs_bare: medianOf(ratio('bare', 'switchboard', 'cpuMicrosPerMessage')),
    draining_cpu_vs_bare: medianOf(ratio('bare', 'draining', 'cpuMicrosPerMessage')),
    rss_loaded_mb: medianOf(
      rounds.map((round) => round.switchboard?.rssMb ?? null),
      1,
    ),
    servers: {
      bare: server('bare'),
      insert: server('insert'),
      chat_sdk: server('chat_sdk'),
      bolt: server('bolt'),
      switchboard: server('switchboard'),
      draining: server('draining'),
    },
    quiet: quietOnly(disturbed, { vsBare, drainingVsBare, vsInsert, vsChat, vsBolt }),
    rounds: rounds.map((_, at) => ({
      disturbed: disturbed[at] ?? false,
      vs_bare: rounded(vsBare[at] ?? null, 3),
      draining_vs_bare: rounded(drainingVsBare[at] ?? null, 3),
      vs_insert: rounded(vsInsert[at] ?? null, 3),
      vs_chat_sdk: rounded(vsChat[at] ?? null, 3),
      vs_bolt: rounded(vsBolt[at] ?? null, 3),
    })),
  }
}

function quietOnly(
  disturbed: readonly boolean[],
  all: Readonly<
    Record<'vsBare' | 'drainingVsBare' | 'vsInsert' | 'vsChat' | 'vsBolt', readonly (number | null)[]>
  >,
): QuietReport | null {
  const rounds = disturbed.filter((one) => !one).length
  if (rounds === 0) return null
  const medianOf = (values: readonly (number | null)[]) =>
    rounded(medianOrNull(values.filter((_, at) => !disturbed[at])), 3)
  return {
    rounds,
    vs_bare: medianOf(all.vsBare),
    draining_vs_bare: medianOf(all.drainingVsBare),
    vs_insert: medianOf(all.vsInsert),
    vs_chat_sdk: medianOf(all.vsChat),
    vs_bolt: medianOf(all.vsBolt),
  }
}
