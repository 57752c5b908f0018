// The cost of notifying other nodes for the database: small commits per second on several connections, with and without
// a NOTIFY. Commits with NOTIFY wait for each other until they are on the disk. The others share the sync.
import pg from 'pg'
import type { BenchPostgres } from '../servers/cluster.ts'
import { medianOrNull, rounded } from '../statistics.ts'
import type { BenchContext } from './context.ts'

export interface NotifyReport {
  readonly connections: number
  readonly plain_commits_per_second: number | null
  readonly notifying_commits_per_second: number | null
  /** Median of the rounds' ratios. */
  readonly notifying_vs_plain: number | null
}

const CONNECTIONS = 8

export async function measureNotify(context: BenchContext, postgres: BenchPostgres): Promise<NotifyReport> {
  const forMs = context.options.quick ? 300 : 1_500
  const database = await postgres.fresh()
  await database.query('CREATE TABLE probe (n BIGINT NOT NULL)')
  const clients = Array.from({ length: CONNECTIONS }, () => new pg.Client({ connectionString: database.url }))
  try {
    await Promise.all(clients.map((client) => client.connect()))
    const rate = (notify: boolean) => commitsPerSecond(clients, notify, forMs)
    await rate(true)
    const plain: number[] = []
    const notifying: number[] = []
    for (let round = 0; round < Math.min(5, context.options.rounds); round++) {
      const halves = [async () => plain.push(await rate(false)), async () => notifying.push(await rate(true))]
      for (const half of round % 2 === 0 ? halves : halves.reverse()) await half()
    }
    const ratios = notifying.map((value, at) => value / (plain[at] ?? Number.NaN))
    return {
      connections: CONNECTIONS,
      plain_commits_per_second: rounded(medianOrNull(plain), 0),
      notifying_commits_per_second: rounded(medianOrNull(notifying), 0),
      notifying_vs_plain: rounded(medianOrNull(ratios), 3),
    }
  } finally {
    await Promise.all(clients.map((client) => client.end().catch(() => undefined)))
    await database.close()
  }
}

async function commitsPerSecond(
  clients: readonly pg.Client[],
  notify: boolean,
  forMs: number,
): Promise<number> {
  const began = performance.now()
  let commits = 0
  // One statement is one transaction.
  const text = notify
    ? `WITH kept AS (INSERT INTO probe VALUES (1) RETURNING n) SELECT pg_notify('probe', n::text) FROM kept`
    : 'INSERT INTO probe VALUES (1)'
  await Promise.all(
    clients.map(async (client) => {
      while (performance.now() - began < forMs) {
        await client.query(text)
        commits++
      }
    }),
  )
  return commits / ((performance.now() - began) / 1000)
}
