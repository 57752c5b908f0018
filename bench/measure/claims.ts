// Claims per second with 1, 2 and 3 nodes that all ask for the same lanes, and the time from a commit on one node until
// the others get its hint. It measures the store alone, without the gateway, with one process per node.
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { FromStoreNode, ToStoreNode } from '../load/store-messages.ts'
import { probeOf } from '../probe.ts'
import { childEnvironment, startNode, stopChild } from '../processes.ts'
import type { BenchPostgres } from '../servers/cluster.ts'
import { medianOrNull, quantile, rounded } from '../statistics.ts'
import { bareClaims } from './bare-queue.ts'
import { CASES, type ClusterCase } from './cluster.ts'
import type { BenchContext } from './context.ts'

export interface ClaimsReport {
  readonly rounds: number
  /** Rows of a plain table taken with SKIP LOCKED and settled, per second. No lanes, no leases, no ledger. */
  readonly bare_queue_per_second: number | null
  readonly vs_bare_queue: number | null
  /** Lanes taken, settled and released per second, all nodes together. */
  readonly per_second: Readonly<Record<ClusterCase, number | null>>
  /** CPU time of nodes and database per claim. */
  readonly cpu_us: Readonly<Record<ClusterCase, number | null>>
  /** Lanes asked for per lane won. It is the cost of a hint that wakes all nodes. */
  readonly asked_per_claim: Readonly<Record<ClusterCase, number | null>>
  readonly ratios: Readonly<Record<'postgres_vs_sqlite' | '2_vs_1' | '3_vs_1', number | null>>
  /** CPU time ratios of one node with 16 partitions of turns (`bench/scale/partitions.sql`) to whole tables. */
  readonly partitioned: { readonly claim_cpu: number | null; readonly receive_cpu: number | null }
  readonly wake: WakeReport
}

/** Measured on an otherwise idle cluster of two. */
export interface WakeReport {
  /** The time from the writing node's knowledge of its commit to the hint on the other. */
  readonly after_commit_p50_ms: number | null
  readonly after_commit_p99_ms: number | null
  /** The time from the call of `receive` to the hint on the other, commit included. */
  readonly whole_p50_ms: number | null
  readonly whole_p99_ms: number | null
  readonly heard: number
  readonly written: number
}

interface Sample {
  readonly perSecond: number
  readonly cpu: number | null
  /** CPU time per received turn, all in one commit. */
  readonly receiveCpu: number | null
  readonly asked: number
}

const PARTITIONS = new URL('../scale/partitions.sql', import.meta.url)

const HEAR_MS = 500

export async function measureClaims(context: BenchContext, postgres: BenchPostgres): Promise<ClaimsReport> {
  const { quick } = context.options
  const lanes = quick ? 160 : 1_600
  const rounds: Partial<Record<ClusterCase, Sample>>[] = []
  const bare: number[] = []
  const parts: Sample[] = []
  const afterCommit: number[] = []
  const whole: number[] = []
  let written = 0
  for (const number of context.rounds.of(Math.min(context.options.rounds, 5), 0.9)) {
    const round: Partial<Record<ClusterCase, Sample>> = {}
    for (let at = 0; at < CASES.length; at++) {
      const name = CASES[(at + number) % CASES.length] as ClusterCase
      round[name] = await claimOnce(context, name, postgres, { lanes, partitioned: false })
    }
    bare.push(await bareClaims(postgres, lanes))
    rounds.push(round)
    parts.push(await claimOnce(context, 'postgres_1', postgres, { lanes, partitioned: true }))
    const told = CASES.map((name) => `${name} ${Math.round(round[name]?.perSecond ?? 0)}/s`)
    context.say(
      `claims round ${number + 1}: ${told.join(', ')}, a bare queue ${Math.round(bare.at(-1) ?? 0)}/s`,
    )
    const count = quick ? 20 : 150
    for (const one of await wakeOnce(context, postgres, count)) {
      afterCommit.push(one.afterCommit)
      whole.push(one.whole)
    }
    written += count
  }
  const of = (name: ClusterCase, pick: (one: Sample) => number | null) =>
    rounds.map((round) => (round[name] ? pick(round[name]) : null))
  const each = (pick: (one: Sample) => number | null, digits: number) => ({
    sqlite: rounded(medianOrNull(of('sqlite', pick)), digits),
    postgres_1: rounded(medianOrNull(of('postgres_1', pick)), digits),
    postgres_2: rounded(medianOrNull(of('postgres_2', pick)), digits),
    postgres_3: rounded(medianOrNull(of('postgres_3', pick)), digits),
  })
  const ratio = (above: ClusterCase, below: ClusterCase) => {
    const lower = of(below, (one) => one.perSecond)
    const all = of(above, (one) => one.perSecond).map((value, at) => {
      const by = lower[at]
      return value === null || by == null ? null : value / by
    })
    return rounded(medianOrNull(all), 3)
  }
  const ms = (values: readonly number[], q: number) =>
    values.length === 0 ? null : rounded(quantile(values, q), 2)
  return {
    rounds: rounds.length,
    bare_queue_per_second: rounded(medianOrNull(bare), 0),
    vs_bare_queue: rounded(
      medianOrNull(
        of('postgres_1', (one) => one.perSecond).map((value, at) =>
          value === null ? null : value / (bare[at] ?? Number.NaN),
        ),
      ),
      3,
    ),
    per_second: each((one) => one.perSecond, 0),
    cpu_us: each((one) => one.cpu, 0),
    asked_per_claim: each((one) => one.asked, 2),
    ratios: {
      postgres_vs_sqlite: ratio('postgres_1', 'sqlite'),
      '2_vs_1': ratio('postgres_2', 'postgres_1'),
      '3_vs_1': ratio('postgres_3', 'postgres_1'),
    },
    partitioned: {
      claim_cpu: over(
        parts,
        of('postgres_1', (one) => one.cpu),
        (one) => one.cpu,
      ),
      receive_cpu: over(
        parts,
        of('postgres_1', (one) => one.receiveCpu),
        (one) => one.receiveCpu,
      ),
    },
    wake: {
      after_commit_p50_ms: ms(afterCommit, 0.5),
      after_commit_p99_ms: ms(afterCommit, 0.99),
      whole_p50_ms: ms(whole, 0.5),
      whole_p99_ms: ms(whole, 0.99),
      heard: whole.length,
      written,
    },
  }
}

function over(
  above: readonly Sample[],
  below: readonly (number | null)[],
  pick: (one: Sample) => number | null,
): number | null {
  const ratios = above.map((one, at) => {
    const [value, by] = [pick(one), below[at]]
    return value === null || !by ? null : value / by
  })
  return rounded(medianOrNull(ratios), 3)
}

async function claimOnce(
  context: BenchContext,
  name: ClusterCase,
  postgres: BenchPostgres,
  { lanes, partitioned }: { readonly lanes: number; readonly partitioned: boolean },
): Promise<Sample> {
  const database = name === 'sqlite' ? null : await postgres.fresh()
  const store = database?.url ?? `sqlite:${join(context.freshFolder('claims'), 'claims.db')}`
  const nodes = await openNodes(context, store, name === 'sqlite' ? 1 : Number(name.at(-1)))
  try {
    const [first] = nodes
    if (first === undefined) throw new Error('no node')
    if (partitioned) await database?.query(`BEGIN; ${readFileSync(PARTITIONS, 'utf8')}; COMMIT`)
    const warm = await filled(first, lanes / 8, 'warm')
    await Promise.all(nodes.map((node) => node.ask({ do: 'claim', lanes: warm })))
    const cpuOf = () => {
      const [own, theirs] = [
        probeOf(nodes.map((node) => node.pid)).cpu(),
        database ? postgres.probe.cpu() : 0,
      ]
      return own === null || theirs === null ? null : own + theirs
    }
    const idle = cpuOf()
    const open = await filled(first, lanes, 'lane')
    const before = cpuOf()
    const answers = await Promise.all(nodes.map((node) => node.ask({ do: 'claim', lanes: open })))
    const after = cpuOf()
    const claims = answers.flatMap((one) => (one.is === 'claimed' ? [one.claimed] : []))
    const won = claims.reduce((all, one) => all + one.won, 0)
    if (won !== lanes) throw new Error(`${lanes} turns were queued, ${won} were handed out`)
    const began = Math.min(...claims.map((one) => one.began))
    const ended = Math.max(...claims.map((one) => one.ended))
    return {
      perSecond: won / ((ended - began) / 1e9),
      cpu: before === null || after === null ? null : (after - before) / won,
      receiveCpu: idle === null || before === null ? null : (before - idle) / lanes,
      asked: claims.reduce((all, one) => all + one.asked, 0) / won,
    }
  } finally {
    await Promise.all(nodes.map((node) => node.stop()))
    await database?.close()
  }
}

async function filled(node: StoreNode, lanes: number, prefix: string): Promise<readonly string[]> {
  const answer = await node.ask({ do: 'fill', lanes, prefix })
  if (answer.is !== 'filled') throw new Error('a node is out of step')
  return answer.lanes
}

async function wakeOnce(context: BenchContext, postgres: BenchPostgres, count: number) {
  const database = await postgres.fresh()
  const nodes = await openNodes(context, database.url, 2)
  try {
    const [writer, other] = nodes
    if (writer === undefined || other === undefined) throw new Error('no node')
    await writer.ask({ do: 'write', count: 10, prefix: 'warm' })
    const answer = await writer.ask({ do: 'write', count, prefix: 'wake' })
    await new Promise((resolve) => setTimeout(resolve, HEAR_MS))
    const told = await other.ask({ do: 'heard' })
    if (answer.is !== 'written' || told.is !== 'heard') throw new Error('a node is out of step')
    const heardAt = new Map(told.heard.map((one) => [one.lane, one.at]))
    return answer.written.flatMap(({ lane, began, committed }) => {
      const at = heardAt.get(lane)
      return at === undefined ? [] : [{ afterCommit: (at - committed) / 1e6, whole: (at - began) / 1e6 }]
    })
  } finally {
    await Promise.all(nodes.map((node) => node.stop()))
    await database.close()
  }
}

interface StoreNode {
  readonly pid: number
  ask(message: ToStoreNode): Promise<FromStoreNode>
  stop(): Promise<void>
}

async function openNodes(context: BenchContext, store: string, count: number): Promise<readonly StoreNode[]> {
  const key = randomBytes(32).toString('base64')
  const script = fileURLToPath(new URL('../load/store-node.ts', import.meta.url))
  const nodes = Array.from({ length: count }, (): StoreNode => {
    const child = startNode('any', ['--import', 'tsx', script], {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      env: childEnvironment({}),
    })
    const ended = once(child, 'exit').then(() => ({ is: 'failed', error: 'the node ended' }) as const)
    return {
      pid: child.pid ?? 0,
      async ask(message) {
        const answered = once(child, 'message').then(([answer]) => answer as FromStoreNode)
        child.send(message)
        const answer = await Promise.race([answered, ended])
        if (answer.is === 'failed') throw new Error(`${message.do}: ${answer.error}`)
        return answer
      },
      stop: () => stopChild(child),
    }
  })
  try {
    for (const [at, node] of nodes.entries())
      await node.ask({ do: 'open', store, node: `bench-${at}`, entry: context.options.entry, key })
  } catch (thrown) {
    await Promise.all(nodes.map((node) => node.stop()))
    throw thrown
  }
  return nodes
}
