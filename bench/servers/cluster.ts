// Several real daemons on one real PostgreSQL with syncing on: a cluster on one machine, for measurements.
import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { type PostgresServer, startPostgres } from '../../src/testing/postgres/server.ts'
import { type Probe, probeOf, probeTree } from '../probe.ts'
import type { Server } from '../processes.ts'
import { type AgentKind, makeFolder, type SwitchboardFolder, startSwitchboard } from './switchboard.ts'

export interface BenchDatabase {
  readonly url: string
  /** The position of the server's log, in bytes. */
  walBytes(): Promise<number>
  /** The rows and bytes of each table, with its indexes and external storage. */
  sizes(): Promise<Readonly<Record<string, TableSize>>>
  query(sql: string): Promise<readonly Record<string, unknown>[]>
  close(): Promise<void>
}

export interface TableSize {
  readonly bytes: number
  readonly rows: number
}

export interface BenchPostgres {
  readonly probe: Probe
  fresh(): Promise<BenchDatabase>
  stop(): Promise<void>
}

/** `under` must be on the measured disk. An unprivileged user must be able to enter it. */
export async function startBenchPostgres(under: string): Promise<BenchPostgres> {
  const server = await startPostgres({ under, durable: true })
  return {
    probe: probeTree(server.pid()),
    fresh: () => openDatabase(server),
    stop: () => server.stop(),
  }
}

async function openDatabase(server: PostgresServer): Promise<BenchDatabase> {
  const url = await server.freshDatabase()
  const client = new pg.Client({ connectionString: url })
  client.on('error', () => undefined)
  await client.connect()
  const query = async (sql: string) => (await client.query(sql)).rows as Record<string, unknown>[]
  return {
    url,
    query,
    async walBytes() {
      const [row] = await query(`SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0') AS bytes`)
      return Number(row?.bytes)
    },
    async sizes() {
      const sizes: Record<string, TableSize> = {}
      for (const table of ['turns', 'outbox', 'ledger', 'lanes', 'sessions']) {
        const [row] = await query(
          `SELECT pg_total_relation_size('${table}') AS bytes, (SELECT count(*) FROM ${table}) AS rows`,
        )
        sizes[table] = { bytes: Number(row?.bytes), rows: Number(row?.rows) }
      }
      return sizes
    },
    close: () => client.end(),
  }
}

export interface Cluster {
  readonly nodes: readonly Server[]
  readonly folders: readonly SwitchboardFolder[]
  readonly ports: readonly number[]
  /** The nodes together, without the database. */
  readonly probe: Probe
  stop(): Promise<void>
}

export interface ClusterPlan {
  readonly nodes: number
  /** Null for one node on SQLite. */
  readonly store: string | null
  readonly agent: AgentKind
  readonly entry: string
  readonly secret: string
  folder(name: string): string
}

export async function startCluster(plan: ClusterPlan): Promise<Cluster> {
  const key = randomBytes(32).toString('base64')
  const cluster = plan.store === null ? {} : { cluster: { store: plan.store, key } }
  const folders = Array.from({ length: plan.nodes }, (_, at) =>
    makeFolder({
      dir: plan.folder(`node-${at}`),
      entry: plan.entry,
      agent: plan.agent,
      secret: plan.secret,
      ...cluster,
    }),
  )
  const nodes: Server[] = []
  const stop = async () => {
    await Promise.all(nodes.map((node) => node.stop()))
  }
  try {
    // One after the other, because the first one migrates. The others would only wait for its lock.
    for (const folder of folders) nodes.push(await startSwitchboard(folder, 'any'))
  } catch (thrown) {
    await stop()
    throw thrown
  }
  return {
    nodes,
    folders,
    ports: nodes.map((node) => Number(new URL(node.url).port)),
    probe: probeOf(nodes.map((node) => node.pid)),
    stop,
  }
}
