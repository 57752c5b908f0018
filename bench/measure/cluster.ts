// One, two and three nodes on one PostgreSQL beside one node on SQLite, all on the same cores: intake with the agent
// absent, end to end with the demo agent, and what a message costs in CPU time, nodes and database together.
import { rmSync } from 'node:fs'
import type { Probe } from '../probe.ts'
import { type BenchPostgres, startCluster, type TableSize } from '../servers/cluster.ts'
import { countsOf, HOOK_PATH, verifyNothingLost } from '../servers/switchboard.ts'
import { medianOrNull, rounded } from '../statistics.ts'
import type { BenchContext } from './context.ts'
import { CONNECTIONS, PEOPLE } from './intake.ts'

export const CASES = ['sqlite', 'postgres_1', 'postgres_2', 'postgres_3'] as const
export type ClusterCase = (typeof CASES)[number]

const MOST_MESSAGES = 3_000
/** To each node, as to the servers of the intake: an engine that still compiles would be measured instead. */
const WARM_UP_A_NODE = 3_000
const DRAIN_LIMIT_MS = 120_000
const POLL_MS = 50

export interface CaseReport {
  readonly intake_per_second: number | null
  readonly p50_ms: number | null
  readonly p99_ms: number | null
  /** Until every message was answered and every answer sent. */
  readonly end_to_end_per_second: number | null
  /** Nodes and database together, a message that is only received. */
  readonly intake_cpu_us: number | null
  /** The database's part of it. */
  readonly intake_database_cpu_us: number | null
  /** A message that is received, handed over and answered. */
  readonly cpu_us: number | null
  readonly database_cpu_us: number | null
  readonly wal_bytes: number | null
}

export interface ClusterReport {
  readonly cases: Readonly<Record<ClusterCase, CaseReport>>
  /** Medians of the rounds' ratios. */
  readonly ratios: Readonly<Record<string, number | null>>
  readonly messages: number
  readonly rounds: number
  /** Bytes of disk a row, table by table, with its indexes. */
  readonly row_bytes: Readonly<Record<string, number>>
  /** Rows a message that was answered leaves, table by table. */
  readonly rows_a_message: Readonly<Record<string, number>>
}

interface Sample {
  readonly perSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
  readonly cpu: number | null
  readonly databaseCpu: number | null
  readonly wal: number | null
  readonly sizes: Readonly<Record<string, TableSize>> | null
}

type Samples = Readonly<Record<'intake' | 'whole', Sample>>
type Round = Partial<Record<ClusterCase, Samples>>

export async function measureCluster(context: BenchContext, postgres: BenchPostgres): Promise<ClusterReport> {
  const messages = Math.min(MOST_MESSAGES, context.options.messages)
  const rounds: Round[] = []
  for (const number of context.rounds.of(context.options.rounds)) {
    const round: Round = {}
    await context.weather.during('cluster', number + 1, async () => {
      for (let at = 0; at < CASES.length; at++) {
        const name = CASES[(at + number) % CASES.length] as ClusterCase
        const one = { name, messages, postgres: name === 'sqlite' ? null : postgres }
        round[name] = {
          intake: await measureOne(context, { ...one, agent: 'absent' }),
          whole: await measureOne(context, { ...one, agent: 'demo' }),
        }
      }
    })
    rounds.push(round)
    const rates = CASES.map((name) => {
      const { intake, whole } = round[name] as Samples
      return `${name} ${Math.round(intake.perSecond)}/s in, ${Math.round(whole.perSecond)}/s through`
    })
    context.say(`cluster round ${number + 1} of ${context.options.rounds}: ${rates.join('; ')}`)
  }
  return report(messages, rounds)
}

interface One {
  readonly name: ClusterCase
  readonly agent: 'absent' | 'demo'
  readonly messages: number
  readonly postgres: BenchPostgres | null
}

async function measureOne(context: BenchContext, one: One): Promise<Sample> {
  const { options, secret } = context
  const database = await one.postgres?.fresh()
  const dirs: string[] = []
  const cluster = await startCluster({
    nodes: one.name === 'sqlite' ? 1 : Number(one.name.slice('postgres_'.length)),
    store: database?.url ?? null,
    agent: one.agent,
    entry: options.entry,
    secret,
    folder: (name) => {
      const dir = context.freshFolder(`${one.name}-${name}`)
      dirs.push(dir)
      return dir
    },
  })
  try {
    const [first] = cluster.folders
    const [url] = cluster.nodes.map((node) => node.url)
    if (first === undefined || url === undefined) throw new Error('a cluster without nodes')
    const warmUp = Math.min(WARM_UP_A_NODE, one.messages) * cluster.nodes.length
    const before: { mark: Mark | null } = { mark: null }
    // The probe is asked right before and right after the measured part: the database's marks are taken with it.
    const probe: Probe = {
      cpu() {
        before.mark ??= mark(cluster.probe, one.postgres)
        return 0
      },
      disk: () => 0,
    }
    let walBefore = (await database?.walBytes()) ?? null
    const plan = {
      path: HOOK_PATH,
      scheme: 'github',
      secret,
      people: PEOPLE,
      connections: CONNECTIONS,
    } as const
    const where = { ports: cluster.ports, warmUp: 0 }
    await context.load.run({ ...plan, ...where, messages: warmUp, from: 1 }, probe)
    if (one.agent === 'demo') await untilAnswered(first, url, warmUp)
    before.mark = null
    walBefore = (await database?.walBytes()) ?? null
    const measured = await context.load.run(
      { ...plan, ...where, messages: one.messages, from: warmUp + 1 },
      probe,
    )
    const loadedAt = performance.now()
    if (one.agent === 'demo') await untilAnswered(first, url, warmUp + one.messages)
    const after = mark(cluster.probe, one.postgres)
    const elapsedMs = measured.elapsedMs + performance.now() - loadedAt
    const walAfter = (await database?.walBytes()) ?? null
    await verifyNothingLost(first, warmUp + one.messages)
    const spent = (pick: (of: Mark) => number | null) => {
      const [from, to] = [before.mark && pick(before.mark), pick(after)]
      return from === null || to === null ? null : (to - from) / one.messages
    }
    const [nodesCpu, databaseCpu] = [spent((of) => of.nodes), spent((of) => of.database)]
    context.say(`  ${one.name}, agent ${one.agent}: ${Math.round(measured.perSecond)}/s in`)
    return {
      perSecond: one.agent === 'demo' ? (one.messages / elapsedMs) * 1000 : measured.perSecond,
      p50Ms: measured.p50Ms,
      p99Ms: measured.p99Ms,
      cpu: nodesCpu === null || databaseCpu === null ? null : nodesCpu + databaseCpu,
      databaseCpu,
      wal: walBefore === null || walAfter === null ? null : (walAfter - walBefore) / one.messages,
      sizes: (await database?.sizes()) ?? null,
    }
  } finally {
    await cluster.stop()
    await database?.close()
    for (const dir of dirs) rmSync(dir, { recursive: true, force: true })
  }
}

interface Mark {
  readonly nodes: number | null
  readonly database: number | null
}

function mark(nodes: Probe, postgres: BenchPostgres | null): Mark {
  return { nodes: nodes.cpu(), database: postgres === null ? 0 : postgres.probe.cpu() }
}

async function untilAnswered(
  folder: Parameters<typeof countsOf>[0],
  url: string,
  messages: number,
): Promise<void> {
  const deadline = performance.now() + DRAIN_LIMIT_MS
  for (;;) {
    const counts = await countsOf(folder, url)
    if (counts.answered === messages && counts.sendsOpen === 0) return
    if (performance.now() > deadline) throw new Error(`not all were answered: ${JSON.stringify(counts)}`)
    await new Promise((resolve) => setTimeout(resolve, POLL_MS))
  }
}

function report(messages: number, rounds: readonly Round[]): ClusterReport {
  const medianOf = (values: readonly (number | null)[], digits: number) =>
    rounded(medianOrNull(values), digits)
  const of = (name: ClusterCase, kind: 'intake' | 'whole', pick: (one: Sample) => number | null) =>
    rounds.map((round) => (round[name] === undefined ? null : pick(round[name][kind])))
  const ratio = (above: readonly (number | null)[], below: readonly (number | null)[]) =>
    medianOf(
      above.map((value, at) => {
        const by = below[at]
        return value === null || by === null || by === undefined || by === 0 ? null : value / by
      }),
      3,
    )
  const one = (name: ClusterCase): CaseReport => ({
    intake_per_second: medianOf(
      of(name, 'intake', (s) => s.perSecond),
      0,
    ),
    p50_ms: medianOf(
      of(name, 'intake', (s) => s.p50Ms),
      2,
    ),
    p99_ms: medianOf(
      of(name, 'intake', (s) => s.p99Ms),
      2,
    ),
    end_to_end_per_second: medianOf(
      of(name, 'whole', (s) => s.perSecond),
      0,
    ),
    intake_cpu_us: medianOf(
      of(name, 'intake', (s) => s.cpu),
      0,
    ),
    intake_database_cpu_us: medianOf(
      of(name, 'intake', (s) => s.databaseCpu),
      0,
    ),
    cpu_us: medianOf(
      of(name, 'whole', (s) => s.cpu),
      0,
    ),
    database_cpu_us: medianOf(
      of(name, 'whole', (s) => s.databaseCpu),
      0,
    ),
    wal_bytes: medianOf(
      of(name, 'whole', (s) => s.wal),
      0,
    ),
  })
  const rate = (name: ClusterCase, kind: 'intake' | 'whole') => of(name, kind, (s) => s.perSecond)
  const cpu = (name: ClusterCase, kind: 'intake' | 'whole') => of(name, kind, (s) => s.cpu)
  const sizes = rounds.at(-1)?.postgres_1?.whole.sizes ?? {}
  const turns = sizes.turns?.rows ?? 0
  const perTable = (pick: (size: TableSize) => number, digits: number) =>
    Object.fromEntries(Object.entries(sizes).map(([table, size]) => [table, rounded(pick(size), digits)]))
  return {
    cases: {
      sqlite: one('sqlite'),
      postgres_1: one('postgres_1'),
      postgres_2: one('postgres_2'),
      postgres_3: one('postgres_3'),
    },
    ratios: {
      intake_postgres_vs_sqlite: ratio(rate('postgres_1', 'intake'), rate('sqlite', 'intake')),
      intake_2_vs_1: ratio(rate('postgres_2', 'intake'), rate('postgres_1', 'intake')),
      intake_3_vs_1: ratio(rate('postgres_3', 'intake'), rate('postgres_1', 'intake')),
      end_to_end_postgres_vs_sqlite: ratio(rate('postgres_1', 'whole'), rate('sqlite', 'whole')),
      end_to_end_2_vs_1: ratio(rate('postgres_2', 'whole'), rate('postgres_1', 'whole')),
      end_to_end_3_vs_1: ratio(rate('postgres_3', 'whole'), rate('postgres_1', 'whole')),
      intake_cpu_postgres_vs_sqlite: ratio(cpu('postgres_1', 'intake'), cpu('sqlite', 'intake')),
      cpu_postgres_vs_sqlite: ratio(cpu('postgres_1', 'whole'), cpu('sqlite', 'whole')),
      cpu_3_vs_1: ratio(cpu('postgres_3', 'whole'), cpu('postgres_1', 'whole')),
    },
    messages,
    rounds: rounds.length,
    row_bytes: perTable((size) => size.bytes / Math.max(1, size.rows), 0),
    rows_a_message: perTable((size) => size.rows / Math.max(1, turns), 2),
  }
}
