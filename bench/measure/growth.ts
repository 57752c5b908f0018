// Latency with an empty ledger and with one of a million turns. The store's own methods write the large one, so its
// chain is whole. Then two daemons, one on each, are measured in turn.
import { once } from 'node:events'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { probeOf } from '../probe.ts'
import { childEnvironment, startNode } from '../processes.ts'
import {
  countsOf,
  HOOK_PATH,
  makeFolder,
  type SwitchboardFolder,
  startSwitchboard,
} from '../servers/switchboard.ts'
import { median, quantile, rounded } from '../statistics.ts'
import { type ConsoleTimes, timeConsole } from './console-pages.ts'
import type { BenchContext } from './context.ts'
import { type GrowthReads, measurePrune, measureReads, type PruneReport } from './growth-reads.ts'
import { CONNECTIONS, PEOPLE } from './intake.ts'
import { timeToReady } from './ready.ts'

const STATUS_CALLS = 60

export interface GrowthReport {
  /** Median of the rounds' ratios of the median intake latency: grown to empty. */
  readonly intake_p50: number
  readonly intake_p99: number
  readonly status_p50: number
  /** The same ratio for the requests of the console's pages. */
  readonly console_now: number
  readonly console_conversations: number
  readonly turns: number
  readonly database_mb: number
  readonly fill_seconds: number
  readonly ready_ms: number
  readonly empty: LatencyReport
  readonly grown: LatencyReport
  readonly rounds: number
  readonly reads: GrowthReads
  readonly prune: PruneReport
}

interface LatencyReport {
  readonly p50_ms: number
  readonly p99_ms: number
  readonly status_ms: number
  readonly now_ms: number
  readonly conversations_ms: number
}

interface Sample extends ConsoleTimes {
  readonly p50: number
  readonly p99: number
  readonly status: number
}

export async function measureGrowth(context: BenchContext): Promise<GrowthReport> {
  const { options, secret } = context
  const folder = (name: string) =>
    makeFolder({ dir: context.freshFolder(name), entry: options.entry, agent: 'absent', secret })
  const grown = folder('grown')
  const fillSeconds = await fill(context, grown)
  const readyMs = await timeToReady(grown)
  const reads = await measureReads(context, grown)
  const empty: Sample[] = []
  const full: Sample[] = []
  for (const round of context.rounds.of(options.rounds)) {
    const halves = [
      async () => void empty.push(await sample(context, folder('empty'), 1)),
      // Every round has other message ids, because the grown ledger stays and no message may be a duplicate.
      async () => void full.push(await sample(context, grown, (round + 1) * 10_000_000)),
    ]
    await context.weather.during('growth', round + 1, async () => {
      for (const half of round % 2 === 0 ? halves : halves.reverse()) await half()
    })
    const [before, after] = [empty.at(-1), full.at(-1)]
    context.say(
      `growth round ${round + 1}: p50 ${before?.p50.toFixed(2)} ms empty, ${after?.p50.toFixed(2)} ms grown`,
    )
  }
  const prune = await measurePrune(context, grown)
  const ratio = (pick: (one: Sample) => number) =>
    rounded(median(full.map((one, at) => pick(one) / pick(empty[at] as Sample))), 3)
  return {
    intake_p50: ratio((one) => one.p50),
    intake_p99: ratio((one) => one.p99),
    status_p50: ratio((one) => one.status),
    console_now: ratio((one) => one.now),
    console_conversations: ratio((one) => one.conversations),
    turns: options.growthTurns,
    database_mb: rounded(statSync(join(grown.dataDir, 'switchboard.db')).size / 2 ** 20, 0),
    fill_seconds: rounded(fillSeconds, 1),
    ready_ms: rounded(readyMs, 0),
    empty: latencies(empty),
    grown: latencies(full),
    rounds: full.length,
    reads,
    prune,
  }
}

function latencies(samples: readonly Sample[]): LatencyReport {
  return {
    p50_ms: rounded(median(samples.map((one) => one.p50)), 3),
    p99_ms: rounded(median(samples.map((one) => one.p99)), 3),
    status_ms: rounded(median(samples.map((one) => one.status)), 3),
    now_ms: rounded(median(samples.map((one) => one.now)), 3),
    conversations_ms: rounded(median(samples.map((one) => one.conversations)), 3),
  }
}

async function sample(context: BenchContext, folder: SwitchboardFolder, from: number): Promise<Sample> {
  const server = await startSwitchboard(folder)
  try {
    const messages = Math.min(6_000, context.options.messages)
    const measured = await context.load.run(
      {
        ports: [Number(new URL(server.url).port)],
        path: HOOK_PATH,
        scheme: 'github',
        secret: context.secret,
        people: PEOPLE,
        connections: CONNECTIONS,
        warmUp: Math.min(2_000, messages),
        messages,
        from,
      },
      probeOf([server.pid]),
    )
    const status: number[] = []
    for (let at = 0; at < STATUS_CALLS; at++) {
      const before = performance.now()
      await countsOf(folder, server.url)
      status.push(performance.now() - before)
    }
    const pages = await timeConsole(folder, server.url)
    return { p50: measured.p50Ms, p99: measured.p99Ms, status: quantile(status, 0.5), ...pages }
  } finally {
    await server.stop()
  }
}

async function fill(context: BenchContext, folder: SwitchboardFolder): Promise<number> {
  const { growthTurns, entry } = context.options
  context.say(`filling a ledger with ${growthTurns.toLocaleString('en')} turns …`)
  const before = performance.now()
  const script = fileURLToPath(new URL('../fill-ledger.ts', import.meta.url))
  const child = startNode('any', ['--import', 'tsx', script, folder.dataDir, String(growthTurns), entry], {
    stdio: ['ignore', 'inherit', 'inherit'],
    env: childEnvironment({}),
  })
  const [code] = await once(child, 'exit')
  if (code !== 0) throw new Error(`filling the ledger ended with ${code}`)
  const seconds = (performance.now() - before) / 1000
  context.say(`filled in ${seconds.toFixed(0)} s`)
  return seconds
}
