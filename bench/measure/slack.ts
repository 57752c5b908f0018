// Intake from Slack over Socket Mode and over the Events API, beside the webhook. The same people send the same texts,
// 32 at once, each acknowledged after its commit. Rounds are interleaved, and each ratio is within one round.
import { rmSync } from 'node:fs'
import type { Measured } from '../load/load.ts'
import { slackBody } from '../load/requests.ts'
import { probeOf } from '../probe.ts'
import type { Server } from '../processes.ts'
import { type BenchSlack, startBenchSlack } from '../servers/slack.ts'
import {
  HOOK_PATH,
  makeFolder,
  type SlackSide,
  startSwitchboard,
  verifyNothingLost,
} from '../servers/switchboard.ts'
import { medianOrNull, quantile, rounded } from '../statistics.ts'
import type { BenchContext } from './context.ts'
import { CONNECTIONS, PEOPLE } from './intake.ts'

const WAYS = ['webhook', 'events', 'socket'] as const
type Way = (typeof WAYS)[number]
type Figures = Pick<Measured, 'perSecond' | 'p50Ms' | 'cpuMicrosPerMessage'>

export interface SlackFigures {
  readonly messages: number
  readonly rounds: number
  readonly per_second: Readonly<Record<Way, number | null>>
  readonly p50_ms: Readonly<Record<Way, number | null>>
  /** Ratio of messages per second to the webhook in the same round. */
  readonly vs_webhook: { readonly events: number | null; readonly socket: number | null }
  /** Ratio of CPU time per message to the webhook. */
  readonly cpu_vs_webhook: { readonly events: number | null; readonly socket: number | null }
}

export async function measureSlack(context: BenchContext): Promise<SlackFigures> {
  const rounds: Record<Way, Figures>[] = []
  for (const number of context.rounds.of(context.options.rounds)) {
    rounds.push(await context.weather.during('slack', number + 1, () => oneRound(context, number)))
    const told = WAYS.map((way) => `${way} ${Math.round(rounds.at(-1)?.[way].perSecond ?? 0)}/s`)
    context.say(`slack, round ${number + 1} of ${context.options.rounds}: ${told.join(', ')}`)
  }
  const over = (way: Way, what: 'perSecond' | 'cpuMicrosPerMessage') =>
    rounded(
      medianOrNull(
        rounds.map((round) => {
          const [above, below] = [round[way][what], round.webhook[what]]
          return above === null || below === null || below === 0 ? null : above / below
        }),
      ),
      3,
    )
  const each = (what: 'perSecond' | 'p50Ms', digits: number) => {
    const of = (way: Way) => rounded(medianOrNull(rounds.map((round) => round[way][what])), digits)
    return { webhook: of('webhook'), events: of('events'), socket: of('socket') }
  }
  return {
    messages: context.options.messages,
    rounds: rounds.length,
    per_second: each('perSecond', 0),
    p50_ms: each('p50Ms', 3),
    vs_webhook: { events: over('events', 'perSecond'), socket: over('socket', 'perSecond') },
    cpu_vs_webhook: {
      events: over('events', 'cpuMicrosPerMessage'),
      socket: over('socket', 'cpuMicrosPerMessage'),
    },
  }
}

async function oneRound(context: BenchContext, number: number): Promise<Record<Way, Figures>> {
  const found: Partial<Record<Way, Figures>> = {}
  // Every round begins with another way, so that no way always has the same place in the order.
  for (let at = 0; at < WAYS.length; at++) {
    const way = WAYS[(at + number) % WAYS.length] as Way
    found[way] = await measureWay(context, way)
  }
  return found as Record<Way, Figures>
}

async function measureWay(context: BenchContext, way: Way): Promise<Figures> {
  const { secret, options } = context
  const dir = context.freshFolder(`slack-${way}`)
  const api = await startBenchSlack()
  const slack: SlackSide | null = way === 'webhook' ? null : { mode: way, apiUrl: api.apiUrl, people: PEOPLE }
  const folder = makeFolder({ dir, entry: options.entry, agent: 'absent', secret, ...(slack && { slack }) })
  const server = await startSwitchboard(folder)
  try {
    const measured =
      way === 'socket' ? await overSocket(context, server, api) : await overHttp(context, server, way)
    await verifyNothingLost(folder, warmUpOf(context) + options.messages)
    return measured
  } finally {
    await server.stop()
    await api.stop()
    rmSync(dir, { recursive: true, force: true })
  }
}

/** Enough messages that every person has written once and is known by name. */
function warmUpOf({ options }: BenchContext): number {
  return Math.max(PEOPLE, Math.min(3_000, options.messages))
}

function overHttp(context: BenchContext, server: Server, way: 'webhook' | 'events'): Promise<Figures> {
  return context.load.run(
    {
      ports: [Number(new URL(server.url).port)],
      path: HOOK_PATH,
      scheme: way === 'webhook' ? 'github' : 'slack',
      secret: context.secret,
      people: PEOPLE,
      connections: CONNECTIONS,
      warmUp: warmUpOf(context),
      messages: context.options.messages,
      from: 1,
    },
    probeOf([server.pid]),
  )
}

async function overSocket(context: BenchContext, server: Server, api: BenchSlack): Promise<Figures> {
  const warmUp = warmUpOf(context)
  const { messages } = context.options
  const seconds = Math.floor(Date.now() / 1_000)
  const bodies = Array.from({ length: warmUp + messages }, (_, at) =>
    slackBody(at + 1, (at + 1) % PEOPLE, seconds),
  )
  await api.connected()
  await api.deliver(bodies.slice(0, warmUp), CONNECTIONS)
  const probe = probeOf([server.pid])
  const cpu = probe.cpu()
  const began = performance.now()
  const took = await api.deliver(bodies.slice(warmUp), CONNECTIONS)
  const elapsedMs = performance.now() - began
  const cpuAfter = probe.cpu()
  return {
    perSecond: (messages / elapsedMs) * 1_000,
    p50Ms: quantile(took, 0.5),
    cpuMicrosPerMessage: cpu === null || cpuAfter === null ? null : (cpuAfter - cpu) / messages,
  }
}
