// One, two and three nodes on one PostgreSQL beside one node on SQLite, all on the same cores. It measures the intake
// with the agent absent, end to end with the demo agent, and the CPU time per message, nodes and database together.
// Nodes run through all rounds and are warm before the first. For thousands of messages an engine spends more time on
// compiling than the database on its work, and on these cores it would take that time from the database.
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
/** The warm-up has this many times the measured messages. After 12,000 messages per node little is left to compile. */
const WARM_UP_TIMES = 4
const WARM_UP_TIMES_A_NODE = 2
/** The intake's share of the part's time. */
const INTAKE_SHARE = 0.4
/**
 * At rest the database uses at most a tenth of a core, because waiting nodes ask it. It is checked up to `looks` times.
 */
const REST = { lookMs: 300, mostMicros: 30_000, looks: 10 }
const DRAIN_LIMIT_MS = 120_000
const POLL_MS = 50

export interface CaseReport {
  readonly intake_per_second: number | null
  readonly p50_ms: number | null
  readonly p99_ms: number | null
  /** The rate until every message was answered and every answer sent. */
  readonly end_to_end_per_second: number | null
  /** CPU of nodes and database together, per message that is only received. */
  readonly intake_cpu_us: number | null
  /** The database's share of it. */
  readonly intake_database_cpu_us: number | null
  /** CPU per message that is received, handed over and answered. */
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
  /** Bytes of disk per row with its indexes, by table. */
  readonly row_bytes: Readonly<Record<string, number>>
  /** Rows per answered message, by table. */
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

type Kind = 'intake' | 'whole'
type Round = Partial<Record<ClusterCase, Sample>>

export async function measureCluster(context: BenchContext, postgres: BenchPostgres): Promise<ClusterReport> {
  const messages = Math.min(MOST_MESSAGES, context.options.messages)
  const intake = await measureKind(context, { postgres, messages, agent: 'absent', share: INTAKE_SHARE })
  const whole = await measureKind(context, { postgres, messages, agent: 'demo', share: 1 })
  return report(messages, { intake, whole })
}

interface KindPlan {
  readonly postgres: BenchPostgres
  readonly agent: 'absent' | 'demo'
  readonly messages: number
  readonly share: number
}

/** Every round measures each case once, each round with another first case. */
async function measureKind(context: BenchContext, plan: KindPlan): Promise<readonly Round[]> {
  const cases: OpenCase[] = []
  const rounds: Round[] = []
  const wanted = context.options.rounds
  try {
    for (const name of CASES) cases.push(await openCase(context, name, plan))
    for (const number of context.rounds.of(wanted, plan.share)) {
      const round: Round = {}
      await context.weather.during('cluster', number + 1, async () => {
        for (let at = 0; at < cases.length; at++) {
          const one = cases[(at + number) % cases.length] as OpenCase
          await untilAtRest(plan.postgres)
          round[one.name] = await one.measure()
        }
      })
      rounds.push(round)
      const rates = CASES.map((name) => `${name} ${Math.round(round[name]?.perSecond ?? 0)}/s`)
      context.say(`cluster, agent ${plan.agent}, round ${number + 1} of ${wanted}: ${rates.join('; ')}`)
    }
    for (const one of cases) await one.verify()
  } finally {
    for (const one of cases) await one.close()
  }
  return rounds
}

/** A case with warm nodes. */
interface OpenCase {
  readonly name: ClusterCase
  measure(): Promise<Sample>
  /** Throws unless every acknowledged message is there. */
  verify(): Promise<void>
  close(): Promise<void>
}

async function openCase(context: BenchContext, name: ClusterCase, plan: KindPlan): Promise<OpenCase> {
  const { options, secret, load } = context
  const postgres = name === 'sqlite' ? null : plan.postgres
  const database = await postgres?.fresh()
  const dirs: string[] = []
  const cluster = await startCluster({
    nodes: postgres === null ? 1 : Number(name.slice('postgres_'.length)),
    store: database?.url ?? null,
    agent: plan.agent,
    entry: options.entry,
    secret,
    folder: (of) => {
      const dir = context.freshFolder(`${name}-${of}`)
      dirs.push(dir)
      return dir
    },
  })
  const [first] = cluster.folders
  const [url] = cluster.nodes.map((node) => node.url)
  if (first === undefined || url === undefined) throw new Error('a cluster without nodes')
  const close = async () => {
    await cluster.stop()
    await database?.close()
    for (const dir of dirs) rmSync(dir, { recursive: true, force: true })
  }
  let sent = 0
  const speak = async (messages: number, probe: Probe) => {
    const talk = {
      path: HOOK_PATH,
      scheme: 'github',
      secret,
      people: PEOPLE,
      connections: CONNECTIONS,
    } as const
    const part = { ports: cluster.ports, warmUp: 0, messages, from: sent + 1 }
    const measured = await load.run({ ...talk, ...part }, probe)
    sent += messages
    const loadedAt = performance.now()
    if (plan.agent === 'demo') await untilAnswered(first, url, sent)
    return { measured, elapsedMs: measured.elapsedMs + performance.now() - loadedAt }
  }

  const measure = async (): Promise<Sample> => {
    const before: { mark: Mark | null } = { mark: null }
    // The load reads the probe right before and after the measured part. The database's numbers are taken with it.
    const probe: Probe = {
      cpu() {
        before.mark ??= mark(cluster.probe, postgres)
        return 0
      },
      disk: () => 0,
    }
    const walBefore = (await database?.walBytes()) ?? null
    const { measured, elapsedMs } = await speak(plan.messages, probe)
    const after = mark(cluster.probe, postgres)
    const walAfter = (await database?.walBytes()) ?? null
    const spent = (pick: (of: Mark) => number | null) => {
      const [from, to] = [before.mark && pick(before.mark), pick(after)]
      return from === null || to === null ? null : (to - from) / plan.messages
    }
    const [nodesCpu, databaseCpu] = [spent((of) => of.nodes), spent((of) => of.database)]
    return {
      perSecond: plan.agent === 'demo' ? (plan.messages / elapsedMs) * 1000 : measured.perSecond,
      p50Ms: measured.p50Ms,
      p99Ms: measured.p99Ms,
      cpu: nodesCpu === null || databaseCpu === null ? null : nodesCpu + databaseCpu,
      databaseCpu,
      wal: walBefore === null || walAfter === null ? null : (walAfter - walBefore) / plan.messages,
      sizes: (await database?.sizes()) ?? null,
    }
  }

  try {
    const times = Math.max(WARM_UP_TIMES, WARM_UP_TIMES_A_NODE * cluster.nodes.length)
    const { measured } = await speak(plan.messages * times, NOT_PROBED)
    context.say(`  ${name}, agent ${plan.agent}, warming up: ${Math.round(measured.perSecond)}/s in`)
  } catch (thrown) {
    await close()
    throw thrown
  }
  return { name, measure, verify: () => verifyNothingLost(first, sent), close }
}

/** Waits until the database has tidied up after a case, so that the next one does not pay for it. */
async function untilAtRest({ probe }: BenchPostgres): Promise<void> {
  for (let look = 0; look < REST.looks; look++) {
    const before = probe.cpu() ?? 0
    await new Promise((resolve) => setTimeout(resolve, REST.lookMs))
    if ((probe.cpu() ?? 0) - before <= REST.mostMicros) return
  }
}

const NOT_PROBED: Probe = { cpu: () => null, disk: () => null }

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

function report(messages: number, rounds: Readonly<Record<Kind, readonly Round[]>>): ClusterReport {
  const medianOf = (values: readonly (number | null)[], digits: number) =>
    rounded(medianOrNull(values), digits)
  const of = (name: ClusterCase, kind: Kind, pick: (one: Sample) => number | null) =>
    rounds[kind].map((round) => (round[name] === undefined ? null : pick(round[name])))
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
  const rate = (name: ClusterCase, kind: Kind) => of(name, kind, (s) => s.perSecond)
  const cpu = (name: ClusterCase, kind: Kind) => of(name, kind, (s) => s.cpu)
  const sizes = rounds.whole.at(-1)?.postgres_1?.sizes ?? {}
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
    rounds: Math.min(rounds.intake.length, rounds.whole.length),
    row_bytes: perTable((size) => size.bytes / Math.max(1, size.rows), 0),
    rows_a_message: perTable((size) => size.rows / Math.max(1, turns), 2),
  }
}
